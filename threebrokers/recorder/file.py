"""One state as rows of plain values by name, so that two states can be compared row by row."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from threebrokers.cluster.actions import Action
from threebrokers.kafka.state import (
    BrokerState,
    ClusterState,
    GroupState,
    MemberState,
    PartitionState,
    TopicState,
)
from threebrokers.recorder.data import Burst, Flow, Mark, Missed, RecordingData
from threebrokers.recorder.gaps import Gap

Rows = Mapping[str, Any]


def rows(state: ClusterState, began: float) -> dict[str, Any]:
    """Return the state as rows; its own time is not in them, other times are in ms since `began`.

    Offsets move all the time and leaders seldom, so they stand in rows of their own. What a group
    committed must be in order of topics.
    """

    def ms(at: float) -> int:
        return round((at - began) * 1000)

    told: dict[str, Any] = {"quorum": [state.quorum_leader, state.quorum_leader_epoch]}
    told["names"] = [[t.name for t in state.topics], [g.name for g in state.groups]]
    if state.last_response_at != state.at:
        told["heard"] = ["never" if state.last_response_at is None else ms(state.last_response_at)]
    for b in state.brokers:
        told[f"broker {b.id}"] = [b.state, ms(b.since), b.registered, b.address, b.rss]
    for topic in state.topics:
        for p in topic.partitions:
            brokers = (p.replicas, p.isr, p.stale_leaders, p.elr)
            held = [p.leader, p.leader_epoch, *map(list, brokers)]
            told[f"topic {topic.name}/{p.id}"] = held
            told[f"at {topic.name}/{p.id}"] = [
                p.log_start_offset,
                p.high_watermark,
                p.last_stable_offset,
                *(n for end in p.log_end_offsets for n in end),
            ]
    for g in state.groups:
        members = [[m.id, m.client, [list(place) for place in m.partitions]] for m in g.members]
        told[f"group {g.name}"] = [g.state, g.coordinator, members]
        offsets: dict[str, list[int]] = {}
        for topic_name, *place in g.committed:
            offsets.setdefault(topic_name, []).extend(place)
        told[f"committed {g.name}"] = offsets
    return told


def changes(before: Rows, now: Rows) -> dict[str, Any]:
    """Return the rows that are new or different, and None for each that went away."""
    gone = {name: None for name in before if name not in now}
    return gone | {name: row for name, row in now.items() if before.get(name) != row}


def state_of(told: Rows, at: float, began: float) -> ClusterState:
    """Return the state at time `at` (s) that these rows tell. Raises KeyError or TypeError."""

    def moment(ms: int) -> float:
        return round(began + ms / 1000, 3)

    def named(word: str) -> dict[str, Any]:
        return {name.removeprefix(word): row for name, row in told.items() if name.startswith(word)}

    places: dict[str, dict[int, Any]] = {}
    for name, row in named("topic ").items():
        topic, _, number = name.rpartition("/")
        places.setdefault(topic, {})[int(number)] = row
    topics, groups = told["names"]
    heard = told["heard"][0] if "heard" in told else None
    return ClusterState(
        at=at,
        brokers=tuple(
            BrokerState(int(number), state, moment(since), registered, address, rss)
            for number, (state, since, registered, address, rss) in sorted(named("broker ").items())
        ),
        quorum_leader=told["quorum"][0],
        quorum_leader_epoch=told["quorum"][1],
        topics=tuple(
            TopicState(
                name,
                tuple(
                    _partition(name, number, row, told[f"at {name}/{number}"])
                    for number, row in sorted(places.get(name, {}).items())
                ),
            )
            for name in topics
        ),
        groups=tuple(_group(name, told[f"group {name}"], told[f"committed {name}"]) for name in groups),
        last_response_at=at if heard is None else None if heard == "never" else moment(heard),
    )


def _partition(topic: str, number: int, held: Any, offsets: Any) -> PartitionState:
    leader, epoch, replicas, isr, claims, elr = held
    start, readable, stable, *ends = offsets
    return PartitionState(
        topic,
        number,
        leader,
        epoch,
        tuple(replicas),
        tuple(isr),
        start,
        readable,
        tuple(zip(ends[::2], ends[1::2], strict=True)),
        tuple(claims),
        stable,
        tuple(elr),
    )


def _group(name: str, row: Any, committed: Any) -> GroupState:
    state, coordinator, members = row
    return GroupState(
        name,
        state,
        coordinator,
        tuple(MemberState(i, client, tuple((t, p) for t, p in places)) for i, client, places in members),
        tuple(
            (topic, partition, offset)
            for topic, told in committed.items()
            for partition, offset in zip(told[::2], told[1::2], strict=True)
        ),
    )


MEGABYTE = 10**6


def thin(state: ClusterState, before: ClusterState | None) -> ClusterState:
    """Return the state with times in whole ms, memory in whole MB, and the equal parts of the one before."""
    topics = {topic.name: topic for topic in before.topics} if before else {}
    groups = tuple(replace(group, committed=tuple(sorted(group.committed))) for group in state.groups)
    return replace(
        state,
        at=round(state.at, 3),
        last_response_at=None if state.last_response_at is None else round(state.last_response_at, 3),
        brokers=tuple(
            replace(b, since=round(b.since, 3), rss=b.rss // MEGABYTE * MEGABYTE) for b in state.brokers
        ),
        topics=tuple(_kept(topic, topics.get(topic.name)) for topic in state.topics),
        groups=before.groups if before and before.groups == groups else groups,
    )


def _kept(topic: TopicState, before: TopicState | None) -> TopicState:
    if before is None or before == topic:
        return before or topic
    known = {p.id: p for p in before.partitions}
    return TopicState(topic.name, tuple(known[p.id] if known.get(p.id) == p else p for p in topic.partitions))


FORMAT = "threebrokers recording 1"
ABOUT = {
    "times": "whole ms since `began`, which is in s since 1970",
    "seen": "what was told by brokers, clients and the learner",
    "concluded": "what follows from it; computed again when the recording is loaded",
    "states": "[ms since the state before, {what changed: its new value, null if it went away}]",
    "missed": "[ms, ms, words]: from when to when nobody looked at the brokers, and why",
    "flows": "[client, kind, topic, partition, bursts]; for each burst: ms since the one before, ms, records",
}


def dumps(recording: RecordingData, concluded: Sequence[Gap]) -> str:
    """Return the recording as JSON, with the gaps that were concluded from it apart."""

    def ms(at: float) -> int:
        return round((at - recording.began) * 1000)

    states: list[Any] = []
    before: dict[str, Any] = {}
    at = 0
    for state in recording.states:
        now = rows(state, recording.began)
        states.append([ms(state.at) - at, changes(before, now)])
        before, at = now, ms(state.at)
    seen = {
        "states": states,
        "actions": [[ms(action.at), action.kind, action.broker, action.more] for action in recording.actions],
        "marks": [[ms(mark.at), mark.words] for mark in recording.marks],
        "missed": [[ms(missed.start), ms(missed.end), missed.words] for missed in recording.missed],
        "flows": [
            [f.client, f.kind, f.topic, f.partition, _bursts(f, recording.began)] for f in recording.flows
        ],
    }
    gaps = [
        asdict(gap) | {"start": ms(gap.start), "after": ms(gap.after.at) if gap.after else None}
        for gap in concluded
    ]
    whole = {"format": FORMAT, "about": ABOUT, "began": recording.began, "ended": ms(recording.ended)}
    return json.dumps(whole | {"seen": seen, "concluded": {"gaps": gaps}}, separators=(",", ":"))


def loads(text: str) -> RecordingData:
    """Return the recording. Raises ValueError, KeyError or TypeError if the text is not one."""
    whole = json.loads(text)
    if whole["format"] != FORMAT:
        raise ValueError(f"its format is {whole['format']!r}, and '{FORMAT}' was expected")
    began, seen = whole["began"], whole["seen"]

    def moment(ms: int) -> float:
        return round(float(began) + ms / 1000, 3)

    known: dict[str, Any] = {}
    states, at = [], 0
    for since, changed in seen["states"]:
        known = {name: row for name, row in {**known, **changed}.items() if row is not None}
        at += since
        states.append(state_of(known, moment(at), began))
    return RecordingData(
        began=began,
        ended=moment(whole["ended"]),
        states=tuple(states),
        actions=tuple(Action(moment(ms), *rest) for ms, *rest in seen["actions"]),
        marks=tuple(Mark(moment(ms), words) for ms, words in seen["marks"]),
        flows=tuple(Flow(c, k, t, p, _read_bursts(bursts, began)) for c, k, t, p, bursts in seen["flows"]),
        # Earlier versions kept silent about it.
        missed=tuple(Missed(moment(a), moment(b), words) for a, b, words in seen.get("missed", ())),
    )


def _bursts(flow: Flow, began: float) -> list[int]:
    told, at = [], 0
    for first, last, count in flow.bursts:
        start, end = round((first - began) * 1000), round((last - began) * 1000)
        told += [start - at, end - start, count]
        at = end
    return told


def _read_bursts(told: list[int], began: float) -> tuple[Burst, ...]:
    found, at = [], 0
    for since, length, count in zip(told[::3], told[1::3], told[2::3], strict=True):
        start, end = at + since, at + since + length
        found.append(Burst(round(began + start / 1000, 3), round(began + end / 1000, 3), count))
        at = end
    return tuple(found)
