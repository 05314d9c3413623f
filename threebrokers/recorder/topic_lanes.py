"""What a time line shows of topics: who led their partitions, and whether all replicas were in sync."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import NamedTuple

from threebrokers import theme
from threebrokers.kafka.elections import UncleanElection
from threebrokers.kafka.state import ClusterState, PartitionState
from threebrokers.recorder.data import RecordingData
from threebrokers.recorder.gaps import serving
from threebrokers.recorder.spans import ABSENT, Drawn, Lane, Point, Span, begun, lane, runs
from threebrokers.text import counted, listed, numbered

# What was told longer ago is not shown as if it were so.
SILENT_SECONDS = 1.0
Leader = tuple[int | None, bool]


def topic_lanes(
    recording: RecordingData, unclean: Sequence[UncleanElection] = (), partitions: str = ""
) -> Iterator[Lane]:
    """Yield a lane for each topic, and its unclean elections; for the topic `partitions` each of them too.

    Topics whose records were sent or read come first.
    """
    places = sorted({(p.topic, p.id) for s in recording.states for t in s.topics for p in t.partitions})
    used = {flow.topic for flow in recording.flows}
    topics = sorted({topic for topic, _ in places}, key=lambda topic: (topic not in used, topic))
    for topic in topics:
        yield lane(f"{topic} led by", recording, partial(_topic, topic=topic), _draw)
        here = [one for one in unclean if one.topic == topic]
        if here:
            name = f"unclean election · {topic}" if len(topics) > 1 else "unclean election"
            yield Lane(name, points=tuple(_elections(here)))
        for _, number in (place for place in places if place[0] == topic == partitions):
            # The name that Kafka gives a partition's folder.
            one = partial(_topic, topic=topic, number=number)
            yield lane(f"{topic}-{number} led by", recording, one, _draw)


class Led(NamedTuple):
    """How a topic, or one partition of it, is led.

    `leaders` are (broker, how many it leads), `alone` how many have no leader that serves, `unable` the
    brokers that are named as leaders there, `stale` those that believe that they lead. `short` partitions
    have replicas out of sync: those of the brokers `missing`; `fewest` of so many `replicas` are in sync.
    """

    leaders: tuple[tuple[int, int], ...]
    alone: int
    unable: tuple[int, ...]
    stale: tuple[int, ...]
    short: int
    missing: tuple[int, ...]
    fewest: int
    replicas: int
    partitions: int


def _topic(state: ClusterState, topic: str, number: int | None = None) -> Led:
    found = [p for p in partitions_of(state, topic) if number in (None, p.id)]
    serves = {p.id: serving(state, p.leader) for p in found}
    led = Counter(leader for leader in serves.values() if leader is not None)
    alone = [p for p in found if serves[p.id] is None]
    return Led(
        leaders=tuple(sorted(led.items())),
        alone=len(alone),
        unable=tuple(sorted({p.leader for p in alone if p.leader is not None})),
        stale=tuple(sorted({broker for p in found for broker in p.stale_leaders})),
        short=sum(len(p.isr) < len(p.replicas) for p in found),
        missing=tuple(sorted({broker for p in found for broker in set(p.replicas) - set(p.isr)})),
        fewest=min((len(p.isr) for p in found), default=0),
        replicas=max((len(p.replicas) for p in found), default=0),
        partitions=len(found),
    )


def _draw(led: Led) -> Drawn:
    if not led.partitions:
        return ABSENT
    most = max((count for _, count in led.leaders), default=0)
    line = tuple(broker for broker, count in led.leaders if count == most)
    told = ", ".join([*_leaders_told(led), *_isr_told(led)])
    if led.alone:
        words = f"{theme.NO_LEADER}{_of(led, led.alone)}"
        return Drawn(told, (words, str(theme.NO_LEADER)), "gone", line, seen=not led.unable)
    words = _leader_words(led, line, most)
    if led.stale:
        words += f" · {theme.REPLICAS['claim'].sign} {listed(led.stale)} {theme.REPLICAS['claim'].word}"
    if led.short:
        return Drawn(told, (f"{words} · {_isr_words(led)}", _isr_words(led)), "short", line)
    return Drawn(told, (words,), "short" if led.stale else "", line)


def _of(led: Led, count: int) -> str:
    """Say of how many partitions something is true; of a single one that needs no word."""
    return "" if led.partitions == 1 else f" · {count} of {led.partitions}"


def _leader_words(led: Led, line: Sequence[int], most: int) -> str:
    if led.partitions == 1:
        return f"broker {line[0]}"
    if len(line) > 1:
        return f"{numbered('broker', line)} lead {most} each"
    return f"broker {line[0]} leads {most} of {led.partitions}"


def _isr_words(led: Led) -> str:
    return f"{led.fewest} of {led.replicas} in sync"


def _leaders_told(led: Led) -> Iterator[str]:
    of = "" if led.partitions == 1 else f" of {led.partitions}"
    if led.alone:
        cannot = f" ({numbered('broker', led.unable)} cannot serve)" if led.unable else ""
        yield f"{led.alone}{of} without a leader{cannot}" if of else f"{theme.NO_LEADER.word}{cannot}"
    if led.leaders:
        counts = (f"broker {b} leads{f' {count}' if of else ''}" for b, count in led.leaders)
        yield f"{', '.join(counts)}{of}"
    for broker in led.stale:
        yield f"broker {broker} believes that it leads, but a newer leader was elected"


def _isr_told(led: Led) -> Iterator[str]:
    if led.short:
        of = "" if led.partitions == 1 else f" in {counted(led.short, 'partition')}"
        yield f"{led.fewest} of {led.replicas} in sync{of}, without {numbered('broker', led.missing)}"
    elif not led.alone:
        yield f"all {led.replicas} replicas in sync" if led.replicas > 1 else "the one replica in sync"


def _elections(unclean: Sequence[UncleanElection]) -> Iterator[Point]:
    """Say at which look which broker was elected out of sync, and what that has cost."""
    sign = theme.WARNING.sign
    for at, together in groupby(unclean, key=lambda one: one.at):
        some = list(together)
        # What was seen in one look has no order, and its words would lie on one another.
        words = _election(some[0]) if len(some) == 1 else f"{counted(len(some), 'partition')} of the topic"
        yield Point(at, f"{sign} {words}", "; ".join(map(election_told, some)), bad=True)


def _election(one: UncleanElection) -> str:
    who = (
        f"broker {one.leader} leads, was not in sync" if one.leader is not None else "leader was not in sync"
    )
    return f"{who}: {_lost(one)}" if _lost(one) else who


def _lost(one: UncleanElection) -> str:
    if one.readable_before is None or one.readable_after is None:
        return ""
    first, last = one.readable_after, one.readable_before - 1
    return f"offset {first:,} lost" if first == last else f"offsets {first:,}–{last:,} lost"


def election_told(one: UncleanElection) -> str:
    """Say what an unclean election was, and what it has cost, as the panel does."""
    who = f": broker {one.leader} leads and was not in sync" if one.leader is not None else ""
    said = f"unclean election in partition {one.partition} of {one.topic}{who}"
    if not _lost(one):
        return said
    readable = f"readable up to offset {one.readable_before:,} before, {one.readable_after:,} now"
    return f"{said}; records are lost: {readable}"


def leader_of(state: ClusterState, told: int | None) -> Leader:
    """Return who is told to lead, and whether that one can serve."""
    return told, serving(state, told) is not None


def leader_lane(name: str, recording: RecordingData, look: Callable[[ClusterState], Leader | None]) -> Lane:
    """Return the lane of one leader that is called so."""
    spans = (Span(start, end, _draw_leader(value, name)) for start, end, value in runs(recording, look))
    return Lane(name, begun(spans))


def _draw_leader(value: Leader | None, name: str) -> Drawn:
    if value is None:
        return ABSENT
    told, serves = value
    nobody = (f"{theme.NO_LEADER.sign} no {name}",)
    if told is None:
        return Drawn(f"no {name}", nobody, "gone")
    if not serves:
        return Drawn(f"no {name}: broker {told} cannot serve", nobody, "gone", seen=False)
    return Drawn(f"broker {told}", (f"broker {told}",), "", (told,))


def partitions_of(state: ClusterState, topic: str) -> tuple[PartitionState, ...]:
    """Return the partitions of a topic as told now, or just before: a busy broker may miss a poll."""
    told = state.at if state.last_response_at is None else state.last_response_at
    found = state.topic(topic) if state.at - told < SILENT_SECONDS else None
    return found.partitions if found else ()
