"""A bundle, which `threebrokers bundle` writes: all that a set-up needs, so that no network is asked.

Standard library only: it runs before anything is installed.
"""

import hashlib
import json
import platform
import re
import shutil
import sys
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from tools.setup import packages
from tools.setup.errors import SetupError

FORMAT = 1
MANIFEST = "manifest.json"
LARGEST_MANIFEST = 1_000_000
PLACE = re.compile(r"(wheels|jars)/[\w.+-]+")
PIECE = 1 << 20
NAMED = "name the file that `threebrokers bundle` wrote"
ANEW = "have it written anew with `threebrokers bundle FILE`, on a machine with a network"


@dataclass(frozen=True)
class Bundle:
    """An unpacked bundle: each file in it has the sha256 of the manifest."""

    folder: Path
    sha256: dict[str, str]  # of "wheels/NAME" and "jars/NAME"

    @property
    def wheels(self) -> Path:
        """The folder of wheels."""
        return self.folder / "wheels"

    @property
    def jars(self) -> Path:
        """The folder of jars."""
        return self.folder / "jars"

    def built(self, root: Path) -> str:
        """Return, as lines of a requirements file, what was built from source for it. Raises SetupError."""
        lines = []
        pins = packages.versions(root)
        for name in packages.SOURCE_ONLY:
            start = f"wheels/{name}-{pins[name]}-"
            found = next((path for path in self.sha256 if path.startswith(start)), None)
            if found is None:
                raise SetupError(f"The bundle has no {name} {pins[name]}: {ANEW}.")
            lines.append(f"{name}=={pins[name]} --hash=sha256:{self.sha256[found]}\n")
        return "".join(lines)


@contextmanager
def opened(root: Path, file: Path, say: Callable[[str], None]) -> Iterator[Bundle]:
    """Unpack a bundle for this block, after everything in it was compared with its manifest.

    Raises SetupError if it is damaged, or made for another machine or another version of the course; then
    nothing is left of it.
    """
    folder = root / "build" / "bundle"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        say(f"Reading {file.name} …")
        yield Bundle(folder, _unpacked(root, file.expanduser(), folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unpacked(root: Path, file: Path, folder: Path) -> dict[str, str]:
    try:
        with tarfile.open(file, "r:") as tar:
            members = iter(tar)
            known = _manifest(tar, next(members, None), file)
            _check_fits(known, root, file)
            left: dict[str, dict[str, Any]] = dict(known["files"])
            for member in members:
                stream = tar.extractfile(member) if member.isreg() else None
                _take(member.name, stream, left.pop(member.name, None), folder, file)
    except (tarfile.TarError, EOFError, KeyError, ValueError, TypeError, AttributeError) as fault:
        raise _damaged(file, f"it cannot be read: {fault or type(fault).__name__}") from fault
    except FileNotFoundError as fault:
        raise SetupError(f"There is no bundle {file}: {NAMED}.") from fault
    if left:
        raise _damaged(file, f"it ends before {next(iter(left))}")
    return {name: str(of["sha256"]) for name, of in known["files"].items()}


def _manifest(tar: tarfile.TarFile, first: tarfile.TarInfo | None, file: Path) -> dict[str, Any]:
    if first is None or first.name != MANIFEST or not first.isreg() or first.size > LARGEST_MANIFEST:
        raise SetupError(f"{file} is not a bundle of the course: {NAMED}.")
    stream = tar.extractfile(first)
    known = json.loads(stream.read() if stream else b"")
    if not isinstance(known, dict):
        raise TypeError("its manifest is no table")
    return known


def _check_fits(known: dict[str, Any], root: Path, file: Path) -> None:
    lock = hashlib.sha256((root / packages.LOCK).read_text("utf-8").encode()).hexdigest()
    if known["format"] != FORMAT or known["lock"] != lock:
        raise SetupError(f"{file.name} was written by another version of the course: {ANEW}.")
    python = f"{sys.version_info[0]}.{sys.version_info[1]}"
    system = f"{platform.system()} {platform.machine()}"
    if known["system"] != system:
        raise SetupError(f"{file.name} is for {known['system']}, and this is {system}: {ANEW} like this one.")
    written, here = str(known.get("macos", "")), platform.mac_ver()[0]
    if _release(written) > _release(here):
        raise SetupError(
            f"{file.name} was written on macOS {written}, and this is {here}: {ANEW} and an older macOS."
        )
    if known["python"] != python:
        raise SetupError(
            f"{file.name} is for Python {known['python']}, and this is {python}: "
            f"name the other one with `make lab BUNDLE={file} PYTHON=python{known['python']}`."
        )


def _release(macos: str) -> int:
    """Return the number before the first dot; 0 for another system."""
    number = macos.partition(".")[0]
    return int(number) if number.isdigit() else 0


def _take(
    name: str, stream: IO[bytes] | None, expected: dict[str, Any] | None, folder: Path, file: Path
) -> None:
    """Write one file of it. Raises SetupError if it is not the one of the manifest."""
    if stream is None or expected is None or not PLACE.fullmatch(name):
        raise _damaged(file, f"it holds {name!r}, which its manifest does not name")
    target, digest = folder / name, hashlib.sha256()
    target.parent.mkdir(exist_ok=True)
    with target.open("wb") as output:
        while piece := stream.read(PIECE):
            digest.update(piece)
            output.write(piece)
    if digest.hexdigest() != expected["sha256"]:
        raise _damaged(file, f"the sha256 of {name} differs")


def _damaged(file: Path, why: str) -> SetupError:
    return SetupError(f"{file.name} is damaged ({why}), and nothing was set up: copy it again, or {ANEW}.")
