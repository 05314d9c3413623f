"""Short names for members of a group and for what they read."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection
from math import floor, log10
from typing import Any

from threebrokers.kafka.state import ClusterState, GroupState, MemberState, PartitionState, TopicState, lag
from threebrokers.text import listed
from threebrokers.theme import REPLICAS, Look, state_look

MOST = 6


def member_names(group: GroupState) -> dict[str, str]:
    """Return a short name for each member's id: its client id, numbered where several have the same."""
    same = Counter(member.client for member in group.members)
    order: Counter[str] = Counter()
    names = {}
    for member in sorted(group.members, key=lambda m: m.id):
        order[member.client] += 1
        number = f" {order[member.client]}" if same[member.client] > 1 else ""
        names[member.id] = f"{member.client}{number}"
    return names


def share(member: MemberState) -> str:
    """Say what a member reads: "failsafe 0, 1, 2"; "nothing" if it is idle."""
    by_topic: dict[str, list[int]] = defaultdict(list)
    for topic, partition in member.partitions:
        by_topic[topic].append(partition)
    if not by_topic:
        return "nothing"
    return ", ".join(f"{topic} {_short(sorted(ids))}" for topic, ids in sorted(by_topic.items()))


def _short(ids: list[int]) -> str:
    if len(ids) > 2 and ids[-1] - ids[0] == len(ids) - 1:
        return f"{ids[0]}–{ids[-1]}"
    return ", ".join(map(str, ids[:MOST])) + (f" and {len(ids) - MOST} more" if len(ids) > MOST else "")


Cell = dict[str, Any]


def topic_frame(state: ClusterState, name: str, opened: bool, starting: Collection[int]) -> dict[str, Any]:
    """Return one topic; one that is not there now keeps its place and says so."""
    topic = state.topic(name)
    if topic is None:
        return {
            "name": name,
            "there": False,
            "summary": "there is no such topic now",
            "trouble": False,
            "rows": [],
            "open": opened,
        }
    low, high = _scale(topic)
    rows = [_row(state, p, low, high, starting) for p in topic.partitions] if opened else []
    return {
        "name": name,
        "there": True,
        "summary": topic_summary(topic),
        "trouble": any(p.leader is None or len(p.isr) < len(p.replicas) for p in topic.partitions),
        "rows": rows,
        "open": opened,
        "scale": [f"{low:,}", f"{high:,}"],
    }


def topic_summary(topic: TopicState) -> str:
    """Say in one line how a topic is."""
    every = topic.partitions
    count = f"{len(every)} partition{'' if len(every) == 1 else 's'}"
    alone = [p.id for p in every if p.leader is None]
    short = [p.id for p in every if len(p.isr) < len(p.replicas)]
    replicas = listed(sorted({len(p.replicas) for p in every}))
    if alone:
        return f"{count}; {len(alone)} without a leader"
    if short:
        return f"{count}; {len(short)} with fewer than {replicas} replicas in sync"
    return f"{count}; all {'replicas' if replicas != '1' else 'single replicas'} in sync"


def _row(
    state: ClusterState, p: PartitionState, low: int, high: int, starting: Collection[int]
) -> dict[str, Any]:
    brokers = [b.id for b in state.brokers]
    group = state.groups[0] if state.groups else None
    done = _committed(group, p) if group else None
    late = lag(state, group, p.topic, p.id) if group else None
    marks = {
        "start": p.log_start_offset,
        "committed": done,
        "readable": p.high_watermark,
        "end": p.log_end_offset,
    }
    return {
        "id": p.id,
        "copies": [copy_cell(state, p, broker, starting) for broker in brokers],
        "isr": [len(p.isr), len(p.replicas)],
        "short": len(p.isr) < len(p.replicas),
        "marks": {name: _percent(at, low, high) for name, at in marks.items()},
        "numbers": {name: "–" if at is None else f"{at:,}" for name, at in marks.items()},
        "lag": "–" if late is None else f"{late:,}",
        "reader": _reader(group, p) if group else "",
        "leaderless": p.leader is None,
    }


