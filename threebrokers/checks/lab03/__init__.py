"""The checks of lab 03: topics that lose replicas, and what their partitions say then."""

from typing import Annotated, Any

from confluent_kafka import Producer

from threebrokers.checks.expect import TopicName, Word, expect_choice, expect_topic, setting_of
from threebrokers.checks.lab03.damage import (
    damage_now,
    is_each_counted,
    is_of_all,
    is_offline,
    is_under_minimum,
    is_under_replicated,
)
from threebrokers.checks.lab03.election import are_right, as_leaders, before_election, hold
from threebrokers.checks.lab03.hidden import (
    NOT_WAITING,
    QUORUM,
    are_hidden,
    are_the_ends,
    ends,
    least_in_sync,
    stay_hidden,
)
from threebrokers.checks.lab03.refused import NOT_WHY, is_refused
from threebrokers.lab.exercise import NotYet, exercise
from threebrokers.lab.lab import Lab
from threebrokers.text import counted

# None is what a leader's offset is in the moment when nobody tells it: no wrong kind of answer.
Offset = Annotated[int | None, "a whole number"]
# None says that nobody leads: a wrong answer, and no wrong kind of one.
Leader = int | None
LEAST_IN_SYNC = "min.insync.replicas"


@exercise("3.1", "Survive one broker")
def survives_one_broker(lab: Lab, orders: TopicName) -> str:
    """Solved if the topic has 13 partitions, three replicas, and asks for two of them in sync."""
    partitions = expect_topic(lab, orders, "orders").partitions
    least = setting_of(lab, orders, LEAST_IN_SYNC)
    is_safe(orders, len(partitions), len(partitions[0].replicas), int(least.value), least.own)
    return (
        "any one broker may die: two replicas remain, acks=all still writes, and each order that was "
        "acknowledged is on two brokers."
    )


def is_safe(name: str, partitions: int, replicas: int, least: int, own: bool) -> None:
    """Raise NotYet unless a topic of these numbers survives one broker.

    `own` tells whether the topic itself asks for `least` replicas in sync.
    """
    if replicas < 3:
        raise NotYet(
            f"'{name}' keeps {counted(replicas, 'replica')} of each partition",
            "two must be left when one broker is gone, so there should be 3",
            "replication_factor",
        )
    if least > 2:
        raise NotYet(
            f"{LEAST_IN_SYNC} is {least} of {replicas} replicas",
            "with one broker gone, only 2 are left and every write would be refused; it should be 2",
            LEAST_IN_SYNC,
        )
    if least < 2:
        raise NotYet(
            f"{LEAST_IN_SYNC} is {least}",
            "an order would be acknowledged when one broker alone has it; it should be 2",
            'config={"min.insync.replicas": …}; the default is 1',
        )
    if not own:  # a default outlives this lab: from then on it would solve the exercise for everybody
        raise NotYet(
            f"{LEAST_IN_SYNC} is 2 because the whole cluster says so, not '{name}'",
            "the topic itself should say it: who changes the cluster's default must not change the orders",
            'config={"min.insync.replicas": …} of the topic',
        )
    if partitions != 13:
        raise NotYet(f"'{name}' has {counted(partitions, 'partition')}", "13 are asked for", "partitions=…")


@exercise("3.2", "Count the damage")
def damage_counted(lab: Lab, under_replicated: int, under_min_isr: int, offline: int) -> str:
    """Solved if the three numbers are those that the cluster's metadata gives now."""
    found = damage_now(lab)
    is_each_counted(found, under_replicated, under_min_isr, offline)
    is_of_all(found, under_replicated, under_min_isr, offline)
    is_offline(found, offline)
    is_under_replicated(found, under_replicated)
    is_under_minimum(found, under_min_isr)
    return (
        f"{under_replicated} partitions have a replica too few, {under_min_isr} of them cannot be written "
        f"with acks=all, and {offline} cannot be read either."
    )


@exercise("3.3", "Have a write refused")
def write_refused(lab: Lab, writer: Producer, errors: list[Any], why: Word) -> str:
    """Solved if the last report is NOT_ENOUGH_REPLICAS, and the reason is the promise."""
    is_refused(lab, writer, errors)
    expect_choice("why", why, "promise", NOT_WHY)
    return (
        "nothing was stored, and the producer knows it at once: it can keep the payment and try again, "
        "which is better than a payment that only one broker has."
    )


@exercise("3.4", "Hide three records", errors=QUORUM)
def records_hidden(lab: Lab, log_end_offset: Offset, high_watermark: Offset, waits_for: Word) -> str:
    """Solved if the leader's log goes three records beyond the high watermark, and the answers say so."""
    leader_end, watermark = ends(lab)
    least = least_in_sync(lab)
    are_hidden(lab, leader_end, watermark, least)
    are_the_ends(log_end_offset, high_watermark, leader_end, watermark)
    expect_choice("waits_for", waits_for, "replicas", NOT_WAITING)
    stay_hidden(lab, least)
    return (
        "the leader has the records, and nobody can read them before enough replicas have them; "
        "so no reader ever acts on a record that dies with one broker."
    )


@exercise("3.5", "Say who leads after the election")
def leaders_foretold(lab: Lab, work: str, after: dict[int, Leader] | list[Leader]) -> str:
    """Solved if an election of the preferred leaders, held now, has the result that was foretold."""
    partitions = before_election(lab, work)
    answer = as_leaders(after)
    are_right(partitions, answer)
    hold(lab, work, answer)
    return (
        "the election was held, and it came as you said: the preferred leader leads where it is in sync, "
        "nothing changes where it is away, and no record has moved."
    )
