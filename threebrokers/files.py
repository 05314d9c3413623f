"""Writing files so that nobody ever reads half of one, and keeping what would be lost."""

import os
import tempfile
from pathlib import Path


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


def free_name(path: Path, word: str) -> Path:
    """Return a name beside `path` that nobody uses: `02_the_log.new.ipynb`, then `02_the_log.new-2.ipynb`."""
    number = 1
    while True:
        count = "" if number == 1 else f"-{number}"
        candidate = path.with_name(f"{path.stem}.{word}{count}{path.suffix}")
        if not candidate.exists():
            return candidate
        number += 1
