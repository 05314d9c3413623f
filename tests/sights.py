"""Sights written by hand: three brokers, one topic of 13 partitions, a group."""

from dataclasses import replace
from typing import Any

from threebrokers.kafka.state import BrokerSight, GroupSight, MemberSight, PartitionSight, Sight, TopicSight

LEADERS = (1, 3, 2, 3, 1, 2, 1, 2, 3, 1, 2, 3, 2)


def broker(number: int, state: str = "up", **more: Any) -> BrokerSight:
    facts = {
        "since": 0.0,
        "registered": state == "up",
        "address": f"127.0.0.1:{number}9092",
        "rss": 204 << 20,
    }
    return BrokerSight(number, state, **(facts | ({"rss": 0} if state == "down" else {}) | more))


def partition(number: int, leader: int | None, isr: Any = (1, 2, 3), **more: Any) -> PartitionSight:
    end = 300 + number * 37 % 120
    facts = {"epoch": 0, "replicas": (1, 2, 3), "start": 0, "readable": end}
    facts["ends"] = tuple((n, end) for n in isr)
    return PartitionSight("failsafe", number, leader, isr=tuple(isr), **(facts | more))


def topic(*partitions: PartitionSight, name: str = "failsafe") -> TopicSight:
    return TopicSight(name, tuple(replace(p, topic=name) for p in partitions))


def failsafe(leaders: Any = LEADERS, isr: Any = (1, 2, 3), **more: Any) -> TopicSight:
    return topic(*(partition(n, leader, isr, **more) for n, leader in enumerate(leaders)))


def member(name: str, *partitions: int, client: str = "") -> MemberSight:
    return MemberSight(name, client or name, tuple(("failsafe", p) for p in partitions))


def group(
    *members: MemberSight, state: str = "Stable", coordinator: int | None = 1, read: int = 250
) -> GroupSight:
    committed = tuple(("failsafe", p, read) for p in range(13))
    return GroupSight("alerts", state, coordinator, members, committed)


def sight(at: float = 0.0, down: Any = (), **more: Any) -> Sight:
    """All is well, but for the brokers that are down (which the others know)."""
    facts: dict[str, Any] = {
        "brokers": tuple(broker(n, "down" if n in down else "up") for n in (1, 2, 3)),
        "quorum_leader": 1,
        "quorum_epoch": 4,
        "topics": (failsafe(),),
        "heard": at,
    }
    return Sight(at, **(facts | more))


def after_a_kill(at: float, leaders: Any = None) -> Sight:
    """Broker 2 is down, the others have taken over."""
    taken = leaders or tuple(1 + 2 * (n % 2) if leader == 2 else leader for n, leader in enumerate(LEADERS))
    return sight(at, down=(2,), topics=(failsafe(taken, isr=(1, 3), epoch=1),))
