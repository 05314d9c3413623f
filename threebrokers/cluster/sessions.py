"""Which `make lab`s of this bench are open: the last one out stops the brokers."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from filelock import FileLock

from threebrokers.cluster.process import Identity, identify
from threebrokers.files import write_whole
from threebrokers.paths import home

LOCK_SECONDS = 60


@dataclass(frozen=True)
class OpenLab:
    """One `make lab`: its own process and, once that runs, its JupyterLab's."""

    command: Identity
    jupyter: Identity | None = None


@contextmanager
def entered(last_out: Callable[[], None]) -> Iterator[Callable[[Identity], None]]:
    """Count this process among the open labs; on leaving, call `last_out()` if no other is open.

    Yields a function that notes the process of the JupyterLab that was started.
    """
    me = identify(os.getpid())
    with _register() as labs:
        labs.append(OpenLab(me))

    def opened(jupyter: Identity) -> None:
        with _register() as labs:
            labs[:] = [OpenLab(me, jupyter) if lab.command == me else lab for lab in labs]

    try:
        yield opened
    finally:
        # Still under the lock: a lab that is being opened waits, and then starts the brokers itself.
        with _register() as labs:
            labs[:] = [lab for lab in labs if lab.command != me]
            if not any(lab.command.process() for lab in labs):
                last_out()


def orphans() -> list[Identity]:
    """Return the JupyterLabs of this bench that still run although their `make lab` was killed."""
    return [
        lab.jupyter
        for lab in _read(_file(home()))
        if lab.jupyter and lab.jupyter.process() and not lab.command.process()
    ]


def still_open(bench: Path) -> list[OpenLab]:
    """Return the `make lab`s of the bench with this home that run now."""
    return [lab for lab in _read(_file(bench)) if lab.command.process()]


@contextmanager
def _register() -> Iterator[list[OpenLab]]:
    path = _file(home())
    with FileLock(path.with_suffix(".lock"), timeout=LOCK_SECONDS):
        labs = [
            lab for lab in _read(path) if lab.command.process() or (lab.jupyter and lab.jupyter.process())
        ]
        yield labs
        write_whole(path, json.dumps([asdict(lab) for lab in labs], indent=1).encode())


def _file(bench: Path) -> Path:
    return bench / "labs.json"


def _read(path: Path) -> list[OpenLab]:
    try:
        return [
            OpenLab(Identity(**told["command"]), Identity(**told["jupyter"]) if told["jupyter"] else None)
            for told in json.loads(path.read_bytes())
        ]
    except (FileNotFoundError, ValueError, TypeError, KeyError):
        return []
