"""Writing into the cache that all clones share: one process at a time, and faults told."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from threebrokers import files
from threebrokers.errors import LabError
from threebrokers.notebook import kernel_shell
from threebrokers.waiting import shown

if TYPE_CHECKING:
    from filelock import BaseFileLock

# Who fetches all jars over a slow line holds the lock for minutes.
QUIET_SECONDS, WAIT_SECONDS = 3.0, 900.0


@contextmanager
def only_one(folder: Path, *, waits: bool = True) -> Iterator[None]:
    """Let one process at a time write into a folder (made if it is missing); others wait.

    Raises LabError if the folder cannot be written, and if another one writes for 15 min, or, if it is not to
    wait, now.
    """
    from filelock import FileLock, Timeout  # not needed when everything is there already

    lock = FileLock(folder / ".lock")
    try:
        with faults_told(folder):
            folder.mkdir(parents=True, exist_ok=True)
            _take(lock, folder, waits)
    except Timeout:
        raise LabError(
            f"Another command is still writing into {folder}",
            "end it, or let it go on with `fg` if it was stopped, then try again",
        ) from None
    try:
        yield
    finally:
        lock.release()


def _take(lock: "BaseFileLock", folder: Path, waits: bool) -> None:
    """Wait for the lock, and say so if that takes long. Raises filelock's Timeout."""
    from filelock import Timeout

    try:
        lock.acquire(timeout=QUIET_SECONDS if waits else 0)
    except Timeout:
        if not waits:
            raise
        what = f"another command that writes into {folder}"
        if kernel_shell() is None:  # a panel, whose thread shows nothing here, says it itself
            print(f"Waiting for {what} …", file=sys.stderr, flush=True)
        with shown(what, WAIT_SECONDS):
            lock.acquire(timeout=WAIT_SECONDS)


@contextmanager
def faults_told(folder: Path) -> Iterator[None]:
    """Turn a failed write to the cache into a LabError that says why and what to do."""
    with files.faults_told(folder, "THREEBROKERS_CACHE"):
        yield
