"""Build the wheel and the sdist into dist/, and look at what they hold: `make wheel`."""

import argparse
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

from packaging.metadata import Metadata

from tools import ROOT

LARGEST = 20_000_000
# Of each of these at least so many files must be there: a learner without a clone has nothing else.
HOLDS = {
    "threebrokers/course/labs/": 15,
    "threebrokers/course/solutions/": 15,
    "threebrokers/course/slides/": 14,
    "threebrokers/course/docs/": 5,
    "threebrokers/course/docker-compose.yml": 1,
    "threebrokers/course/requirements.txt": 1,
    "threebrokers/cluster/jars.lock": 1,
    "threebrokers/panel/widget.js": 1,
}


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return 1 if something is missing or too large, and say what."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=ROOT / "dist", help="the folder; dist/ unless told")
    folder = parser.parse_args(arguments).into
    faults = []
    for path in build(folder):
        names, size = names_in(path), path.stat().st_size
        print(f"{path.name}: {size / 1e6:.1f} MB, {len(names)} files")
        faults += troubles(path)
    for fault in faults:
        print(f"✗ {fault}", file=sys.stderr)
    return 1 if faults else 0


def build(folder: Path) -> list[Path]:
    """Build both into a folder and return them; older ones of this version are replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder.resolve())]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    built = [path for path in folder.glob("threebrokers-*") if path.stat().st_mtime_ns != before.get(path)]
    return sorted(built, key=lambda path: path.suffix)


def troubles(path: Path) -> list[str]:
    """Return what is wrong with a wheel or an sdist, in sentences."""
    found = []
    if path.stat().st_size > LARGEST:
        size = path.stat().st_size / 1e6
        found.append(f"{path.name} has {size:.1f} MB, and {LARGEST / 1e6:.0f} are allowed.")
    try:
        Metadata.from_email(_metadata(path), validate=True)
    except ExceptionGroup as faults:
        found += [f"{path.name}: {fault}" for fault in faults.exceptions]
    if path.suffix == ".whl":
        names = names_in(path)
        for start, least in HOLDS.items():
            here = sum(name.startswith(start) for name in names)
            if here < least:
                found.append(f"{path.name} has {here} of {start}, and {least} belong there.")
    return found


def names_in(path: Path) -> list[str]:
    """Return the names of all files in a wheel or an sdist."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            return wheel.namelist()
    with tarfile.open(path) as sdist:
        return [member.name for member in sdist if member.isfile()]


def _metadata(path: Path) -> bytes:
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            return wheel.read(next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")))
    with tarfile.open(path) as sdist:
        member = sdist.extractfile(f"{path.name.removesuffix('.tar.gz')}/PKG-INFO")
        assert member is not None
        return member.read()
