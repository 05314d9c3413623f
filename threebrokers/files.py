"""Writing files so that nobody ever reads half of one, keeping what would be lost, and no log for ever."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

# A broker writes 50 kB when it starts, and up to 18 MB an hour while it is alone.
LOG_BYTES = 20_000_000


def write_whole(path: Path, content: bytes) -> None:
    """Write a file: whoever reads it meanwhile sees the old content or the new, never a part.

    Raises OSError, with the old content untouched.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp lets only the owner read; a file that replaces another keeps that file's rights.
        Path(name).chmod(path.stat().st_mode & 0o777 if path.exists() else 0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def set_aside(path: Path, most: int = LOG_BYTES) -> None:
    """Give a log of more than so many bytes the name `name.1`, so that a new one begins; an older one goes.

    A log that cannot be renamed goes on.
    """
    with suppress(OSError):
        if path.stat().st_size > most:
            path.replace(path.with_name(f"{path.name}.1"))


def free_name(path: Path, word: str) -> Path:
    """Return a name beside `path` that nobody uses: `02_the_log.new.ipynb`, then `02_the_log.new-2.ipynb`."""
    number = 1
    while True:
        count = "" if number == 1 else f"-{number}"
        candidate = path.with_name(f"{path.stem}.{word}{count}{path.suffix}")
        if not candidate.exists():
            return candidate
        number += 1
