"""Writing into the cache that all clones share: one process at a time, and faults told."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from threebrokers import files


@contextmanager
def only_one(folder: Path, *, waits: bool = True) -> Iterator[None]:
    """Let one process at a time write into a folder (made if it is missing); others wait.

    Raises LabError if the folder cannot be written, and, if it is not to wait, while another one does.
    """
    from filelock import FileLock  # not needed when everything is there already

    with faults_told(folder):
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / ".lock")
        lock.acquire(timeout=-1 if waits else 0)
    try:
        yield
    finally:
        lock.release()


@contextmanager
def faults_told(folder: Path) -> Iterator[None]:
    """Turn a failed write to the cache into a LabError that says why and what to do."""
    with files.faults_told(folder, "THREEBROKERS_CACHE"):
        yield
