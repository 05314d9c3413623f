"""What a time line shows, lane by lane: a pure function of a recording."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from threebrokers import theme
from threebrokers.kafka.state import ClusterState, GroupState, PartitionState
from threebrokers.recorder.data import KINDS, Burst, RecordingData
from threebrokers.recorder.gaps import Gap, serving

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


def runs(recording: RecordingData, look: Callable[[ClusterState], V]) -> list[tuple[float, float, V]]:
    """Return (start, end, value) of each time during which `look(state)` stayed the same."""
    found: list[tuple[float, float, V]] = []
    for state in recording.states:
        value = look(state)
        if not found:
            found.append((recording.began, recording.ended, value))
        elif found[-1][2] != value:
            start, _, before = found[-1]
            found[-1] = (start, state.at, before)
            found.append((state.at, recording.ended, value))
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


def flow_lanes(recording: RecordingData, gaps: Sequence[Gap]) -> Iterable[Lane]:
    """Yield a lane for each thing that each client did with the records of each topic."""
    for kind in KINDS:
        flows = [flow for flow in recording.flows if flow.kind == kind]
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


# So many partitions in all have a lane each; of more, the leaders are counted.
FEW_PARTITIONS = 4
# A broker that is up has its own colour.
BARS = {"up": "", "down": "gone", "paused": "gone"}
Leader = tuple[int | None, bool, tuple[int, ...]]


def broker_lanes(recording: RecordingData) -> Iterable[Lane]:
    """Yield a lane for the state of each broker."""
    for number in sorted({broker.id for state in recording.states for broker in state.brokers}):

        def told(state: ClusterState, number: int = number) -> tuple[str, bool]:
            found = state.broker(number)
            return (found.state, found.state == "up" and found.registered) if found else ("unknown", False)

        def draw(value: tuple[str, bool], number: int = number) -> Drawn:
            if value == ("up", False):
                up = theme.STATES["up"]
                return (f"{up}, not registered", f"{up.sign} not registered", up.sign), "less"
            shown = theme.state_look(value[0])
            return (str(shown), shown.sign), BARS.get(value[0], "unknown") or f"broker {number}"

        yield lane(f"broker {number}", recording, told, draw)


def quorum_lane(recording: RecordingData) -> Lane:
    """Return the lane of the active controller, which leads the quorum."""
    return _led("active controller", recording, lambda state: _leader(state, state.quorum_leader, ()))


def topic_lanes(recording: RecordingData) -> Iterable[Lane]:
    """Yield, for each topic, who led its partitions and how many replicas were in sync."""
    places = sorted({(p.topic, p.id) for s in recording.states for t in s.topics for p in t.partitions})
    for topic in sorted({topic for topic, _ in places}):
        several = len({topic for topic, _ in places}) > 1
        if len(places) <= FEW_PARTITIONS:
            for number in (number for name, number in places if name == topic):
                look = partial(_partition_leader, topic=topic, number=number)
                # Among several topics a partition has the name that Kafka gives its folder.
                named = f"{topic}-{number}" if several else f"partition {number}"
                yield _led(f"{named} led by", recording, look)
        else:
            yield _shared(f"{topic if several else 'partitions'} led by", recording, topic)
        yield lane(
            f"{topic} in sync" if several else "in sync",
            recording,
            partial(_copies, topic=topic),
            _draw_copies,
        )


def _leader(state: ClusterState, told: int | None, claims: tuple[int, ...]) -> Leader:
    return told, serving(state, told) is not None, claims


def _partition_leader(state: ClusterState, topic: str, number: int) -> Leader | None:
    found = next((p for p in _partitions(state, topic) if p.id == number), None)
    return _leader(state, found.leader, found.stale_leaders) if found else None


def _led(name: str, recording: RecordingData, look: Callable[[ClusterState], Leader | None]) -> Lane:
    return Lane(name, begun(_led_span(start, end, value) for start, end, value in runs(recording, look)))


def _led_span(start: float, end: float, value: Leader | None) -> Span:
    if value is None:
        return Span(start, end, *ABSENT)
    told, serves, claims = value
    if told is None:
        return Span(start, end, ("nobody",), "gone")
    if not serves:
        nobody = (f"no leader: {told} cannot serve", theme.NO_LEADER.word, "none", theme.NO_LEADER.sign)
        return Span(start, end, nobody, "gone", seen=False)
    also = f"{told} · {', '.join(map(str, claims))} believes that it leads too"
    words = (also, f"{told} · {claims[0]} too") if claims else ()
    return Span(start, end, (*words, f"{told}"), f"broker {told}")


def _shared(name: str, recording: RecordingData, topic: str) -> Lane:
    def shares(state: ClusterState) -> tuple[tuple[int | None, int], ...]:
        led = Counter(serving(state, p.leader) for p in _partitions(state, topic))
        return tuple(sorted(led.items(), key=lambda share: (share[0] is None, share[0])))

    spans = []
    for start, end, value in runs(recording, shares):
        whole = (f"{b} leads {n}" if b is not None else f"{n} without a leader" for b, n in value)
        words = " · ".join(whole), " · ".join(f"{b or 'none'}: {n}" for b, n in value)
        spans.append(Span(start, end, words, "good", shares=value) if value else Span(start, end, *ABSENT))
    return Lane(name, begun(spans))


def _copies(state: ClusterState, topic: str) -> tuple[int, int, int, int]:
    """Return the fewest replicas in sync, the replicas, the partitions that miss one, all partitions."""
    partitions = _partitions(state, topic)
    fewest = min((len(p.isr) for p in partitions), default=0)
    replicas = max((len(p.replicas) for p in partitions), default=0)
    return fewest, replicas, sum(len(p.isr) < len(p.replicas) for p in partitions), len(partitions)


def _draw_copies(value: tuple[int, int, int, int]) -> Drawn:
    fewest, replicas, less, partitions = value
    if not partitions:
        return ABSENT
    if not less:
        return (f"all {replicas} replicas" if replicas > 1 else "the one replica", f"{replicas}"), "good"
    where = f" of {less} partition{'' if less == 1 else 's'}" if partitions > 1 else ""
    few = f"{fewest} of {replicas}"
    return (f"{few} replicas{where}", f"{few} replicas", few, f"{fewest}"), "less"


def _partitions(state: ClusterState, topic: str) -> tuple[PartitionState, ...]:
    # Topics of an earlier state are not what was seen in this one.
    found = state.topic(topic) if state.last_response_at in (None, state.at) else None
    return found.partitions if found else ()


# More members, or more partitions of one member, are counted and not named.
FEW_MEMBERS = 6


def group_lanes(recording: RecordingData) -> Iterable[Lane]:
    """Yield, for each group that had members, its state and what each member was assigned."""
    for name in sorted({g.name for state in recording.states for g in state.groups if g.members}):
        yield lane(f"group {name}", recording, partial(_group, name=name), _draw_group)
        ids = dict.fromkeys(m.id for state in recording.states for m in _group(state, name).members)
        for number, member in enumerate(ids if len(ids) <= FEW_MEMBERS else (), 1):
            look = partial(_assigned, name=name, member=member)
            yield lane(f"its member {number} reads", recording, look, _draw_member)


def _draw_group(group: GroupState) -> Drawn:
    count = f"{len(group.members)} member{'' if len(group.members) == 1 else 's'}"
    if group.coordinator is None:
        return ("no coordinator answers", "no coordinator", theme.NO_LEADER.sign), "gone"
    words = (f"{group.state} · {count} · coordinator {group.coordinator}", f"{group.state} · {count}")
    return (*words, group.state), "good" if group.state == "Stable" else "less"


def _draw_member(value: tuple[tuple[str, int], ...] | None) -> Drawn:
    if value is None:
        return ("not in the group",), "absent"
    if not value:
        return ("nothing",), "less"
    if len(value) > FEW_MEMBERS:
        return (f"{len(value)} partitions", f"{len(value)}"), "good"
    names = {topic for topic, _ in value}
    parts = [str(number) if len(names) == 1 else f"{topic}-{number}" for topic, number in value]
    return (f"partition {', '.join(parts)}", ", ".join(parts)), "good"


def _assigned(state: ClusterState, name: str, member: str) -> tuple[tuple[str, int], ...] | None:
    return next((tuple(sorted(m.partitions)) for m in _group(state, name).members if m.id == member), None)


def _group(state: ClusterState, name: str) -> GroupState:
    found = next((group for group in state.groups if group.name == name), None)
    return replace(found, committed=()) if found else GroupState(name, "", None)
