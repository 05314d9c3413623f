"""Writing files so that nobody ever reads half of one, keeping what would be lost, and no log for ever."""

import errno
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from threebrokers.errors import cannot_write

# A broker writes 50 kB when it starts, and up to 18 MB an hour while it is alone.
LOG_BYTES = 20_000_000
LEFT_SECONDS = 60.0  # nobody takes so long to write a file: whoever began it was killed


def write_whole(path: Path, content: bytes, mode: int | None = None) -> None:
    """Write a file: whoever reads it meanwhile sees the old content or the new, never a part.

    `mode` is its rights; unless told it keeps those that it has. Raises OSError, with the old content
    untouched. What an earlier writer of it left behind, who was killed, is deleted.
    """
    try:
        _write_whole(path, content, mode)
    except OSError as fault:
        fault.filename = str(path)  # and not the name of a part
        raise


def _write_whole(path: Path, content: bytes, mode: int | None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    _forget_parts(path)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if mode is None:  # mkstemp lets only the owner read
            mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@contextmanager
def faults_told(place: Path, variable: str = "THREEBROKERS_HOME") -> Iterator[None]:
    """Turn what the system refuses under a folder into a LabError that names the place and the next step.

    `variable` moves the folder.
    """
    try:
        yield
    except OSError as fault:
        if fault.errno is None:  # a fault of the network: not ours to tell
            raise
        raise cannot_write(fault, place, variable) from fault


def copy_tree(source: Path, target: Path) -> None:
    """Copy a folder. Raises OSError with the reason; Python's own has only a list of files and texts."""
    try:
        shutil.copytree(source, target)
    except shutil.Error as fault:
        full = os.strerror(errno.ENOSPC) in str(fault)
        number = errno.ENOSPC if full else errno.EIO
        raise OSError(number, os.strerror(number), str(target)) from fault


def set_aside(path: Path, most: int = LOG_BYTES) -> None:
    """Give a log of more than so many bytes the name `name.1`, so that a new one begins; an older one goes.

    A log that cannot be renamed goes on.
    """
    with suppress(OSError):
        if path.stat().st_size > most:
            path.replace(path.with_name(f"{path.name}.1"))


def _forget_parts(path: Path) -> None:
    part = re.compile(re.escape(f".{path.name}.") + r"[a-z0-9_]{8}")
    with suppress(OSError), os.scandir(path.parent) as found:
        for entry in found:
            if part.fullmatch(entry.name) and time.time() - entry.stat().st_mtime > LEFT_SECONDS:
                Path(entry).unlink()


def free_name(path: Path, word: str) -> Path:
    """Return a name beside `path` that nobody uses: `02_the_log.new.ipynb`, then `02_the_log.new-2.ipynb`."""
    number = 1
    while True:
        count = "" if number == 1 else f"-{number}"
        candidate = path.with_name(f"{path.stem}.{word}{count}{path.suffix}")
        if not candidate.exists():
            return candidate
        number += 1
