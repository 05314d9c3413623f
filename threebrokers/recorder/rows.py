"""One sight as rows of plain values by name, so that two sights can be compared row by row."""

from collections.abc import Mapping
from typing import Any

from threebrokers.kafka.state import BrokerSight, GroupSight, MemberSight, PartitionSight, Sight, TopicSight

Rows = Mapping[str, Any]


def rows(sight: Sight, began: float) -> dict[str, Any]:
    """Return the sight as rows; its own time is not in them, other times are in ms since `began`.

    Offsets move all the time and leaders seldom, so they stand in rows of their own. What a group
    committed must be in order of topics.
    """

    def ms(at: float) -> int:
        return round((at - began) * 1000)

    told: dict[str, Any] = {"quorum": [sight.quorum_leader, sight.quorum_epoch]}
    told["names"] = [[t.name for t in sight.topics], [g.name for g in sight.groups]]
    if sight.heard != sight.at:
        told["heard"] = ["never" if sight.heard is None else ms(sight.heard)]
    for b in sight.brokers:
        told[f"broker {b.id}"] = [b.state, ms(b.since), b.registered, b.address, b.rss]
    for topic in sight.topics:
        for p in topic.partitions:
            held = [p.leader, p.epoch, list(p.replicas), list(p.isr), list(p.claims)]
            told[f"topic {topic.name}/{p.id}"] = held
            told[f"at {topic.name}/{p.id}"] = [p.start, p.readable, *(n for end in p.ends for n in end)]
    for g in sight.groups:
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


def sight_of(told: Rows, at: float, began: float) -> Sight:
    """Return the sight at time `at` (s) that these rows tell. Raises KeyError or TypeError."""

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
    return Sight(
        at=at,
        brokers=tuple(
            BrokerSight(int(number), state, moment(since), registered, address, rss)
            for number, (state, since, registered, address, rss) in sorted(named("broker ").items())
        ),
        quorum_leader=told["quorum"][0],
        quorum_epoch=told["quorum"][1],
        topics=tuple(
            TopicSight(
                name,
                tuple(
                    _partition(name, number, row, told[f"at {name}/{number}"])
                    for number, row in sorted(places.get(name, {}).items())
                ),
            )
            for name in topics
        ),
        groups=tuple(_group(name, told[f"group {name}"], told[f"committed {name}"]) for name in groups),
        heard=at if heard is None else None if heard == "never" else moment(heard),
    )


def _partition(topic: str, number: int, held: Any, offsets: Any) -> PartitionSight:
    leader, epoch, replicas, isr, claims = held
    start, readable, *ends = offsets
    return PartitionSight(
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
    )


def _group(name: str, row: Any, committed: Any) -> GroupSight:
    state, coordinator, members = row
    return GroupSight(
        name,
        state,
        coordinator,
        tuple(MemberSight(i, client, tuple((t, p) for t, p in places)) for i, client, places in members),
        tuple(
            (topic, partition, offset)
            for topic, told in committed.items()
            for partition, offset in zip(told[::2], told[1::2], strict=True)
        ),
    )
