"""Where a home keeps its files."""

import hashlib
import os
from pathlib import Path

import platformdirs

from threebrokers.errors import LabError


def repo() -> Path:
    """Return the root folder of this clone of the course."""
    return Path(__file__).resolve().parent.parent


def cache() -> Path:
    """Return the folder that all clones share: Kafka's jars and what was prepared from them.

    `THREEBROKERS_CACHE` moves it. Raises LabError if it cannot be made.
    """
    return _folder(
        os.environ.get("THREEBROKERS_CACHE") or platformdirs.user_cache_path("threebrokers"),
        "THREEBROKERS_CACHE",
    )


def home() -> Path:
    """Return the folder of this home: its state, data, logs and progress.

    `THREEBROKERS_HOME` moves it; the default belongs to this clone alone, so two clones never meet.
    Raises LabError if it cannot be made.
    """
    given = os.environ.get("THREEBROKERS_HOME")
    if given:
        return _folder(given, "THREEBROKERS_HOME")
    clone = hashlib.sha256(str(repo()).encode()).hexdigest()[:8]
    return _folder(cache() / "benches" / f"{repo().name}-{clone}", "THREEBROKERS_HOME")


def _folder(path: str | Path, variable: str) -> Path:
    folder = Path(path).expanduser().absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise LabError(
            f"The folder {folder} cannot be made ({fault.strerror})",
            f"set {variable} to a folder that you may write to",
        ) from fault
    return folder
