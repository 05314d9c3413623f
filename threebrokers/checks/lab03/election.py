"""Exercise 3.5: who leads after an election of the preferred leaders, said before it is held."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from confluent_kafka import ElectionType, TopicPartition

from threebrokers.checks.expect import existing_topic, expect_topic
from threebrokers.kafka.state import PartitionState
from threebrokers.lab.exercise import NotYet, eventually
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios import ORDERS
from threebrokers.text import have, listed

SECONDS = 5.0
AGAIN = "the exercise's cell: run it again"


def before_election(lab: Lab, work: str) -> tuple[PartitionState, ...]:
    """Return the six partitions as they are now. Raises NotYet if they are not as the cell left them."""
    topic = existing_topic(lab, work) if work == lab.topic("work") else expect_topic(lab, work, "work")
    partitions = topic.partitions
    if tuple(p.replicas for p in partitions) != ORDERS:
        raise NotYet(
            "the partitions of 'work' are not those of the exercise", "each order stands there once", AGAIN
        )
    away = sorted({b for p in partitions for b in set(p.replicas) - set(p.isr)})
    if away != [3]:
        raise NotYet(
            f"broker {listed(away)} {have(away)} replicas that are not in sync now"
            if away
            else "all replicas of 'work' are in sync now",
            "broker 3 alone should be away when the election is held",
            AGAIN,
        )
    return partitions


def elected(p: PartitionState) -> int | None:
    """Return who leads a partition after an election of the preferred leader."""
    return p.replicas[0] if p.replicas[0] in p.isr else p.leader


def as_leaders(after: Mapping[Any, Any] | list[Any], partitions: int = len(ORDERS)) -> dict[int, Any]:
    """Return the answer as one leader for each partition; NotYet if it does not name each once."""
    entries = [] if isinstance(after, Mapping) else after
    if pairs := [entry for entry in entries if isinstance(entry, tuple | list)]:
        raise NotYet(
            f"`after` holds {pairs[0]!r:.40} where the number of a broker should be",
            "it should be a dictionary, with a leader for each partition, or a list of the leaders",
            "dict(…) around it, if it holds pairs of a partition and its leader",
        )
    told = dict(after) if isinstance(after, Mapping) else dict(enumerate(after))
    named = {place: leader for place, leader in told.items() if isinstance(place, int)}
    missing = [p for p in range(partitions) if p not in named]
    if missing:
        raise NotYet(
            f"`after` says nothing of partition {listed(missing)}",
            f"it should name a leader for each of the partitions 0 to {partitions - 1}",
            "the keys of `after`, which are numbers of partitions",
        )
    if more := sorted(set(told) - set(range(partitions)), key=lambda place: (len(str(place)), str(place))):
        raise NotYet(
            f"`after` has an entry for {listed(more)}",
            f"'work' has the partitions 0 to {partitions - 1}",
            "the keys of `after`",
        )
    return named


def are_right(partitions: tuple[PartitionState, ...], answer: Mapping[int, Any]) -> None:
    """Raise NotYet, with the reason, at the first partition for which another leader is named."""
    for p in partitions:
        if answer[p.id] != elected(p):
            raise NotYet(*_mistake(p, answer[p.id]))


def _mistake(p: PartitionState, named: Any) -> tuple[str, str, str]:
    first, look = p.replicas[0], f"the replicas and the ISR of partition {p.id}"
    if named not in p.replicas:
        return (
            f"partition {p.id} is led by {named!r:.40} in your answer",
            "each has a leader after the election, and it is the number of one of its replicas",
            look,
        )
    if named not in p.isr:
        return (
            f"partition {p.id} is led by broker {named} in your answer, and that is not in sync",
            "only a replica in sync may be elected",
            look,
        )
    if first not in p.isr:
        return (
            f"partition {p.id} goes to broker {named} in your answer; its preferred leader, broker {first}, "
            "is away",
            "this election gives leadership to the preferred leader or changes nothing",
            look,
        )
    if p.leader == first:
        return (
            f"partition {p.id} goes to broker {named} in your answer; its preferred leader leads already",
            "then nothing changes",
            look,
        )
    return (
        f"partition {p.id} goes to broker {named} in your answer; its preferred leader, broker {first}, "
        "is in sync again",
        "then it is elected",
        look,
    )


def hold(lab: Lab, work: str, answer: Mapping[int, Any]) -> None:
    """Hold the election, and compare its result with the answer. Raises NotYet, KafkaException."""
    everyone = [TopicPartition(work, partition) for partition in answer]
    with suppress(TimeoutError):  # it may have been held all the same: the topic tells
        lab.admin().elect_leaders(ElectionType.PREFERRED, everyone).result(SECONDS)

    def so() -> None:
        for p in existing_topic(lab, work).partitions:
            if p.leader != answer[p.id]:
                raise NotYet(
                    f"the election was held, and broker {p.leader} leads partition {p.id}",
                    f"you said broker {answer[p.id]}; a broker came or went meanwhile",
                    AGAIN,
                )

    eventually(so, what="all to know the new leaders", within=3)
