"""What a time line shows of topics: who led their partitions, and who was missing from the ISR."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from threebrokers import theme
from threebrokers.kafka.elections import UncleanElection
from threebrokers.kafka.state import ClusterState, PartitionState
from threebrokers.recorder.data import RecordingData
from threebrokers.recorder.gaps import serving
from threebrokers.recorder.spans import ABSENT, Drawn, Lane, Span, begun, lane, runs
from threebrokers.text import counted, listed, numbered

# So many partitions in all have a lane each; of more, the leaders are counted.
FEW_PARTITIONS = 4
# What was told longer ago is not shown as if it were so.
SILENT_SECONDS = 1.0
Place = tuple[str, int]
Leader = tuple[int | None, bool, tuple[int, ...]]


def topic_lanes(recording: RecordingData, unclean: Sequence[UncleanElection] = ()) -> Iterator[Lane]:
    """Yield, for each topic, who led its partitions and who was out of the ISR.

    Topics whose records were sent or read come first. Of many partitions only those have a lane each that
    carried these records.
    """
    places = sorted({(p.topic, p.id) for s in recording.states for t in s.topics for p in t.partitions})
    carried = {(f.topic, f.partition) for f in recording.flows if f.partition is not None}
    used = {topic for topic, _ in carried}
    topics = sorted({topic for topic, _ in places}, key=lambda topic: (topic not in used, topic))
    few = len(places) <= FEW_PARTITIONS
    for topic in topics:
        mine = [place for place in places if place[0] == topic and (few or place in carried)]
        here = [one for one in unclean if one.topic == topic]
        yield from _lanes(
            recording, topic, mine if len(mine) <= FEW_PARTITIONS else [], here, len(topics) > 1, few
        )


def _lanes(
    recording: RecordingData,
    topic: str,
    alone: Sequence[Place],
    unclean: Sequence[UncleanElection],
    several: bool,
    whole: bool,
) -> Iterator[Lane]:
    """Yield a lane for each partition that is shown `alone`, and for all if these are not the `whole`."""
    for place in alone:
        number = place[1]
        # Among several topics a partition has the name that Kafka gives its folder.
        name = f"{topic}-{number}" if several else f"partition {number}"
        yield leader_lane(f"{name} led by", recording, partial(_partition_leader, place=place))
    if not whole:
        yield _shared(f"{topic if several else 'partitions'} led by", recording, topic)
    yield from _unclean(unclean, several)
    yield lane(f"{topic} in sync" if several else "in sync", recording, partial(_isr, topic=topic), _draw_isr)


def _unclean(elections: Sequence[UncleanElection], several: bool) -> Iterator[Lane]:
    """Yield a lane that says at which time which broker was elected out of sync, and what that has cost."""
    if elections:
        name = f"{elections[0].topic} elections" if several else "elections"
        yield Lane(name, tuple(Span(one.at, one.at, (), "bad", mark=_mark(one)) for one in elections))


def _mark(one: UncleanElection) -> str:
    who = f"{theme.WARNING.sign} {f'{one.leader} elected' if one.leader is not None else 'one'} out of sync"
    if one.readable_before is None or one.readable_after is None:
        return who
    return f"{who}: records lost, readable up to {one.readable_before:,} before, {one.readable_after:,} then"


def leader_of(state: ClusterState, told: int | None, claims: tuple[int, ...] = ()) -> Leader:
    """Return who is told to lead, whether that one can serve, and who believes that it leads too."""
    return told, serving(state, told) is not None, claims


def _partition_leader(state: ClusterState, place: Place) -> Leader | None:
    found = next((p for p in partitions_of(state, place[0]) if p.id == place[1]), None)
    return leader_of(state, found.leader, found.stale_leaders) if found else None


def leader_lane(name: str, recording: RecordingData, look: Callable[[ClusterState], Leader | None]) -> Lane:
    """Return the lane of a leader."""
    return Lane(name, begun(_led_span(start, end, value) for start, end, value in runs(recording, look)))


def _led_span(start: float, end: float, value: Leader | None) -> Span:
    if value is None:
        return Span(start, end, *ABSENT)
    told, serves, claims = value
    if told is None:
        return Span(start, end, ("nobody", theme.NO_LEADER.sign), "gone")
    if not serves:
        nobody = (f"no leader: {told} cannot serve", theme.NO_LEADER.word, "none", theme.NO_LEADER.sign)
        return Span(start, end, nobody, "gone", seen=False)
    also = f"{told} · {listed(claims)} believes that it leads too"
    words = (also, f"{told} · {claims[0]} too") if claims else ()
    return Span(start, end, (*words, f"{told}"), f"broker {told}")


def _shared(name: str, recording: RecordingData, topic: str) -> Lane:
    def shares(state: ClusterState) -> tuple[tuple[int | None, int], ...]:
        led = Counter(serving(state, p.leader) for p in partitions_of(state, topic))
        return tuple(sorted(led.items(), key=lambda share: (share[0] is None, share[0])))

    spans = []
    for start, end, value in runs(recording, shares):
        whole = (f"{b} leads {n}" if b is not None else f"{n} without a leader" for b, n in value)
        words = " · ".join(whole), " · ".join(f"{b or 'none'}: {n}" for b, n in value)
        spans.append(Span(start, end, words, "good", shares=value) if value else Span(start, end, *ABSENT))
    return Lane(name, begun(spans))


class Isr(NamedTuple):
    """The ISRs of a topic: from how many partitions each broker is missing, and the fewest replicas."""

    missing: tuple[tuple[int, int], ...]
    fewest: int
    replicas: int
    partitions: int


def _isr(state: ClusterState, topic: str) -> Isr:
    partitions = partitions_of(state, topic)
    missing = Counter(broker for p in partitions for broker in p.replicas if broker not in p.isr)
    return Isr(
        tuple(sorted(missing.items())),
        min((len(p.isr) for p in partitions), default=0),
        max((len(p.replicas) for p in partitions), default=0),
        len(partitions),
    )


def _draw_isr(value: Isr) -> Drawn:
    if not value.partitions:
        return ABSENT
    if not value.missing:
        few = value.replicas
        return (f"all {few} replicas" if few > 1 else "the one replica", f"{few}"), "good"
    brokers = [broker for broker, _ in value.missing]
    without = f"without {numbered('broker', brokers)}"
    where = max(count for _, count in value.missing)
    rest = f"{value.fewest} of {value.replicas}"
    whole = f"{without} in {counted(where, 'partition')}" if value.partitions > 1 else f"{rest}, {without}"
    return (whole, without, f"not {listed(brokers)}", rest), "less"


def partitions_of(state: ClusterState, topic: str) -> tuple[PartitionState, ...]:
    """Return the partitions of a topic as told now, or just before: a busy broker may miss a poll."""
    told = state.at if state.last_response_at is None else state.last_response_at
    found = state.topic(topic) if state.at - told < SILENT_SECONDS else None
    return found.partitions if found else ()
