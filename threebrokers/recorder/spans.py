"""Parts of a time line: what was so from when to when, as far as the states of the cluster show."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from threebrokers.kafka.state import ClusterState
from threebrokers.recorder.data import Burst, RecordingData
from threebrokers.recorder.gaps import Gap

V = TypeVar("V")


@dataclass(frozen=True)
class Drawn:
    """How one state is shown.

    `told` says it whole. `words` are written in the picture: first with all facts, then with fewer, and each
    fact always in the same words. `look` is that of the box: "" (none, all is as usual), "held", "short",
    "gone", "cut", "unknown" or "absent". `line` are the brokers whose colours the thin line has, None for
    grey, empty for no line. `seen` is False for what was concluded.
    """

    told: str
    words: tuple[str, ...] = ()
    look: str = ""
    line: tuple[int | None, ...] = ()
    seen: bool = True


ABSENT = Drawn("nothing told", look="absent")


@dataclass(frozen=True)
class Span:
    """A part of a lane, from `start` to `end` (s since 1970), in which it was so."""

    start: float
    end: float
    drawn: Drawn


@dataclass(frozen=True)
class Point:
    """Something first seen at one time (s since 1970): a few words for the picture, and the whole."""

    at: float
    words: str
    told: str
    bad: bool = False


@dataclass(frozen=True)
class Lane:
    """One line of the picture: spans, points, or the bursts of a client's records with the gaps between them.

    `kind` is that of the client's flows. `note` is what else is to be said of the records, in a word or two,
    and `more` the same in sentences. `own` are those gaps in which the learner's own program sent nothing.
    """

    name: str
    spans: tuple[Span, ...] = ()
    points: tuple[Point, ...] = ()
    bursts: tuple[Burst, ...] = ()
    gaps: tuple[Gap, ...] = ()
    own: tuple[Gap, ...] = ()
    records: int | None = None
    kind: str = ""
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
    """Return a lane of what was seen: `draw(look(state))` says how it is shown."""
    spans = (Span(start, end, draw(value)) for start, end, value in runs(recording, look))
    return Lane(name, begun(spans))


def begun(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return the spans without a first one in which nothing was told yet."""
    known = tuple(spans)
    return known[1:] if known and known[0].drawn.look == "absent" else known