def copy_cell(state: ClusterState, p: PartitionState, number: int, starting: Collection[int]) -> Cell:
    """Say what one broker is to one partition: a sign, a word, and the whole in a sentence.

    `starting` are brokers whose silence is no alarm: they were started just now.
    """
    broker = state.broker(number)
    health = broker.state if broker else "down"
    ends = dict(p.log_end_offsets)
    behind = max(0, p.log_end_offset - ends[number]) if p.log_end_offset is not None and number in ends else 0
    count = f"{behind:,}" if behind else ""
    late = f", {behind:,} records behind the leader" if behind else ""
    if number not in p.replicas:
        return _cell("none", "has no replica")
    if number in p.stale_leaders:
        return _cell("claim", "believes that it leads, but a newer leader was elected")
    if health == "unknown" and number in starting:
        return _cell("start", "is starting", state_look("starting"))
    if health != "up":
        look = state_look(health)
        if p.leader == number:
            word = REPLICAS["leader"].word
            return _cell("lost", f"is {health}, and is still listed as the leader", look._replace(word=word))
        listed_too = ", and is still counted as in sync" if number in p.isr else ""
        return _cell("gone", f"is {health}{listed_too}", look)
    if p.leader == number:
        return _cell("leader", "leads")
    if number in p.isr:
        return _cell("sync", f"is in sync{late}", behind=count)
    return _cell("late", f"is not in sync{late}", behind=count)


def _cell(kind: str, sentence: str, look: Look | None = None, behind: str = "") -> Cell:
    sign, word, _ = look or REPLICAS[kind]
    return {"kind": kind, "sign": sign, "word": word, "sentence": sentence, "behind": behind}


def _reader(group: GroupState, p: PartitionState) -> str:
    names = member_names(group)
    return ", ".join(names[m.id] for m in group.members if (p.topic, p.id) in m.partitions)


def _committed(group: GroupState, p: PartitionState) -> int | None:
    return next((o for topic, partition, o in group.committed if (topic, partition) == (p.topic, p.id)), None)


def _scale(topic: TopicState) -> tuple[int, int]:
    """Return the offsets at both ends of the bars: round, so that they stay while records come."""
    every = [
        o
        for p in topic.partitions
        for o in (p.log_start_offset, p.high_watermark, p.log_end_offset)
        if o is not None
    ]
    if not every:
        return 0, 10
    low = min(every)
    step = 10 ** max(1, floor(log10(max(1, max(every) - low))))
    low -= low % step
    return low, low + next(n * step for n in (1, 2, 5, 10, 20) if low + n * step >= max(every))


def _percent(at: int | None, low: int, high: int) -> float | None:
    return None if at is None else round(100 * min(1.0, max(0.0, (at - low) / (high - low))), 1)


NO_COORDINATOR = "no coordinator"
# Kafka's words for a group's state, and what they mean.
STATES = {
    "Stable": "stable",
    "Empty": "nobody is in it",
    "Dead": "there is no such group yet",
    "PreparingRebalance": "its members are being counted",
    "CompletingRebalance": "its partitions are being shared",
    "Assigning": "its partitions are being shared",
    "Reconciling": "its members are changing over",
    NO_COORDINATOR: "no coordinator answers",
    "": "nothing is known of it yet",
}


def group_frame(state: ClusterState, group: GroupState) -> dict[str, Any]:
    """Return one group: a line about it, and a row for each member."""
    names = member_names(group)
    return {
        "name": group.name,
        "summary": group_summary(state, group),
        "members": [
            {"name": names[m.id], "share": share(m), "lag": _lag_text(member_lag(state, group, m.partitions))}
            for m in sorted(group.members, key=lambda m: _natural(names[m.id]))
        ],
    }


def _natural(name: str) -> list[tuple[int, str]]:
    """Return what sorts "reader 2" before "reader 10"."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", name)]


def group_summary(state: ClusterState, group: GroupState) -> str:
    """Say in one line how a group is."""
    now = STATES.get(group.state, group.state)
    unused = group.state == NO_COORDINATOR and not (group.members or group.committed)
    if unused and all(broker.state == "up" for broker in state.brokers):
        # The brokers name a coordinator when somebody asks to join, and not before.
        now = "nobody has joined it yet"
    at = f"; broker {group.coordinator} coordinates it" if group.coordinator is not None else ""
    everything = [(topic, partition) for topic, partition, _ in group.committed]
    late = member_lag(state, group, everything)
    return f"{now}{at}" + (f"; lag {late:,}" if late is not None else "")


def member_lag(state: ClusterState, group: GroupState, places: list[Any] | tuple[Any, ...]) -> int | None:
    """Return the lag of these (topic, partition) pairs together; None if it is known of none."""
    known = [late for place in places if (late := lag(state, group, *place)) is not None]
    return sum(known) if known else None


def _lag_text(late: int | None) -> str:
    return "–" if late is None else f"{late:,}"
