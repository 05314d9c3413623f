"""Which `make lab`s of this home are open: the last one out stops the brokers."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from threebrokers.cluster.process import Identity, identify
from threebrokers.paths import home
from threebrokers.store import JsonFile

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
    """Return the JupyterLabs of this home that still run although their `make lab` was killed."""
    return [
        lab.jupyter
        for lab in _file(home()).read() or ()
        if lab.jupyter and lab.jupyter.process() and not lab.command.process()
    ]


def still_open(home: Path) -> list[OpenLab]:
    """Return the `make lab`s of this home that run now."""
    return [lab for lab in _file(home).read() or () if lab.command.process()]


@contextmanager
def _register() -> Iterator[list[OpenLab]]:
    with _file(home()).changed(list, LOCK_SECONDS) as labs:
        labs[:] = [lab for lab in labs if lab.command.process() or (lab.jupyter and lab.jupyter.process())]
        yield labs


def _file(home: Path) -> JsonFile[list[OpenLab]]:
    return JsonFile(home / "labs.json", list[OpenLab])
