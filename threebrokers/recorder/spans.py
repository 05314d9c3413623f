"""Parts of a time line: what was so from when to when, as far as the states of the cluster show."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from threebrokers.kafka.state import ClusterState
from threebrokers.recorder.data import Burst, RecordingData
from threebrokers.recorder.gaps import Gap

V = TypeVar("V")
Drawn = tuple[tuple[str, ...], str]
ABSENT: Drawn = ("nothing told",), "absent"


@dataclass(frozen=True)
class Span:
    """A part of a lane, from `start` to `end` (s since 1970).

    `words` says what was then, whole first and then ever shorter, for a small space. `look` is "broker 1",
    "broker 2", …, "up 1", …, "good", "less", "gone", "cut", "unknown" or "absent". `seen` is False for what
    was concluded. `shares` are the (broker or None, how many partitions) that the part is divided into.
    `mark` is something that must be read there, in the span or beside it.
    """

    start: float
    end: float
    words: tuple[str, ...]
    look: str
    seen: bool = True
    shares: tuple[tuple[int | None, int], ...] = ()
    mark: str = ""


@dataclass(frozen=True)
class Lane:
    """One line of the picture: spans, or the bursts of a client's records with the gaps between them.

    `note` is what else is to be said of the records, in a word or two, and `more` the same in sentences.
    """

    name: str
    spans: tuple[Span, ...] = ()
    bursts: tuple[Burst, ...] = ()
    gaps: tuple[Gap, ...] = ()
    records: int | None = None
    note: str = ""
    more: str = ""


def runs(recording: RecordingData, look: Callable[[ClusterState], V]) -> list[tuple[float, float, V]]:
    """Return (start, end, value) of each time during which `look(state)` was seen to stay the same.

    It ends with the last state that showed it: when it changed between two states, nobody saw.
    """
    found: list[tuple[float, float, V]] = []
    for state in recording.states:
        value = look(state)
        if found and found[-1][2] == value:
            found[-1] = (found[-1][0], state.at, value)
        else:
            found.append((state.at if found else recording.began, state.at, value))
    if found:
        found[-1] = (found[-1][0], recording.ended, found[-1][2])
    return found


def lane(
    name: str, recording: RecordingData, look: Callable[[ClusterState], V], draw: Callable[[V], Drawn]
) -> Lane:
    """Return a lane of what was seen: `draw(look(state))` returns its words and its look."""
    spans = (Span(start, end, *draw(value)) for start, end, value in runs(recording, look))
    return Lane(name, begun(spans))


def begun(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return the spans without a first one in which nothing was told yet."""
    known = tuple(spans)
    return known[1:] if known and known[0].look == "absent" else known
