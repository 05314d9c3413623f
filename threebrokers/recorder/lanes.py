"""What a time line shows, lane by lane: a pure function of a recording."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from threebrokers.kafka.state import Sight
from threebrokers.recorder.data import KINDS, Burst, TapeData
from threebrokers.recorder.gaps import Gap

V = TypeVar("V")
Drawn = tuple[tuple[str, ...], str]
ABSENT: Drawn = ("nothing told",), "absent"


@dataclass(frozen=True)
class Span:
    """A part of a lane, from `start` to `end` (s since 1970).

    `words` says what was then, whole first and then ever shorter, for a small space. `look` is "broker 1",
    "broker 2", …, "good", "less", "gone", "unknown" or "absent". `seen` is False for what was concluded.
    `shares` are the (broker or None, how many partitions) that the part is divided into.
    """

    start: float
    end: float
    words: tuple[str, ...]
    look: str
    seen: bool = True
    shares: tuple[tuple[int | None, int], ...] = ()


@dataclass(frozen=True)
class Lane:
    """One line of the picture: spans, or the bursts of a client's records with the gaps between them."""

    name: str
    spans: tuple[Span, ...] = ()
    bursts: tuple[Burst, ...] = ()
    gaps: tuple[Gap, ...] = ()
    records: int | None = None


def runs(tape: TapeData, look: Callable[[Sight], V]) -> list[tuple[float, float, V]]:
    """Return (start, end, value) of each time during which `look(sight)` stayed the same."""
    found: list[tuple[float, float, V]] = []
    for sight in tape.sights:
        value = look(sight)
        if not found:
            found.append((tape.began, tape.ended, value))
        elif found[-1][2] != value:
            start, _, before = found[-1]
            found[-1] = (start, sight.at, before)
            found.append((sight.at, tape.ended, value))
    return found


def lane(name: str, tape: TapeData, look: Callable[[Sight], V], draw: Callable[[V], Drawn]) -> Lane:
    """Return a lane of what was seen: `draw(look(sight))` returns its words and its look."""
    spans = (Span(start, end, *draw(value)) for start, end, value in runs(tape, look))
    return Lane(name, begun(spans))


def begun(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return the spans without a first one in which nothing was told yet."""
    known = tuple(spans)
    return known[1:] if known and known[0].look == "absent" else known


def flow_lanes(tape: TapeData, gaps: Sequence[Gap]) -> Iterable[Lane]:
    """Yield a lane for each thing that each client did with the records of each topic."""
    for kind in KINDS:
        flows = [flow for flow in tape.flows if flow.kind == kind]
        places = sorted({(flow.client, flow.topic) for flow in flows})
        several_topics = len({topic for _, topic in places}) > 1
        for client, topic in places:
            mine = [flow for flow in flows if (flow.client, flow.topic) == (client, topic)]
            place = [kind, client if len(places) > 1 else "", topic if several_topics else ""]
            yield Lane(
                name=" · ".join(part for part in place if part),
                bursts=tuple(sorted(burst for flow in mine for burst in flow.bursts)),
                gaps=tuple(g for g in gaps if (g.kind, g.client, g.topic) == (kind, client, topic)),
                records=sum(flow.records for flow in mine),
            )
