"""Which `make lab`s and demos of this home are open, and which JupyterLab has lost its own."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from threebrokers.cluster.process import Identity, identify, marked
from threebrokers.paths import home
from threebrokers.store import JsonFile

LOCK_SECONDS = 60
MARK = "threebrokers.jupyterlab="  # of a JupyterLab's command line, with the home


@dataclass(frozen=True)
class OpenLab:
    """One `make lab` or demo: its own process and, once that runs, its JupyterLab's.

    `stops` says whether it stops the brokers if it is the last one out.
    """

    command: Identity
    jupyter: Identity | None = None
    stops: bool = False


class Sitting:
    """This `make lab` or demo, among the open ones, and the JupyterLab that it ends with."""

    def __init__(self, *, stops: bool = True) -> None:
        self.jupyter: Identity | None = None
        self._me, self._stops = identify(os.getpid()), stops
        with _register() as labs:
            labs.append(OpenLab(self._me, stops=stops))

    def will_stop(self) -> None:
        """Note that this one, too, stops the brokers if it is the last one out."""
        self._stops = True
        with _register() as labs:
            labs[:] = [replace(lab, stops=True) if lab.command == self._me else lab for lab in labs]

    def opened(self, jupyter: Identity) -> None:
        """Note the JupyterLab that was started."""
        self.jupyter = jupyter  # first: it is ended also if the register cannot be had, or Ctrl-C comes now
        with _register() as labs:
            self._take(labs, jupyter)

    def adopt(self) -> Identity | None:
        """Take over a JupyterLab whose `make lab` was killed, so that nobody else does; None without one."""
        with _register() as labs:
            found = next(iter(_orphans(home(), labs)), None)
            if found:
                self._take(labs, found)
        return found

    def leave(self, last_out: Callable[[], None]) -> None:
        """Go; if no other is open and this one stops the brokers, call `last_out()`."""
        # Still under the lock: a lab that is being opened waits, and then starts the brokers itself.
        with _register() as labs:
            stops = _keep(labs, lambda lab: lab.command != self._me)
            if not labs and (stops or self._stops):  # its line is lost in a register that was damaged
                last_out()

    def _take(self, labs: list[OpenLab], jupyter: Identity) -> None:
        self.jupyter = jupyter
        labs[:] = [replace(lab, jupyter=jupyter) if lab.command == self._me else lab for lab in labs]


@contextmanager
def entered(last_out: Callable[[], None], *, stops: bool = True) -> Iterator[Sitting]:
    """Count this process among the open labs; on leaving, call `last_out()` if no other is open.

    Without `stops` it is called only if this process took brokers over from another, or says `will_stop`.
    """
    sitting = Sitting(stops=stops)
    try:
        yield sitting
    finally:
        sitting.leave(last_out)


def mark(home: Path) -> str:
    """Return the word of a command line by which a JupyterLab of this home is known."""
    return f"{MARK}{home}"


def orphans(home: Path) -> list[Identity]:
    """Return the JupyterLabs of this home that still run although their `make lab` was killed."""
    return _orphans(home, still_open(home))


def still_open(home: Path) -> list[OpenLab]:
    """Return the `make lab`s and demos of this home that run now."""
    return [lab for lab in _file(home).read() or () if lab.command.process()]


def _orphans(home: Path, labs: list[OpenLab]) -> list[Identity]:
    # Whoever starts one is known before, and its parent from then on; whoever takes one over says so.
    known = {lab.command.pid for lab in labs}
    taken = {lab.jupyter.pid for lab in labs if lab.jupyter}
    return [one for one in marked(mark(home)) if one.pid not in taken and _parent(one) not in known]


def _parent(identity: Identity) -> int:
    process = identity.process()
    try:
        return process.ppid() if process else 0
    except psutil.Error:
        return 0


@contextmanager
def _register() -> Iterator[list[OpenLab]]:
    with _file(home()).changed(list, LOCK_SECONDS) as labs:
        _keep(labs, lambda lab: lab.command.process())
        yield labs


def _keep(labs: list[OpenLab], stays: Callable[[OpenLab], object]) -> bool:
    """Strike out who does not stay, and tell whether one of those stops the brokers: others do it then."""
    left = [lab for lab in labs if stays(lab)]
    stops = any(lab.stops for lab in labs if lab not in left)
    labs[:] = [replace(lab, stops=lab.stops or stops) for lab in left]
    return stops


def _file(home: Path) -> JsonFile[list[OpenLab]]:
    return JsonFile(home / "labs.json", list[OpenLab])
