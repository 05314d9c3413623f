"""All that a set-up without a network needs, in one file: `threebrokers bundle FILE`, `make lab BUNDLE=FILE`.

What reads it is tools/setup/bundle.py, which runs before anything is installed.
"""

import hashlib
import io
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from threebrokers.cluster.jars import kafka_jars, spark_jars
from threebrokers.errors import LabError
from threebrokers.files import faults_told
from threebrokers.paths import course
from threebrokers.text import last_line

FORMAT = 1
MANIFEST = "manifest.json"
WHEELS = ("uv", "build", "runtime")  # sections of requirements.txt; "source" is built into wheels
# setuptools would compress PySpark's 400 MB of jars again.
DISTUTILS = "[bdist_wheel]\ncompression=stored\n"
NEEDED = 3_000_000_000  # bytes while it is written: PySpark as source, unpacked, as a wheel, and in the file


def write(file: Path, say: Callable[[str], None]) -> None:
    """Write a bundle for machines like this one: same system, same Python, same version of the course.

    It is fetched anew, each file with the sha256 of requirements.txt and jars.lock. Raises LabError; then
    the file is as it was.
    """
    file = file.expanduser().absolute()
    if file.is_dir() or not file.parent.is_dir():
        raise LabError(f"{file} is not a place for a file", "name a file in a folder that is there")
    with faults_told(file.parent, "TMPDIR"):
        free = shutil.disk_usage(file.parent).free
        if free < NEEDED:
            raise LabError(
                f"Only {free / 1e9:.1f} GB are free beside {file.name}, and {NEEDED / 1e9:.0f} are needed",
                "free some space, or name a file on another disk",
            )
        with tempfile.TemporaryDirectory(prefix=".threebrokers-bundle-", dir=file.parent) as work:
            wheels = _wheels(Path(work), say)
            say("Fetching the jars of Kafka and of Spark's connector …")
            jars = [*kafka_jars(verify=True), *spark_jars(verify=True)]
            members = {f"wheels/{path.name}": path for path in sorted(wheels.iterdir())}
            members |= {f"jars/{path.name}": path for path in jars}
            say(f"Writing {file.name} …")
            pack(file, members, Path(work))
    say(f"{file}: {file.stat().st_size / 1e6:.0f} MB, {len(members)} files. {_how(file)}")


def _how(file: Path) -> str:
    return (
        f"It is for Python {_python()} on {_system()}: with a clone of this version there, "
        f"`make lab BUNDLE={file.name}` needs no network."
    )


def pack(file: Path, members: dict[str, Path], work: Path) -> None:
    """Write files into a bundle, after a manifest with the size and the sha256 of each. Raises OSError."""
    known = {name: {"size": path.stat().st_size, "sha256": _sha256(path)} for name, path in members.items()}
    manifest = {
        "format": FORMAT,
        "course": version("threebrokers"),
        "lock": hashlib.sha256(_lock().encode()).hexdigest(),
        "python": _python(),
        "system": _system(),
        "macos": platform.mac_ver()[0],  # packages are chosen for it; a newer one takes them too
        "files": known,
    }
    told = json.dumps(manifest, indent=1).encode()
    part = work / "bundle.tar"
    with tarfile.open(part, "w") as tar:  # wheels and jars are compressed already
        head = tarfile.TarInfo(MANIFEST)
        head.size = len(told)
        tar.addfile(head, io.BytesIO(told))
        for name, path in members.items():
            tar.add(path, name, recursive=False, filter=_plain)
    part.replace(file)


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Leave out who owned the file."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode = 0o644
    return member


def _wheels(work: Path, say: Callable[[str], None]) -> Path:
    """Fetch what is a wheel and build what comes as source; return their folder. Raises LabError."""
    wheels, pip = work / "wheels", [str(work / "venv" / "bin" / "python"), "-m", "pip"]
    say("Making an environment for it …")
    _run([sys.executable, "-m", "venv", str(work / "venv")], work, "make an environment")
    say("Fetching the packages …")
    binary = ["--only-binary", ":all:"]
    listed = _listed(work, *WHEELS)
    _run([*pip, "download", *binary, *listed, "--dest", str(wheels)], work, "fetch the packages")
    say("Packing PySpark, which comes as source …")
    tools = ["install", "--no-index", "--find-links", str(wheels), *_listed(work, "build")]
    _run([*pip, *tools], work, "install what builds packages")
    build = ["wheel", "--no-build-isolation", "--wheel-dir", str(wheels), *_listed(work, "source")]
    _run([*pip, *build], work, "build PySpark")
    return wheels


def _listed(work: Path, *sections: str) -> list[str]:
    """Return pip's options for these sections of requirements.txt: exactly these files, nothing else."""
    parts = re.split(r"^# \[(\w+)\].*\n", _lock(), flags=re.MULTILINE)
    found = dict(zip(parts[1::2], parts[2::2], strict=True))
    path = work / f"{'-'.join(sections)}.txt"
    path.write_text("".join(found[name] for name in sections), encoding="utf-8")
    return ["--no-deps", "--require-hashes", "-r", str(path)]


def _run(command: list[str], work: Path, doing: str) -> None:
    """Run pip or venv. Raises LabError with the last thing it said."""
    cfg = work / "distutils.cfg"
    cfg.write_text(DISTUTILS, encoding="utf-8")
    settings = {"TMPDIR": str(work), "DIST_EXTRA_CONFIG": str(cfg), "PIP_NO_INPUT": "1"}
    done = subprocess.run(
        command,
        env={**os.environ, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode:
        raise LabError(
            f"It was not possible to {doing} ({last_line(done.stdout)})",
            "look at your network or proxy, and run the same command again",
        )


def _lock() -> str:
    return (course() / "requirements.txt").read_text("utf-8")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _python() -> str:
    return f"{sys.version_info[0]}.{sys.version_info[1]}"


def _system() -> str:
    return f"{platform.system()} {platform.machine()}"
