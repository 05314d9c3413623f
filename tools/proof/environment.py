"""A bench for tests: a home of its own, no Java on the PATH, and nothing left when it ends."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from threebrokers.cluster import Cluster
from threebrokers.kafka import access

ENDING_SECONDS = 30.0  # Spark's Java process ends with its kernel, which on a busy machine takes a moment


@contextmanager
def bench(engine: str = "local") -> Iterator[Path]:
    """Set the environment to a temporary home until the block ends; then end whatever still runs for it.

    `engine` says what runs its brokers. Raises AssertionError at the end if `down` left a process behind (it
    is killed first).
    """
    folder = Path(tempfile.mkdtemp(prefix="threebrokers-")).resolve()
    before = dict(os.environ)
    for name in ("JAVA_HOME", access.BOOTSTRAP, access.CLIENT, access.PREFIX):
        os.environ.pop(name, None)
    os.environ |= {"THREEBROKERS_HOME": str(folder / "home"), "PATH": without_java(folder / "bin")}
    os.environ |= {"THREEBROKERS_CLUSTER": engine}
    try:
        yield folder / "home"
    finally:
        try:
            left = _end(folder)
        finally:
            os.environ.clear()
            os.environ.update(before)
            shutil.rmtree(folder, ignore_errors=True)
        assert not left, f"Still running after `down`: {'; '.join(left)}"


def without_java(folder: Path) -> str:
    """Return the PATH without Java; its other programs are linked from `folder` where a place has both."""
    places = []
    for count, place in enumerate(map(Path, os.environ["PATH"].split(os.pathsep))):
        if not (place / "java").exists():
            places.append(str(place))
            continue
        links = folder / str(count)
        links.mkdir(parents=True)
        for program in place.iterdir():
            if not program.name.startswith("java"):
                (links / program.name).symlink_to(program)
        places.append(str(links))
    return os.pathsep.join(places)


def processes_of(folder: Path) -> list[psutil.Process]:
    """Return the processes that run for the home in a folder, whoever started them."""
    return [
        process
        for process in psutil.process_iter()
        if process.pid != os.getpid() and str(folder) in _known_of(process)
    ]


def end_marked(name: str, value: str) -> list[str]:
    """Kill the processes whose environment holds this, but not this one; return their ids and commands.

    A run of tests that was killed, or that hung in C, ends nothing that it has started.
    """
    mine = os.getpid()
    left = [one for one in psutil.process_iter() if one.pid != mine and _environ(one).get(name) == value]
    return _killed(left)


def _end(folder: Path) -> list[str]:
    try:
        Cluster().down()
        if Cluster().engine != "local":  # what it keeps is not all in the folder
            Cluster().erase()
    finally:
        psutil.wait_procs(processes_of(folder), timeout=ENDING_SECONDS)
        names = _killed(processes_of(folder))
    return names


def _killed(processes: list[psutil.Process]) -> list[str]:
    names = [f"{process.pid} {_words(process)[:120]}" for process in processes]
    for process in processes:
        with suppress(psutil.NoSuchProcess):  # it has just ended
            process.kill()  # psutil looks first whether this is still the same process
    psutil.wait_procs(processes, timeout=10)
    return names


def _known_of(process: psutil.Process) -> str:
    return f"{_words(process)} {_environ(process).get('THREEBROKERS_HOME', '')}"


def _words(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def _environ(process: psutil.Process) -> dict[str, str]:
    try:
        return dict(process.environ())
    except psutil.Error:
        return {}
