"""What the checks of lab 01 ask of a list of messages and of the consumer that read them."""

from typing import Any

from confluent_kafka import Consumer, Message, Producer

from threebrokers.checks.expect import committed, existing_topic, log_of, messages_only
from threebrokers.kafka.log_reader import Record
from threebrokers.lab.exercise import NotYet, eventually, exercise
from threebrokers.lab.lab import Lab
from threebrokers.text import counted

GREETINGS = 10
Place = tuple[Any, Any]  # partition and offset, both numbers in a message that is stored


def settings(consumer: Consumer) -> tuple[str, str]:
    """Return the consumer's group and where that group begins if it has no place yet."""
    config = getattr(consumer, "config", None)
    if not isinstance(config, dict):
        raise NotYet("`consumer` was not made by the lab", "it should be", "lab.consumer({…})")
    return str(config.get("group.id", "")), str(config.get("auto.offset.reset", "latest"))


def ten_greetings(lab: Lab, topic: str) -> list[Record]:
    """Return the log of a topic; NotYet unless it holds what the exercise put there."""
    log = log_of(lab, topic)
    if len(log) != GREETINGS:
        raise NotYet(
            f"the topic {topic!r} holds {counted(len(log), 'record')}",
            f"it should hold the {GREETINGS} that the cell of the exercise puts there",
            "that cell: run it again from its first line",
        )
    return log


def messages_of(values: list[Message], name: str, topic: str, look_at: str) -> list[Message]:
    """Return the values if each is a record that is stored in the topic; NotYet names what is not."""
    told = messages_only(name, list(values), look_at)
    for message in told:
        fault = message.error()
        if fault is not None:
            raise NotYet(
                f"`{name}` holds an error where a record should be ({fault.str()})",
                f"each record should be stored in {topic!r}",
                look_at,
            )
        if message.topic() != topic:
            raise NotYet(
                f"`{name}` holds records of the topic {message.topic()!r}",
                f"they should be of {topic!r}",
                look_at,
            )
    return told


def places_of(messages: list[Message], name: str, topic: str) -> list[Place]:
    """Return where the messages are stored; NotYet if one is no message of the topic, or there twice."""
    told = messages_of(messages, name, topic, "the topic's name in your code, and what the list holds")
    places = [place(message) for message in told]
    if len(set(places)) != len(places):
        raise NotYet(
            f"`{name}` holds some records twice", "each should be there once", f"what you put into `{name}`"
        )
    return places


def in_order(places: list[Place]) -> None:
    """Raise NotYet unless the offsets of each partition rise."""
    for partition in {partition for partition, _ in places}:
        offsets = [offset for p, offset in places if p == partition]
        if offsets != sorted(offsets):
            raise NotYet(
                f"the records of partition {partition} are not in the order of their offsets",
                "keep the order in which they came",
                "what you do with the records after reading",
            )


def place(message: Message) -> Place:
    """Return where a record is stored."""
    return message.partition(), message.offset()


TOPICS = ("helloworld", "hello-world", "hello", "greetings", "greeting", "letters", "postcards")
GROUPS = ("late", "reports", "search", "visitors", "collectors", "others")
FROM_THE_START = ("earliest", "smallest", "beginning")


@exercise("1.1", "Create the topic")
def topic_created(lab: Lab, topic: str) -> str:
    """Three partitions with three replicas each, under the right name."""
    wanted = lab.topic("helloworld")
    if topic != wanted:
        raise NotYet(f"the topic is named {topic!r}", f"it should be {wanted!r}", "the name in NewTopic(…)")

    def created() -> list[tuple[int, ...]]:
        found = lab.cluster.state([wanted]).topic(wanted)
        if found is None:
            raise NotYet(
                f"the brokers know no topic {wanted!r}",
                "a name alone creates nothing",
                "admin.create_topics([…]), and .result() of what it returns, which says why not",
            )
        return [p.replicas for p in found.partitions]

    replicas = eventually(created, what=f"the topic '{wanted}'", within=3)
    if len(replicas) != 3:
        raise NotYet(
            f"{wanted!r} has {counted(len(replicas), 'partition')}",
            "with 3 partitions each of the three brokers can lead one",
            "num_partitions in NewTopic(…)",
        )
    if len(replicas[0]) != 3:
        raise NotYet(
            f"{wanted!r} has {counted(len(replicas[0]), 'replica')} of each partition",
            "with 3 replicas each broker has one, and the records survive the loss of a broker",
            "replication_factor in NewTopic(…)",
        )
    return "each broker can lead one partition, and every broker has each record."


@exercise("1.2", "Send ten greetings")
def greetings_sent(lab: Lab, topic: str, producer: Producer, reports: list[Message]) -> str:
    """Ten records in the log, and a delivery report of each."""
    _named(lab, topic, "greetings")
    if not reports:
        raise _no_reports(producer, len(log_of(lab, topic)))
    told = messages_of(reports, "reports", topic, "produce(…) and its on_delivery function")
    _counts(len(log_of(lab, topic)), len(told), len(producer))

    def stored() -> None:
        log = {(r.partition, r.offset): r.value for r in log_of(lab, topic)}
        if {(m.partition(), m.offset()): m.value() for m in told} != log:
            raise NotYet(
                "the log and your reports do not tell of the same records",
                "each stored record should have one report",
                "produce(…, on_delivery=…): run the whole cell again",
            )

    eventually(stored, what="the log to hold what the reports say", within=3)
    return "the brokers hold the ten at just the places that the reports name, so none was lost."


