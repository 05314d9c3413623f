"""What a time line shows of clients, brokers, the quorum and groups: functions of a recording."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from threebrokers import theme
from threebrokers.cluster.actions import Action, hindered, was_started
from threebrokers.kafka.state import ClusterState, GroupState
from threebrokers.recorder.data import Flow, RecordingData
from threebrokers.recorder.gaps import Gap, own_silence
from threebrokers.recorder.spans import ABSENT, Drawn, Lane, Point, lane, runs
from threebrokers.recorder.topic_lanes import Leader, leader_lane, leader_of
from threebrokers.recorder.twice import came_again, extra
from threebrokers.text import counted

NOT_REGISTERED = "not registered"
# What a client's program was told, before what it did itself.
ANSWERS_FIRST = ("delivered", "processed", "acknowledged", "failed", "sent")
FEW_PARTITIONS = 4  # more are summed up


def flow_lanes(recording: RecordingData, gaps: Sequence[Gap]) -> Iterator[Lane]:
    """Yield a lane for each thing that each client did with the records of each topic."""
    for kind in ANSWERS_FIRST:
        flows = [flow for flow in recording.flows if flow.kind == kind]
        places = sorted({(flow.client, flow.topic) for flow in flows})
        several_topics = len({topic for _, topic in places}) > 1
        for client, topic in places:
            mine = [flow for flow in flows if (flow.client, flow.topic) == (client, topic)]
            place = [kind, client if len(places) > 1 else "", topic if several_topics else ""]
            more = extra(recording, mine if kind == "delivered" else [])
            silent = tuple(g for g in gaps if (g.kind, g.client, g.topic) == (kind, client, topic))
            yield Lane(
                name=" · ".join(part for part in place if part),
                kind=kind,
                bursts=tuple(sorted(burst for flow in mine for burst in flow.bursts)),
                # A time without a failure is no silence.
                gaps=silent if kind != "failed" else (),
                own=tuple(gap for gap in silent if own_silence(recording, gap)),
                points=tuple(_again(mine)) if kind == "delivered" else (),
                records=sum(flow.records for flow in mine),
                note=more.brief,
                more=more.words,
            )


def _again(flows: Sequence[Flow]) -> Iterator[Point]:
    for at, count in sorted(came_again(flows)):
        words = f"{counted(count, 'record')} came again, from the same offset"
        yield Point(at, "", words, bad=True)


def committed_lanes(recording: RecordingData) -> Iterator[Lane]:
    """Yield what each group had committed: a lane for each partition, or one for the sum of many offsets."""
    seen = {(g.name, (t, n)) for state in recording.states for g in state.groups for t, n, _ in g.committed}
    names = sorted({name for name, _ in seen})
    for name in names:
        places = sorted(place for group, place in seen if group == name)
        who = f"committed · {name}" if len(names) > 1 else "committed"
        if len(places) > FEW_PARTITIONS:
            yield _commits(f"{who}, sum", recording, partial(_sum, name=name), "offsets, summed up")
            continue
        for topic, number in places:
            where = f" · {topic}-{number}" if len(places) > 1 else ""
            look = partial(_committed, name=name, place=(topic, number))
            yield _commits(f"{who}{where}", recording, look, "offset")


def _commits(
    name: str, recording: RecordingData, look: Callable[[ClusterState], int | None], noun: str
) -> Lane:
    """Return a lane with a point at each look that found another offset than the one before."""
    known = [(start, offset) for start, _, offset in runs(recording, look) if offset is not None]
    spans = lane(name, recording, look, partial(_draw_commit, noun=noun)).spans
    points = (
        Point(at, f"{offset:,}", f"committed: {noun} {offset:,}")
        for at, offset in known
        if at > recording.began
    )
    return Lane(name, spans, tuple(points))


def _draw_commit(offset: int | None, noun: str) -> Drawn:
    return ABSENT if offset is None else Drawn(f"{noun} {offset:,}", line=(None,))


def _committed(state: ClusterState, name: str, place: tuple[str, int]) -> int | None:
    told = next((g.committed for g in state.groups if g.name == name), ())
    return next((offset for topic, number, offset in told if (topic, number) == place), None)


def _sum(state: ClusterState, name: str) -> int | None:
    told = next((g.committed for g in state.groups if g.name == name), ())
    return sum(offset for _, _, offset in told) if told else None


def broker_lanes(recording: RecordingData) -> Iterator[Lane]:
    """Yield a lane for the state of each broker, and of its links."""
    for number in sorted({broker.id for state in recording.states for broker in state.brokers}):
        look = partial(_broker, number=number, actions=recording.actions)
        yield lane(f"broker {number}", recording, look, partial(_draw_broker, number=number))


Broker = tuple[str, bool, Action | None]
BOXES = {"down": "gone", "paused": "gone"}


def _broker(state: ClusterState, number: int, actions: Sequence[Action]) -> Broker:
    found = state.broker(number)
    if found is None:
        return "unknown", False, None
    up, told = found.state == "up", state.last_response_at in (None, state.at)
    links = hindered(actions, number, state.at) if up else None
    starts = found.state == "unknown" and was_started(actions, number, found.since, state.at)
    # Who is registered is known only if somebody told it.
    return "starting" if starts else found.state, up and (found.registered or not told), links


def _draw_broker(value: Broker, number: int) -> Drawn:
    state, registered, links = value
    if links:
        shown = theme.links_look(links.kind)
        told = f"{shown} {links.more}".rstrip() + ("" if registered else f", {NOT_REGISTERED}")
        return Drawn(told, (told, str(shown)), "cut", (number,))
    shown = theme.state_look(state)
    if state == "up" and not registered:
        told = f"{shown}, {NOT_REGISTERED}"
        return Drawn(told, (told, NOT_REGISTERED), "short", (number,))
    if state == "up":
        return Drawn(str(shown), line=(number,))
    return Drawn(str(shown), (str(shown),), BOXES.get(state, "unknown"))


def quorum_lane(recording: RecordingData) -> Lane:
    """Return the lane of the active controller, which leads the quorum."""
    return leader_lane("active controller", recording, _quorum_leader)


def _quorum_leader(state: ClusterState) -> Leader | None:
    # If nobody answered, nobody said that there is none.
    told = state.quorum_leader is not None or state.last_response_at in (None, state.at)
    return leader_of(state, state.quorum_leader) if told else None


# More members, or more partitions of one member, are counted and not named.
FEW_MEMBERS = 6


def group_lanes(recording: RecordingData) -> Iterator[Lane]:
    """Yield, for each group that had members, its state and what each member was assigned."""
    for name in sorted({g.name for state in recording.states for g in state.groups if g.members}):
        yield lane(f"group {name}", recording, partial(_group, name=name), _draw_group)
        ids = dict.fromkeys(m.id for state in recording.states for m in _group(state, name).members)
        for number, member in enumerate(ids if len(ids) <= FEW_MEMBERS else (), 1):
            look = partial(_assigned, name=name, member=member)
            yield lane(f"member {number} reads", recording, look, _draw_member)


def _draw_group(group: GroupState) -> Drawn:
    count = counted(len(group.members), "member")
    if group.coordinator is None:
        nobody = f"{theme.NO_LEADER.sign} no coordinator"
        return Drawn(f"{nobody} answers", (nobody,), "gone")
    told = f"{group.state} · {count} · coordinator {group.coordinator}"
    words = told, f"{group.state} · {count}", group.state
    return Drawn(told, words, "" if group.state == "Stable" else "short", (None,))


def _draw_member(value: tuple[tuple[str, int], ...] | None) -> Drawn:
    if value is None:
        return Drawn("not in the group", look="absent")
    if not value:
        return Drawn("nothing", ("nothing",), "short")
    if len(value) > FEW_MEMBERS:
        words = counted(len(value), "partition")
        return Drawn(words, (words,), "", (None,))
    names = {topic for topic, _ in value}
    parts = [str(number) if len(names) == 1 else f"{topic}-{number}" for topic, number in value]
    words = f"{'partition' if len(value) == 1 else 'partitions'} {', '.join(parts)}"
    return Drawn(words, (words,), "", (None,))


def _assigned(state: ClusterState, name: str, member: str) -> tuple[tuple[str, int], ...] | None:
    return next((tuple(sorted(m.partitions)) for m in _group(state, name).members if m.id == member), None)


def _group(state: ClusterState, name: str) -> GroupState:
    found = next((group for group in state.groups if group.name == name), None)
    return replace(found, committed=()) if found else GroupState(name, "", None)
