"""What runs for a bench besides its brokers: the programs of notebooks, remembered by id and start time."""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil

from threebrokers.cluster.process import SAME_START_SECONDS, Identity
from threebrokers.files import write_whole
from threebrokers.waiting import quiet_wait

PATIENCE_SECONDS = 3.0
KILL_SECONDS = 10.0


def note(home: Path, name: str, identity: Identity) -> None:
    """Remember a program that was started."""
    told = {"name": name, "pid": identity.pid, "started": identity.started}
    write_whole(_file(home, identity), json.dumps(told).encode())


def forget(home: Path, identity: Identity) -> None:
    """Forget a program that has ended."""
    _file(home, identity).unlink(missing_ok=True)


def running(home: Path) -> dict[Identity, str]:
    """Return the programs of this home that run now, and their names; forget those that do not."""
    found = {}
    for identity, name in _noted(home):
        if _alive(identity):
            found[identity] = name
        else:
            forget(home, identity)
    return found


def end_all(home: Path) -> None:
    """End every program of this home: asked first, killed after 3 s."""
    for identity in running(home):
        _send(identity, "terminate")
        _send(identity, "resume")  # a paused process hears nothing
    if not quiet_wait(lambda: not running(home), PATIENCE_SECONDS):
        for identity in running(home):
            _send(identity, "kill")
        quiet_wait(lambda: not running(home), KILL_SECONDS)


def _alive(identity: Identity) -> psutil.Process | None:
    # Unlike Identity.process() this does not reap: the program's notebook does, to learn how it ended.
    try:
        process = psutil.Process(identity.pid)
        same = abs(process.create_time() - identity.started) <= SAME_START_SECONDS
        return process if same and process.status() != psutil.STATUS_ZOMBIE else None
    except psutil.NoSuchProcess:
        return None


def _send(identity: Identity, signal: str) -> None:
    process = _alive(identity)
    if process is not None:
        with suppress(psutil.NoSuchProcess):
            getattr(process, signal)()


def _noted(home: Path) -> Iterator[tuple[Identity, str]]:
    for path in sorted((home / "programs").glob("*.json")):
        try:
            told = json.loads(path.read_bytes())
            yield Identity(int(told["pid"]), float(told["started"])), str(told["name"])
        except (OSError, ValueError, KeyError, TypeError):
            continue  # its notebook has just forgotten it


def _file(home: Path, identity: Identity) -> Path:
    return home / "programs" / f"{identity.pid}.json"
