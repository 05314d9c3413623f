"""What a recording shows of the members of groups: what each of them held, and when it had nothing to do."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from threebrokers.recorder.data import Holding, RecordingData
from threebrokers.recorder.gaps import MEMBER, Gap, with_action
from threebrokers.recorder.spans import Drawn, Lane, Span
from threebrokers.text import counted

Place = tuple[str, int]
Places = frozenset[Place]
# More partitions than this are counted and not named.
FEW_PLACES = 8


@dataclass(frozen=True)
class Held:
    """What one member held from `start` to `end` (s since 1970)."""

    start: float
    end: float
    places: Places


def members(recording: RecordingData) -> list[tuple[str, str]]:
    """Return (group, client) of every member that was told of partitions, in order of name."""
    return sorted({(holding.group, holding.client) for holding in recording.holdings})


def held(recording: RecordingData, group: str, client: str) -> list[Held]:
    """Return what a group's member held, oldest first, from when it was told for the first time."""
    own = [one for one in recording.holdings if (one.group, one.client) == (group, client)]
    found: list[Held] = []
    places: Places = frozenset()
    for holding, end in zip(own, [*(h.at for h in own[1:]), recording.ended], strict=True):
        places = _after(places, holding)
        if found and found[-1].places == places:
            found[-1] = Held(found[-1].start, end, places)
        else:
            found.append(Held(holding.at, end, places))
    return found


def _after(before: Places, holding: Holding) -> Places:
    changed = frozenset(holding.places)
    return before | changed if holding.what == "assigned" else before - changed


def idle(recording: RecordingData, clients: Collection[str] = ()) -> list[Gap]:
    """Return when a member that had held partitions held none, by time; of all members if none is named.

    One that never got any again has left, or was left without: its last pause is not over, and is told only
    if it went on to ask for records.
    """
    found = []
    for group, client in members(recording):
        if clients and client not in clients:
            continue
        spans = held(recording, group, client)
        first = next((number for number, span in enumerate(spans) if span.places), len(spans))
        for span in spans[first:]:
            if not span.places and span.end < recording.ended:
                gap = Gap(MEMBER, span.start, round(span.end - span.start, 3), client=client)
                found.append(with_action(recording, gap))
    return sorted(found, key=lambda gap: gap.start)


def member_lanes(recording: RecordingData) -> Iterator[Lane]:
    """Yield a lane for each member: what it held, the records that it got, and when it held nothing."""
    for group, client in members(recording):
        flows = [flow for flow in recording.flows if (flow.kind, flow.client) == ("delivered", client)]
        yield Lane(
            name=client,
            spans=tuple(_span(one, one.end < recording.ended) for one in held(recording, group, client)),
            bursts=tuple(sorted(burst for flow in flows for burst in flow.bursts)),
            records=sum(flow.records for flow in flows),
        )


def _span(one: Held, over: bool) -> Span:
    if one.places:
        words = _named(one.places)
        return Span(one.start, one.end, Drawn(words[0], words, "held"))
    seconds = f"{one.end - one.start:.2f} s"
    words = (f"no partition for {seconds}", seconds) if over else ("no partition",)
    return Span(one.start, one.end, Drawn(words[0], words, "gone"))


def _named(places: Places) -> tuple[str, ...]:
    """Name the partitions, or count them if they are many."""
    if len(places) > FEW_PLACES:
        return (counted(len(places), "partition"),)
    names = {topic for topic, _ in places}
    parts = [str(number) if len(names) == 1 else f"{topic}-{number}" for topic, number in sorted(places)]
    return (f"{'partition' if len(parts) == 1 else 'partitions'} {', '.join(parts)}",)
