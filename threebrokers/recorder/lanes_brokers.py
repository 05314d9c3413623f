"""The lanes of brokers, of the quorum and of partitions."""

from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial

from threebrokers.kafka.state import PartitionSight, Sight
from threebrokers.recorder.data import TapeData
from threebrokers.recorder.lanes import ABSENT, Drawn, Lane, Span, begun, lane, runs
from threebrokers.recorder.leading import serving

# So many partitions in all have a lane each; of more, the leaders are counted.
FEW = 4
STATES = {
    "up": (("● up", "●"), ""),
    "down": (("✕ down", "✕"), "gone"),
    "paused": (("❚❚ paused", "❚❚"), "gone"),
    "unknown": (("? no answer", "?"), "unknown"),
}
Leader = tuple[int | None, bool, tuple[int, ...]]


def broker_lanes(tape: TapeData) -> Iterable[Lane]:
    """Yield a lane for the state of each broker."""
    for number in sorted({broker.id for sight in tape.sights for broker in sight.brokers}):

        def state(sight: Sight, number: int = number) -> tuple[str, bool]:
            found = sight.broker(number)
            return (found.state, found.state == "up" and found.registered) if found else ("unknown", False)

        def draw(value: tuple[str, bool], number: int = number) -> Drawn:
            if value == ("up", False):
                return ("● up, not registered", "● not registered", "●"), "less"
            words, look = STATES.get(value[0], ((value[0],), "unknown"))
            return words, look or f"broker {number}"

        yield lane(f"broker {number}", tape, state, draw)


def quorum_lane(tape: TapeData) -> Lane:
    """Return the lane of the quorum's leader: the active controller."""
    return _led("quorum led by", tape, lambda sight: _leader(sight, sight.quorum_leader, ()))


def topic_lanes(tape: TapeData) -> Iterable[Lane]:
    """Yield, for each topic, who led its partitions and how many copies were in sync."""
    places = sorted({(p.topic, p.id) for s in tape.sights for t in s.topics for p in t.partitions})
    for topic in sorted({topic for topic, _ in places}):
        several = len({topic for topic, _ in places}) > 1
        if len(places) <= FEW:
            for number in (number for name, number in places if name == topic):
                look = partial(_partition_leader, topic=topic, number=number)
                # Among several topics a partition has the name that Kafka gives its folder.
                named = f"{topic}-{number}" if several else f"partition {number}"
                yield _led(f"{named} led by", tape, look)
        else:
            yield _shared(f"{topic if several else 'partitions'} led by", tape, topic)
        yield lane(
            f"{topic} in sync" if several else "in sync", tape, partial(_copies, topic=topic), _draw_copies
        )


def _leader(sight: Sight, told: int | None, claims: tuple[int, ...]) -> Leader:
    return told, serving(sight, told) is not None, claims


def _partition_leader(sight: Sight, topic: str, number: int) -> Leader | None:
    found = next((p for p in _partitions(sight, topic) if p.id == number), None)
    return _leader(sight, found.leader, found.claims) if found else None


def _led(name: str, tape: TapeData, look: Callable[[Sight], Leader | None]) -> Lane:
    return Lane(name, begun(_led_span(start, end, value) for start, end, value in runs(tape, look)))


def _led_span(start: float, end: float, value: Leader | None) -> Span:
    if value is None:
        return Span(start, end, *ABSENT)
    told, serves, claims = value
    if told is None:
        return Span(start, end, ("nobody",), "gone")
    if not serves:
        nobody = (f"no leader: {told} cannot serve", "no leader", "none", "✕")
        return Span(start, end, nobody, "gone", seen=False)
    also = f"{told} · {', '.join(map(str, claims))} believes that it leads too"
    words = (also, f"{told} · {claims[0]} too") if claims else ()
    return Span(start, end, (*words, f"{told}"), f"broker {told}")


def _shared(name: str, tape: TapeData, topic: str) -> Lane:
    def shares(sight: Sight) -> tuple[tuple[int | None, int], ...]:
        led = Counter(serving(sight, p.leader) for p in _partitions(sight, topic))
        return tuple(sorted(led.items(), key=lambda share: (share[0] is None, share[0])))

    spans = []
    for start, end, value in runs(tape, shares):
        whole = (f"{b} leads {n}" if b is not None else f"{n} without a leader" for b, n in value)
        words = " · ".join(whole), " · ".join(f"{b or 'none'}: {n}" for b, n in value)
        spans.append(Span(start, end, words, "good", shares=value) if value else Span(start, end, *ABSENT))
    return Lane(name, begun(spans))


def _copies(sight: Sight, topic: str) -> tuple[int, int, int, int]:
    """Return the fewest copies in sync, the replicas, the partitions that miss a copy, all partitions."""
    partitions = _partitions(sight, topic)
    fewest = min((len(p.isr) for p in partitions), default=0)
    replicas = max((len(p.replicas) for p in partitions), default=0)
    return fewest, replicas, sum(len(p.isr) < len(p.replicas) for p in partitions), len(partitions)


def _draw_copies(value: tuple[int, int, int, int]) -> Drawn:
    fewest, replicas, less, partitions = value
    if not partitions:
        return ABSENT
    if not less:
        return (f"all {replicas} copies" if replicas > 1 else "the one copy", f"{replicas}"), "good"
    where = f" of {less} partition{'' if less == 1 else 's'}" if partitions > 1 else ""
    few = f"{fewest} of {replicas}"
    return (f"{few} copies{where}", f"{few} copies", few, f"{fewest}"), "less"


def _partitions(sight: Sight, topic: str) -> tuple[PartitionSight, ...]:
    # Topics of an earlier look are not what was seen in this one.
    found = sight.topic(topic) if sight.heard in (None, sight.at) else None
    return found.partitions if found else ()
