"""A room on one server: learners side by side, each with brokers, JupyterLab and a kernel of their own."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import psutil

from tools import ROOT
from tools.proof import environment

Learner: TypeAlias = "subprocess.Popen[str]"
END_SECONDS, MEASURE_SECONDS = 180.0, 10.0


@dataclass(frozen=True)
class Room:
    """What was measured of so many learners, for so many seconds of work.

    `memory` is what all took together (bytes; what processes share is counted once), `idle` and `busy` are
    the share of all processors while nobody worked, and at work; `starts` is how long each start took (s),
    `told` what each learner counted.
    """

    learners: int
    seconds: float
    memory: int
    idle: float
    busy: float
    starts: tuple[float, ...]
    told: tuple[dict[str, Any], ...]

    def sum(self, name: str) -> int:
        """Return the sum of something that each learner has counted."""
        return sum(int(one[name]) for one in self.told)


def measure(learners: int, seconds: float, at_once: int, say: Callable[[str], None]) -> Room:
    """Let so many learners start, `at_once` side by side, wait, work for so long, and end.

    Raises RuntimeError if one of them ends before it has told what it counted.
    """
    with (
        tempfile.TemporaryDirectory(prefix="threebrokers-room-") as folder,
        _ended(Path(folder)) as running,
    ):
        starts: list[float] = []
        for first in range(0, learners, at_once):
            for number in range(first, min(first + at_once, learners)):
                running.append(_started(Path(folder) / f"learner-{number:02}", seconds))
            starts += [float(_line(one)["up"]) for one in running[first:]]
            say(f"{len(starts)} of {learners} have started; the last took {starts[-1]:.0f} s")
        idle, memory = _share_of_processors(), _memory(Path(folder))
        say(f"{memory / 1e9:.1f} GB in all; {idle:.0%} of the processors while nobody works")
        for one in running:
            _go_on(one)
        busy = _share_of_processors()
        told = tuple(_line(one) for one in running)
        for one in running:
            _go_on(one)
        return Room(learners, seconds, memory, idle, busy, tuple(starts), told)


def _started(home: Path, seconds: float) -> Learner:
    return subprocess.Popen(
        [sys.executable, "-m", "tools.bench.learner", str(seconds)],
        cwd=ROOT, env=os.environ | {"THREEBROKERS_HOME": str(home), "BROWSER": "none"},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


@contextmanager
def _ended(folder: Path) -> Iterator[list[Learner]]:
    """Keep a list of learners with homes in the folder; whatever of them still runs at the end is ended."""
    running: list[Learner] = []
    try:
        yield running
    finally:
        for one in running:
            assert one.stdin
            one.stdin.close()
        _, left = psutil.wait_procs(
            [psutil.Process(one.pid) for one in running if one.poll() is None], END_SECONDS
        )
        for process in [*left, *environment.processes_of(folder)]:
            process.kill()


def _line(learner: Learner) -> dict[str, Any]:
    """Return what a learner says next; other lines, as of a start, are passed over."""
    assert learner.stdout
    for line in learner.stdout:
        if line.startswith("{"):
            told: dict[str, Any] = json.loads(line)
            return told
    raise RuntimeError(f"A learner has ended early, with code {learner.wait()}.")


def _go_on(learner: Learner) -> None:
    assert learner.stdin
    learner.stdin.write("\n")
    learner.stdin.flush()


def _share_of_processors() -> float:
    return float(psutil.cpu_percent(MEASURE_SECONDS)) / 100


def _memory(folder: Path) -> int:
    """Return the memory of all processes of the homes in a folder (bytes), what they share counted once."""
    return sum(process.memory_full_info().pss for process in environment.processes_of(folder))
