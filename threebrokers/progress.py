"""Which exercises this bench's learner has solved."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from threebrokers.files import free_name, write_whole
from threebrokers.home import home

LOCK_SECONDS = 5


def record(number: str, solved: bool) -> None:
    """Remember that exercise `number` ("3.1") was tried, and that it is solved if it now is.

    An exercise that was solved once stays solved. What cannot be written is not remembered, and
    nothing is raised: a full disk must not hide a check's answer.
    """
    try:
        with _locked() as path:
            known = _read(path)
            if known.get(number) or (number in known and not solved):
                return
            known[number] = datetime.now(UTC).isoformat(timespec="seconds") if solved else None
            write_whole(path, json.dumps(known, indent=1, sort_keys=True).encode())
    except (OSError, Timeout):
        return


def solved() -> dict[str, datetime]:
    """Return when (UTC) each solved exercise was solved first, by number."""
    with _locked() as path:
        return {number: datetime.fromisoformat(when) for number, when in _read(path).items() if when}


def tried() -> set[str]:
    """Return the numbers of all exercises that were tried, solved or not."""
    with _locked() as path:
        return set(_read(path))


@contextmanager
def _locked() -> Iterator[Path]:
    # Two notebooks may solve two exercises in the same moment.
    path = home() / "progress.json"
    with FileLock(path.with_suffix(".lock"), timeout=LOCK_SECONDS):
        yield path


def _read(path: Path) -> dict[str, str | None]:
    """Return each exercise tried and when it was solved. A damaged file is kept under another name."""
    try:
        known = json.loads(path.read_bytes())
        for when in known.values():
            _ = when is None or datetime.fromisoformat(when)
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, AttributeError):
        path.replace(free_name(path, "damaged"))
        return {}
    return dict(known)
