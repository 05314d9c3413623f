"""Checks of lab 01: topics, delivery reports, and what consumers of a group have read."""

from collections import Counter
from typing import Any

from confluent_kafka import Consumer, Message, Producer

from threebrokers.checks.expect import committed, existing_topic, log_of, messages_only
from threebrokers.checks.expect_clients import expect_consumer, group_of, received
from threebrokers.checks.lab01.readings import (
    beyond_the_end,
    came_late,
    has_read_before,
    is_another_reading,
    is_in_order,
    is_of_group,
    messages_of,
    nothing_came,
    place_of,
    places_of,
    read_nothing,
    reads,
    shared,
    some_missing,
    ten_greetings,
    where,
)
from threebrokers.checks.lab01.sending import (
    GREETINGS,
    is_counted,
    is_of_each,
    no_record,
    no_reports,
    unreported,
)
from threebrokers.kafka.clients import LabProducer
from threebrokers.kafka.log_reader import Record
from threebrokers.kafka.state import PartitionState
from threebrokers.lab.exercise import NotYet, eventually, exercise
from threebrokers.lab.lab import Lab
from threebrokers.lab.outage import no_answer
from threebrokers.lab.values import told as what_is
from threebrokers.text import counted

PARTITIONS, REPLICAS = 3, 3
FIRST = "the exercise's cell: run it again"
TEXT = {
    "'str' object has no attribute 'topic'": (
        "create_topics([…]) takes objects of NewTopic, and text is none",
        "what is in the list: NewTopic(name, …)",
    )
}
SEEK = {
    "Failed to seek": (
        "seek() works only while the consumer holds the partition, and subscribe() alone gives it none",
        "commit(offsets=…) before you subscribe, or the offsets in assign(…)",
    )
}


@exercise("1.1", "Send ten greetings")
def greetings_sent(lab: Lab, greetings: str, sender: Producer, reports: list[Message]) -> str:
    """Ten records in the log, and a delivery report of each."""
    if greetings != lab.topic("greetings"):
        raise NotYet(
            f"the topic is {greetings!r}",
            f"it should be {lab.topic('greetings')!r}",
            "the first lines of the exercise's cell",
        )
    existing_topic(lab, greetings)
    senders = list(dict.fromkeys([*lab.producers(), sender]))
    late = sum(unreported(one, greetings) for one in senders)
    if not reports:
        elsewhere = sender.unreported_topics() if isinstance(sender, LabProducer) else []
        raise no_reports(senders, late, len(log_of(lab, greetings)), elsewhere)
    if any(report is None for report in reports):
        raise no_record(sender, reports)
    told = messages_of(reports, "reports", greetings, "produce(…) and its on_delivery function")
    if any(message.latency() is None for message in told):  # only a producer knows how long it took
        raise NotYet(
            "`reports` holds records that a consumer has read",
            "the producer gives a report of each record that it has sent, without a consumer",
            "on_delivery in produce(…)",
        )
    is_counted(len(log_of(lab, greetings)), len(told), late)
    is_of_each([place_of(message) for message in told])

    eventually(lambda: _stored(lab, greetings, told), what="the log to hold what the reports say", within=3)
    return "the brokers hold the ten at just the places that the reports name, so none was lost."


def _stored(lab: Lab, topic: str, told: list[Message]) -> None:
    log = {(r.partition, r.offset): r.value for r in log_of(lab, topic)}
    if {place_of(m): m.value() for m in told} != log:
        raise NotYet(
            "the log and your reports do not tell of the same records",
            "each stored record should have one report",
            "produce(…, on_delivery=…): run the whole cell again",
        )


@exercise("1.2", "Read them all from the start")
def read_from_start(lab: Lab, visitors: str, reader: Consumer, messages: list[Message]) -> str:
    """Every record of the log, read by this group, in order of offset in each partition."""
    topic = lab.topic("letters")
    log = ten_greetings(lab, topic)
    expect_consumer("reader", reader)
    is_of_group(reader, visitors, "visitors", "the group that nobody has used")
    got = places_of(log, messages, "messages", topic)
    missing = [place for place in map(where, log) if place not in got]
    if missing:
        done = committed(lab, visitors, topic)
        if any(offset < done.get(partition, 0) for partition, offset in missing) and not received(reader):
            raise NotYet(
                f"the group {visitors!r} has read {topic!r} before",
                "a group goes on where it stopped, so this takes a group with a new name",
                "group.id, and whether your code reads twice; the whole cell, run again, makes a new name",
            )
        if found := shared(lab, reader, visitors, got):
            raise found
        if not got and not received(reader):
            raise nothing_came(lab, reader, visitors, topic)
        raise some_missing(reader, got, missing, "messages")
    if received(reader) == 0:
        raise read_nothing("reader", "messages")
    is_in_order(got)
    return "a new group began at the first offset, and each partition gave its records in order."