@exercise("1.3", "Read them all from the start")
def read_from_start(lab: Lab, messages: list[Message], consumer: Consumer) -> str:
    """Every record of the log, in order of offset in each partition."""
    topic, group, reset = lab.topic("letters"), *settings(consumer)
    log = ten_greetings(lab, topic)
    got = places_of(messages, "messages", topic)
    missing = [(r.partition, r.offset) for r in log if (r.partition, r.offset) not in got]
    if missing:
        done = committed(lab, group, topic)
        if any(offset < done.get(partition, 0) for partition, offset in missing):
            raise NotYet(
                f"the group {group!r} has read {topic!r} before",
                "a group goes on where it stopped, so this takes a group with a new name",
                "group.id; the cell has a new name in `group`",
            )
        if not got and reset not in FROM_THE_START:
            raise NotYet(
                "your consumer began at the end of the topic and found nothing new",
                f"a new group begins where auto.offset.reset says, and that is {reset!r} here",
                "auto.offset.reset",
            )
        raise NotYet(
            f"`messages` holds {len(got)} of the {GREETINGS} records",
            "an empty poll says only that nothing has arrived yet, not that the topic ends",
            "the place where your reading stops: how long does it wait?",
        )
    in_order(got)
    return "a new group began at the first offset, and each partition gave its records in order."


@exercise("1.4", "Read them a second time")
def read_again(lab: Lab, group: str, first: list[Message], again: list[Message], consumer: Consumer) -> str:
    """The same records once more, by the same group."""
    topic, own, _ = lab.topic("postcards"), *settings(consumer)
    log = ten_greetings(lab, topic)
    before = messages_only("first", list(first), "the cell of the exercise: run it again")
    if [r.timestamp for r in log] != [m.timestamp()[1] for m in sorted(before, key=place)]:
        raise NotYet(
            f"the records in {topic!r} are not those of the first reading",
            "the topic should stay as it is: only the group should go back",
            "what creates the topic, or sends to it, after the first reading",
        )
    if own != group:
        raise NotYet(
            f"your consumer belongs to the group {own!r}",
            f"it should be {group!r}, the group that has read them once",
            "group.id",
        )
    done = committed(lab, group, topic)
    if not done:
        raise NotYet(
            f"the brokers know no place of the group {group!r} in {topic!r}",
            "it should be the group of the first reading",
            "`group`: the cell sets it, so run the cell again",
        )
    if {id(m) for m in again} & {id(m) for m in first}:
        raise NotYet(
            "`again` holds what `first` holds", "the second reading should come from the brokers", "`again`"
        )
    got = places_of(again, "again", topic)
    if not got and sum(done.values()) == GREETINGS:
        raise NotYet(
            "the group stands at the end of every partition, so there was nothing left to read",
            "its place, the committed offset of each partition, should go back to 0 first",
            "consumer.commit(offsets=…) or the offsets in assign(…)",
        )
    if len(got) != GREETINGS:
        raise NotYet(
            f"`again` holds {len(got)} of the {GREETINGS} records",
            "the group should go back to offset 0 in every partition, and read until all have come",
            "which partitions go back, and how long the reading waits",
        )
    in_order(got)
    return "reading removed nothing, and the place of a group is only a number that can be set back."


def _named(lab: Lab, topic: str, wanted: str) -> None:
    if topic != lab.topic(wanted):
        raise NotYet(
            f"the topic is {topic!r}",
            f"it should be {lab.topic(wanted)!r}",
            "the cell of the exercise, above",
        )
    existing_topic(lab, topic)


def _no_reports(producer: Producer, stored: int) -> NotYet:
    waiting, patience = len(producer), getattr(producer, "flushed", None)
    if waiting and patience is not None:
        return NotYet(
            f"flush({patience:g}) did not wait for the answers, and `reports` is empty",
            "without a number flush() waits until every record has its report",
            "flush(…)",
        )
    if waiting:
        return NotYet(
            f"{waiting} records have no report yet, for your program has not asked for one",
            "the producer hands reports over inside flush() and poll() only",
            "the end of your code: is there a flush()?",
        )
    if stored:
        return NotYet(
            f"{counted(stored, 'record')} arrived, but `reports` is empty",
            "your code should keep each report",
            "on_delivery in produce(…)",
        )
    return NotYet("nothing was sent", f"{GREETINGS} records should be in the topic", "produce(…)")


def _counts(stored: int, told: int, late: int) -> None:
    if stored > GREETINGS:
        raise NotYet(
            f"the topic holds {stored} records",
            f"it should hold {GREETINGS}",
            "how often produce(…) runs; the whole cell begins with an empty topic",
        )
    if told != GREETINGS:
        raise NotYet(
            f"`reports` holds {counted(told, 'report')}"
            + (f", and {late} are still to come" if late else ""),
            f"it should hold {GREETINGS}, one for each record",
            "how often produce(…) runs, and flush() after it",
        )
