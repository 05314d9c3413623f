"""The checks of lab 03, replication."""

from typing import Any

from confluent_kafka import Producer

from threebrokers.checks import lab03_damage as damage
from threebrokers.checks import lab03_writes as writes
from threebrokers.checks.reading import existing_topic, expect_topic, topic_setting
from threebrokers.lab.exercise import NotYet, eventually, exercise
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios import spread

TOPICS = (
    "failsafe",
    "small-a",
    "small-b",
    "small-c",
    "orders",
    *(f"copies-{copies}-least-{least}" for copies in (1, 2, 3) for least in range(1, copies + 1)),
    *damage.LEAST,
    *writes.LEAST,
    "films",
    "work",
    "slow",
    "unseen",
    "nearest",
)
GROUPS = ("greetings", "slow", "unseen", "nearest")


@exercise("3.1", "Survive one broker")
def survives_one_broker(lab: Lab, orders: str) -> str:
    """Solved if the topic has 13 partitions, three copies, and min.insync.replicas=2."""
    partitions = expect_topic(lab, orders, "orders").partitions
    copies, least = len(partitions[0].replicas), int(topic_setting(lab, orders, "min.insync.replicas"))
    if copies < 3:
        raise NotYet(
            f"'{orders}' keeps {copies} {'copy' if copies == 1 else 'copies'} of each partition",
            "two must be left when one broker is gone, so there should be 3",
            "replication_factor",
        )
    if least > 2:
        raise NotYet(
            f"min.insync.replicas is {least} of {copies} copies",
            "with one broker gone, only 2 are left and every write would be refused; it should be 2",
            "min.insync.replicas",
        )
    if least < 2:
        raise NotYet(
            f"min.insync.replicas is {least}",
            "an order would be acknowledged when one broker alone has it; it should be 2",
            'config={"min.insync.replicas": …}; the default is 1',
        )
    if len(partitions) != 13:
        raise NotYet(
            f"'{orders}' has {len(partitions)} partition{'s' * (len(partitions) != 1)}",
            "13 are asked for",
            "partitions=…",
        )
    return "any one broker may die: two copies remain, acks=all still writes, and each order is on two disks."


@exercise("3.2", "Count the damage")
def damage_counted(lab: Lab, under_replicated: int, under_min_isr: int, offline: int) -> str:
    """Solved if the three numbers are those that the cluster's metadata gives now."""
    partitions = damage.partitions(lab)
    damage.is_offline(partitions, offline)
    damage.is_under_replicated(partitions, under_replicated)
    damage.is_under_minimum(partitions, under_min_isr)
    return (
        f"{under_replicated} partitions have a copy too few, {under_min_isr} of them cannot be written with "
        f"acks=all, and {offline} cannot be read either; these are the three alarms of every Kafka cluster."
    )


@exercise("3.3", "Have a write refused")
def write_refused(lab: Lab, producer: Producer, errors: list[Any], why: str) -> str:
    """Solved if the last report is NOT_ENOUGH_REPLICAS, and the reason is the promise."""
    writes.is_refused(lab, producer, errors)
    writes.is_the_reason(why)
    return (
        "nothing was stored, and the producer knows it at once: it can keep the payment and try again, "
        "which is better than a payment that only one disk has."
    )


@exercise("3.4", "Put leadership back")
def leadership_back(lab: Lab, work: str, elected: dict[Any, Any]) -> str:
    """Solved if every partition is led by the first of its replicas, and these are spread as at first."""
    topic = existing_topic(lab, work) if work == lab.topic("work") else expect_topic(lab, work, "work")
    if not spread(topic):
        raise NotYet(
            "the order of the replicas has been changed, so the preferred leaders are not spread any more",
            "the order should stay, and the leaders should follow it",
            "elect_leaders, which changes leaders and nothing else; run the exercise's cell again",
        )

    def led() -> None:
        partitions = existing_topic(lab, work).partitions
        meant = [p.id for p in partitions if p.replicas[0] == 2]
        done = [p.id for p in partitions if p.replicas[0] == 2 == p.leader]
        wrong = [p.id for p in partitions if p.leader != p.replicas[0]]
        if wrong and not done:
            raise NotYet(
                f"broker 2 leads none of its partitions ({', '.join(map(str, meant))})",
                "a broker that starts again only follows, until somebody holds an election",
                "AdminClient.elect_leaders",
            )
        if wrong:
            raise NotYet(
                f"broker 2 leads {len(done)} of the partitions that broker 2 should lead ({len(meant)})",
                "all 13 partitions should be led by the first of their replicas",
                "the list of TopicPartition that you give to elect_leaders",
            )

    eventually(led, what="the leaders to change", within=2)
    if {place.partition for place in elected} != set(range(13)):
        raise NotYet(
            "the leaders are right, but `elected` is not the result for 13 partitions",
            "it should be what the election returned",
            "elect_leaders(…).result()",
        )
    return "every partition is led by its first replica again; the work is spread, and no record has moved."


@exercise("3.5", "Hide three records")
def records_hidden(lab: Lab, end: int, readable: int, waits_for: str) -> str:
    """Solved if the leader's log end is beyond the high watermark now, and the answers say so."""
    leader_end, watermark = writes.ends(lab)
    writes.is_hidden(leader_end, watermark)
    writes.are_the_ends(end, readable, leader_end, watermark)
    writes.is_waited_for(waits_for)
    writes.stays_so(lab)
    return (
        "the leader has the records, and nobody can read them before enough copies have them; "
        "so no reader ever acts on a record that dies with one broker."
    )