@exercise("1.3", "Create the topic", errors=TEXT)
def topic_created(lab: Lab, helloworld: Any) -> str:
    """Three partitions with three replicas each, each broker the first of one, under the right name."""
    if not isinstance(helloworld, str):
        raise NotYet(
            f"`helloworld` is {what_is(helloworld)}",
            "it should be the topic's name, which is text",
            "the line `helloworld = …`; what create_topics(…) and result() return is not the name",
        )
    wanted = lab.topic("helloworld")
    if helloworld != wanted:
        raise _other_name(lab, helloworld, wanted)

    def created() -> tuple[PartitionState, ...]:
        state = lab.cluster.state([wanted])
        if state.last_response_at is None:
            raise no_answer(lab)
        found = state.topic(wanted)
        if found is None:
            raise NotYet(
                f"the brokers know no topic {wanted!r}",
                "create_topics(…) asks for it, and they may refuse; with validate_only they only look",
                "result() of the future that create_topics(…) returns for the name: it says why not",
            )
        return found.partitions

    _laid_out(wanted, eventually(created, what=f"the topic '{wanted}'", within=3))
    return (
        "each broker leads one partition, and each has every record; "
        "what the brokers refuse is told to whoever asks for the result, and to nobody else."
    )


def _other_name(lab: Lab, name: str, wanted: str) -> NotYet:
    """Say that the name is another one, and where: if the wanted topic is there, NewTopic(…) has its name."""
    if lab.cluster.state([wanted]).topic(wanted) is not None:
        found, expected = (
            f"`helloworld` is {name!r}",
            f"it should be {wanted!r}, and a topic of that name is there",
        )
        return NotYet(found, expected, "the line `helloworld = …`")
    return NotYet(f"the topic is named {name!r}", f"it should be {wanted!r}", "the name in NewTopic(…)")


def _laid_out(name: str, found: tuple[PartitionState, ...]) -> None:
    """Raise NotYet unless each of the three brokers is the first of one partition and has them all."""
    if len(found) != PARTITIONS:
        few = "not each of the three brokers could lead one"
        raise NotYet(
            f"{name!r} has {counted(len(found), 'partition')}",
            few if len(found) < PARTITIONS else "some brokers would lead more than one",
            "num_partitions in NewTopic(…)",
        )
    fewest = min(len(p.replicas) for p in found)
    if fewest != REPLICAS:
        raise NotYet(
            f"{name!r} has {counted(fewest, 'replica')} of each partition",
            "each of the three brokers should have every record",
            "replication_factor in NewTopic(…)",
        )
    (broker, count), *_ = Counter(p.replicas[0] for p in found).most_common()
    if count > 1:
        raise NotYet(
            f"broker {broker} leads {count} partitions of {name!r}",
            "each broker should lead one",
            "replica_assignment: the first broker of each list leads",
        )


@exercise("1.4", "Read them a second time", errors=SEEK)
def read_again(
    lab: Lab, collectors: str, first: list[Message], again: list[Message], collector: Consumer
) -> str:
    """The same records once more, by the same group."""
    topic = lab.topic("postcards")
    log = ten_greetings(lab, topic)
    expect_consumer("collector", collector)
    _are_still_there(log, first, topic)
    is_of_group(collector, collectors, "collectors", "the group that has read them once")
    done = committed(lab, collectors, topic)
    others = [group_of(one, "") for one in lab.consumers() if one is not collector and received(one)]
    has_read_before(lab, collectors, topic, others, done)
    is_another_reading(first, again)
    got = places_of(log, again, "again", topic)
    missing = [place for place in map(where, log) if place not in got]
    if not got and not received(collector) and sum(done.values()) == GREETINGS and reads(collector):
        raise NotYet(
            "the group is at the end of every partition, so there was nothing left to read",
            "its place, the committed offset of each partition, should go back to 0 first",
            "commit(offsets=…) before you subscribe, or the offsets in assign(…)",
        )
    if not got and not received(collector):
        raise (
            beyond_the_end(log, done)
            or came_late(collector, done)
            or nothing_came(lab, collector, collectors, topic)
        )
    if missing:
        raise some_missing(collector, got, missing, "again")
    if received(collector) == 0:
        raise read_nothing("collector", "again")
    is_in_order(got)
    return "reading removed nothing, and the place of a group is only a number that can be set back."


def _are_still_there(log: list[Record], first: list[Message], topic: str) -> None:
    """Raise NotYet unless the first reading had all ten, and the log holds just these."""
    before = messages_only("first", list(first), FIRST)
    if len(before) < GREETINGS:
        raise NotYet(
            f"`first` holds {len(before)} of the {GREETINGS} records",
            "the first reading should have them all",
            FIRST,
        )
    if [r.timestamp for r in log] != [m.timestamp()[1] for m in sorted(before, key=place_of)]:
        raise NotYet(
            f"the records in {topic!r} are not those of the first reading",
            "the topic should stay as it is: only the group should go back",
            "what creates the topic, or sends to it, after the first reading",
        )
