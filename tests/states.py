"""States written by hand: three brokers, one topic of 13 partitions, a group."""

from dataclasses import replace
from typing import Any

from threebrokers.kafka.state import (
    BrokerState,
    ClusterState,
    GroupState,
    MemberState,
    PartitionState,
    TopicState,
)

LEADERS = (1, 3, 2, 3, 1, 2, 1, 2, 3, 1, 2, 3, 2)


def broker(number: int, state: str = "up", **more: Any) -> BrokerState:
    facts = {
        "since": 0.0,
        "registered": state == "up",
        "address": f"127.0.0.1:{number}9092",
        "rss": 204 << 20,
    }
    return BrokerState(number, state, **(facts | ({"rss": 0} if state == "down" else {}) | more))


def partition(number: int, leader: int | None, isr: Any = (1, 2, 3), **more: Any) -> PartitionState:
    end = 300 + number * 37 % 120
    facts = {"leader_epoch": 0, "replicas": (1, 2, 3), "log_start_offset": 0, "high_watermark": end}
    facts["log_end_offsets"] = tuple((n, end) for n in isr)
    return PartitionState("failsafe", number, leader, isr=tuple(isr), **(facts | more))


def topic(*partitions: PartitionState, name: str = "failsafe") -> TopicState:
    return TopicState(name, tuple(replace(p, topic=name) for p in partitions))


def failsafe(leaders: Any = LEADERS, isr: Any = (1, 2, 3), **more: Any) -> TopicState:
    return topic(*(partition(n, leader, isr, **more) for n, leader in enumerate(leaders)))


def member(name: str, *partitions: int, client: str = "") -> MemberState:
    return MemberState(name, client or name, tuple(("failsafe", p) for p in partitions))


def group(
    *members: MemberState, state: str = "Stable", coordinator: int | None = 1, read: int = 250
) -> GroupState:
    committed = tuple(("failsafe", p, read) for p in range(13))
    return GroupState("alerts", state, coordinator, members, committed)


def state(at: float = 0.0, down: Any = (), **more: Any) -> ClusterState:
    """All is well, but for the brokers that are down (which the others know)."""
    facts: dict[str, Any] = {
        "brokers": tuple(broker(n, "down" if n in down else "up") for n in (1, 2, 3)),
        "quorum_leader": 1,
        "quorum_leader_epoch": 4,
        "topics": (failsafe(),),
        "last_response_at": at,
    }
    return ClusterState(at, **(facts | more))


def after_a_kill(at: float, leaders: Any = None) -> ClusterState:
    """Broker 2 is down, the others have taken over."""
    taken = leaders or tuple(1 + 2 * (n % 2) if leader == 2 else leader for n, leader in enumerate(LEADERS))
    return state(at, down=(2,), topics=(failsafe(taken, isr=(1, 3), leader_epoch=1),))
