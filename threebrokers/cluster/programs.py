"""What runs for a home besides its brokers: the programs of notebooks, each remembered by its identity."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from threebrokers.cluster.process import Identity, send
from threebrokers.store import JsonFile
from threebrokers.waiting import quiet_wait

MARK = "threebrokers.program="  # of a program's command line, with the home
FOLDER = "programs"
PATIENCE_SECONDS = 3.0
KILL_SECONDS = 10.0


@dataclass(frozen=True)
class _Noted:
    identity: Identity
    name: str


def note(home: Path, name: str, identity: Identity) -> None:
    """Remember a program that was started."""
    _file(home, identity).write(_Noted(identity, name))


def forget(home: Path, identity: Identity) -> None:
    """Forget a program that has ended."""
    with suppress(OSError):  # a file that stays is found to be out of date
        _file(home, identity).path.unlink()


def running(home: Path) -> dict[Identity, str]:
    """Return the programs of this home that run now, and their names; forget those that do not."""
    found = {}
    for path in sorted((home / FOLDER).glob("*.json")):
        noted = JsonFile[_Noted](path, _Noted).read()
        if noted and noted.identity.process():
            found[noted.identity] = noted.name
        else:  # ended, or its notebook has just forgotten it, or the file is damaged
            with suppress(OSError):
                path.unlink()
    return found


def end_all(home: Path) -> None:
    """End every program of this home: asked first, killed after 3 s."""
    for identity in running(home):
        send(identity, "terminate")
        send(identity, "resume")  # a paused process hears nothing
    if not quiet_wait(lambda: not running(home), PATIENCE_SECONDS):
        for identity in running(home):
            send(identity, "kill")
        quiet_wait(lambda: not running(home), KILL_SECONDS)


def _file(home: Path, identity: Identity) -> JsonFile[_Noted]:
    return JsonFile(home / FOLDER / f"{identity.pid}.json", _Noted)
