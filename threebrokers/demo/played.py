"""A demo that was recorded: its acts as they were, in a file, and played again without brokers."""

import gzip
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from threebrokers.demo.lines import Line
from threebrokers.errors import LabError
from threebrokers.files import write_whole
from threebrokers.recorder import Recording
from threebrokers.recorder.data import RecordingData

RECORDINGS = Path(__file__).parent / "recordings"
AFTER_SECONDS = 0.3  # between two lines that came when the recording of the act had ended


@dataclass(frozen=True)
class Told:
    """A line of an act, and when it came (s since 1970)."""

    at: float
    line: Line


@dataclass(frozen=True)
class Played:
    """One act: what was recorded of the brokers, and what it told."""

    seen: RecordingData
    told: tuple[Told, ...]


@dataclass(frozen=True)
class File:
    """All acts of a demo, by name."""

    format: Literal["threebrokers demo 1"]
    acts: Mapping[str, Played]


def path_of(number: str) -> Path:
    """Return the place of the recording of a lab's demo."""
    return RECORDINGS / f"lab{number}.json.gz"


def save(path: Path, acts: Mapping[str, Played]) -> None:
    """Write the acts of a demo. Raises OSError."""
    write_whole(path, gzip.compress(msgspec.json.encode(File("threebrokers demo 1", acts)), mtime=0))


def load(path: Path) -> Mapping[str, Played]:
    """Return the acts of a demo. Raises LabError if the file is missing or damaged."""
    try:
        return msgspec.json.decode(gzip.decompress(path.read_bytes()), type=File).acts
    except (OSError, EOFError, zlib.error, msgspec.MsgspecError) as fault:
        told = fault.strerror if isinstance(fault, OSError) and fault.strerror else fault
        raise LabError(
            f"The recording of this demo cannot be read ({path.name}: {told})",
            "play it on the brokers, or bring the file back by installing the course again",
        ) from fault


class Player:
    """Performs the acts of a demo from its recording, as fast as they were, or `speed` times as fast."""

    recorded = True

    def __init__(self, acts: Mapping[str, Played], speed: float = 1.0) -> None:
        if not acts:
            raise LabError("This recording holds no act, so there is nothing to play.")
        self._acts, self._speed = acts, speed
        self._recordings = {name: Recording(act.seen) for name, act in acts.items()}
        self._seen: Callable[[dict[str, Any]], None] = lambda frame: None
        self._done: set[str] = set()
        self._pause = threading.Event()  # it is never set: what is waited for is the recording's own time

    def watch(self, seen: Callable[[dict[str, Any]], None]) -> None:
        """Call `seen` with each frame of the panel, from the thread that performs."""
        self._seen = seen
        self._show_first()

    def perform(self, act: str, ended: Callable[[], bool] = lambda: False) -> Iterator[Line]:
        """Play an act, and yield what it told, when it told it."""
        played, panel = self._acts[act], self._recordings[act].replay()
        self._done.add(act)
        try:
            began, last = time.monotonic(), played.seen.began
            for at, what in _in_order(played):
                due = last = min(at, last + AFTER_SECONDS) if at > played.seen.ended else at
                self._pause.wait(max(0.0, (due - played.seen.began) / self._speed - time.monotonic() + began))
                if ended():
                    return
                if isinstance(what, Line):
                    yield what
                else:
                    panel.position = what
                    self._seen(panel.frame)
        finally:
            panel.close()

    def recording(self, act: str) -> Recording | None:
        """Return the recording of an act that was played; else None."""
        return self._recordings[act] if act in self._done else None

    def rest(self) -> None:
        """Show again what was before the first act."""
        self._done.clear()
        self._show_first()

    def end(self) -> None:
        """Do nothing: nothing was begun."""

    def _show_first(self) -> None:
        panel = next(iter(self._recordings.values())).replay()
        self._seen(panel.frame)
        panel.close()


def _in_order(played: Played) -> list[tuple[float, Line | int]]:
    """Return what was seen (a position of the panel) and told, oldest first."""
    states = sorted(played.seen.states, key=lambda state: state.at)
    seen: list[tuple[float, Line | int]] = [(state.at, place) for place, state in enumerate(states)]
    told: list[tuple[float, Line | int]] = [(one.at, one.line) for one in played.told]
    return sorted(seen + told, key=lambda each: each[0])
