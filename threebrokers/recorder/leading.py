"""What follows from a recording: how long nobody led a partition, or the quorum."""

from collections.abc import Callable, Iterator
from functools import partial

from threebrokers.kafka.state import Sight
from threebrokers.recorder.data import TapeData
from threebrokers.recorder.gaps import Gap, with_act

# A process that is so serves nobody. One that only did not answer may be busy, so nothing follows from that.
GONE = ("down", "paused")


def leaderless(tape: TapeData) -> list[Gap]:
    """Return when nobody led the quorum or a partition, as far as the sights show, in order of time."""
    places = {(p.topic, p.id) for sight in tape.sights for topic in sight.topics for p in topic.partitions}
    spans = _spans(tape, lambda sight: serving(sight, sight.quorum_leader) is None)
    found = [Gap("quorum", start, seconds, over=over) for start, seconds, over in spans]
    for topic, number in sorted(places):
        spans = _spans(tape, partial(nobody_leads, topic=topic, partition=number))
        found += [Gap("leader", at, length, None, "", topic, number, over) for at, length, over in spans]
    return sorted((with_act(tape, gap) for gap in found), key=lambda gap: gap.start)


def serving(sight: Sight, leader: int | None) -> int | None:
    """Return the leader that the metadata names, or None if its process is down or paused."""
    broker = sight.broker(leader) if leader is not None else None
    return None if broker is not None and broker.state in GONE else leader


def nobody_leads(sight: Sight, topic: str, partition: int) -> bool:
    """Tell whether this partition is there and has no leader that can serve."""
    found = sight.topic(topic)
    told = next((p for p in found.partitions if p.id == partition), None) if found else None
    return told is not None and serving(sight, told.leader) is None


def _spans(tape: TapeData, true: Callable[[Sight], bool]) -> Iterator[tuple[float, float, bool]]:
    """Yield (start, seconds, over) of each time during which this was true in every sight."""
    start: float | None = None
    for sight in tape.sights:
        if true(sight):
            start = sight.at if start is None else start
        elif start is not None:
            yield start, round(sight.at - start, 3), True
            start = None
    if start is not None:
        yield start, round(tape.ended - start, 3), False
