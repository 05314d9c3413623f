"""All that a set-up without a network needs, in one file: `threebrokers bundle FILE`, `make lab BUNDLE=FILE`.

What reads it is tools/setup/bundle.py, which runs before anything is installed.
"""

import ast
import errno
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
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from threebrokers.cluster.jars import kafka_jars, spark_jars
from threebrokers.errors import FULL, LabError, cannot_write
from threebrokers.paths import course, expanded
from threebrokers.text import last_line

FORMAT = 1
MANIFEST = "manifest.json"
SETTINGS = "pip config list"
WHEELS = ("uv", "build", "runtime")  # sections of requirements.txt; "source" is built into wheels
# setuptools would compress PySpark's 400 MB of jars again.
DISTUTILS = "[bdist_wheel]\ncompression=stored\n"
# What is kept of pip's settings, as the set-up does: where packages come from. Others (target, user, …) say
# where somebody wants packages of their own, or which.
PIP_KEPT = {
    "index-url",
    "extra-index-url",
    "find-links",
    "trusted-host",
    "cert",
    "client-cert",
    "proxy",
    "cache-dir",
    "keyring-provider",
    "no-cache-dir",
    "no-index",
}
NEEDED = 3_000_000_000  # bytes while it is written: PySpark as source, unpacked, as a wheel, and in the file


def write(file: Path, say: Callable[[str], None]) -> None:
    """Write a bundle for machines like this one: same system, same Python, same version of the course.

    It is fetched anew, each file with the sha256 of requirements.txt and jars.lock. Raises LabError; then
    the file is as it was.
    """
    file = expanded(file).absolute()
    if file.is_dir() or not file.parent.is_dir():
        raise LabError(f"{file} is not a place for a file", "name a file in a folder that is there")
    with _faults_told(file.parent):
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


@contextmanager
def _faults_told(folder: Path) -> Iterator[None]:
    """Turn what the system refuses beside the bundle into a LabError: all that is written lies there."""
    try:
        yield
    except OSError as fault:
        if fault.errno is None:  # a fault of the network: not ours to tell
            raise
        full = fault.errno in FULL
        cure = "free some space, or name a file on another disk" if full else "name a file in another folder"
        raise LabError(cannot_write(fault, folder, "").what, cure) from fault


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
    missing = (
        "if Python's venv module is missing, install it (Debian, Ubuntu: `sudo apt install python3-venv`)"
    )
    _run([sys.executable, "-m", "venv", str(work / "venv")], work, "make an environment", missing)
    listed = _run([*pip, "config", "list"], work, "read pip's settings", f"look at `{SETTINGS}`")
    kept = pip_environment(listed, os.environ)
    say("Fetching the packages …")
    binary = ["--only-binary", ":all:"]
    files = [*_listed(work, *WHEELS), "--dest", str(wheels)]
    network = f"look at your network, your proxy and `{SETTINGS}`"
    _run([*pip, "download", *binary, *files], work, "fetch the packages", network, kept)
    say("Packing PySpark, which comes as source …")
    tools = ["install", "--no-index", "--find-links", str(wheels), *_listed(work, "build")]
    _run([*pip, *tools], work, "install what builds packages", f"look at `{SETTINGS}`", kept)
    build = ["wheel", "--no-build-isolation", "--wheel-dir", str(wheels), *_listed(work, "source")]
    _run([*pip, *build], work, "build PySpark", f"{network}, and close programs that take memory", kept)
    return wheels


def pip_environment(settings: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return pip's environment: of its settings, as `pip config list` tells them, only those in PIP_KEPT."""
    found: dict[str, tuple[int, str]] = {}
    for place, name, value in re.findall(r"^(:env:|\w+)\.([\w-]+)=(.*)$", settings, re.MULTILINE):
        rank = {"global": 1, "install": 2, ":env:": 3}.get(place, 0)
        if name in PIP_KEPT and rank > found.get(name, (0, ""))[0]:
            found[name] = rank, " ".join(str(ast.literal_eval(value)).split())
    others = {name: value for name, value in environment.items() if not name.startswith("PIP_")}
    kept = {f"PIP_{name.upper().replace('-', '_')}": value for name, (_, value) in found.items()}
    return {**others, **kept, "PIP_CONFIG_FILE": os.devnull}


def _listed(work: Path, *sections: str) -> list[str]:
    """Return pip's options for these sections of requirements.txt: exactly these files, nothing else."""
    parts = re.split(r"^# \[(\w+)\].*\n", _lock(), flags=re.MULTILINE)
    found = dict(zip(parts[1::2], parts[2::2], strict=True))
    path = work / f"{'-'.join(sections)}.txt"
    path.write_text("".join(found[name] for name in sections), encoding="utf-8")
    return ["--no-deps", "--require-hashes", "-r", str(path)]


def _run(
    command: list[str], work: Path, doing: str, cure: str, environment: Mapping[str, str] = os.environ
) -> str:
    """Run pip or venv and return what it said. Raises LabError, or OSError if the disk is full."""
    cfg = work / "distutils.cfg"
    cfg.write_text(DISTUTILS, encoding="utf-8")
    settings = {"TMPDIR": str(work), "DIST_EXTRA_CONFIG": str(cfg), "PIP_NO_INPUT": "1"}
    done = subprocess.run(
        command,
        env={**environment, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode:
        full = os.strerror(errno.ENOSPC)
        if full in done.stdout:
            raise OSError(errno.ENOSPC, full, str(work.parent))
        what = f"It was not possible to {doing} ({last_line(done.stdout)})"
        raise LabError(what, f"{cure}, and run the same command again")
    return done.stdout


def _lock() -> str:
    return (course() / "requirements.txt").read_text("utf-8")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _python() -> str:
    return f"{sys.version_info[0]}.{sys.version_info[1]}"


def _system() -> str:
    return f"{platform.system()} {platform.machine()}"
