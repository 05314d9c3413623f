"""Exercise 3.3: a write that is refused because too few replicas are in sync."""

import math
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Producer

from threebrokers.checks.expect_clients import client_setting
from threebrokers.kafka.clients import LabProducer
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.text import counted

LEAST = {"clicks": 1, "invoices": 2, "payments": 3}  # min.insync.replicas of the exercise's topics
ALL = ("all", "-1")
REFUSED = KafkaError(KafkaError.NOT_ENOUGH_REPLICAS).name()
NOT_WHY = {
    word: (f"the error is right, but {found}", expected, "`why`")
    for word, found, expected in (
        ("full", "the brokers have little to do", "they count replicas, not work"),
        ("leader", "the leader itself has answered, so there is one", "it has counted its in-sync replicas"),
        ("lost", "the record was never stored: the leader looks before it writes", "so nothing can be lost"),
    )
}
RETRIES = ("retries", "")
ANSWER_MS = 500  # a leader refuses within that, also on a machine that has much to do
TOLD = {
    KafkaError._MSG_TIMED_OUT: (
        "the error is _MSG_TIMED_OUT: the producer's own time was over",
        "it was refused and tried again, so the last thing that it can tell is the time",
        "retries",
    ),
    KafkaError.REQUEST_TIMED_OUT: (
        "the error is REQUEST_TIMED_OUT: the leader took the record and waited for a follower in vain",
        "broker 2 should be out of the ISR before you send",
        "the exercise's cell: run it as it stands, it waits for that",
    ),
    KafkaError._UNKNOWN_TOPIC: (
        "the error is _UNKNOWN_TOPIC: there is no topic of that name",
        "the record should go to one of the three topics of the exercise",
        "the topic in produce(…)",
    ),
    KafkaError._UNKNOWN_PARTITION: (
        "the error is _UNKNOWN_PARTITION: the producer found no such partition, and asked no leader",
        "the record should go to one of the three topics of the exercise, which have one partition each",
        "partition=… in produce(…)",
    ),
    KafkaError._PURGE_QUEUE: (
        "the error is _PURGE_QUEUE: the record was thrown away with an earlier producer, before it was sent",
        "this run's own record should be refused",
        "flush(), which waits for the report",
    ),
}


def is_refused(lab: Lab, producer: Producer, errors: list[Any]) -> None:
    """Raise NotYet unless the last delivery report of this producer is NOT_ENOUGH_REPLICAS."""
    if not errors:
        raise _none_kept(producer)
    last = errors[-1].args[0] if isinstance(errors[-1], KafkaException) else errors[-1]
    if last is None:
        raise _stored(lab, producer)
    if not isinstance(last, KafkaError):
        raise NotYet(
            f"the last entry of `errors` is {last!r} ({type(last).__name__})",
            "it should be the KafkaError itself, which the delivery report brings",
            "on_delivery, which the cell gives you in `patience`",
        )
    _expect_refusal(producer, last)
    _expect_from_a_leader(producer)


def _none_kept(producer: Producer) -> NotYet:
    """Say why `errors` is empty, as far as the producer knows; a plain one knows nothing."""
    if isinstance(producer, LabProducer) and producer.reported:
        return NotYet(
            f"`errors` is empty, and your code was given {counted(producer.reported, 'delivery report')}",
            "the error that each report brings should be in `errors`",
            "the function at on_delivery, which `patience` brings, and what else changes `errors`",
        )
    return NotYet(
        "`errors` is empty" + (": no delivery report has come" if isinstance(producer, LabProducer) else ""),
        "the error that the delivery report of your record brings should be in it",
        "**patience in the producer's settings, produce(…) and flush()",
    )


def _expect_refusal(producer: Producer, last: KafkaError) -> None:
    if last.code() == KafkaError._MSG_TIMED_OUT and (patience := _patience(producer)) < ANSWER_MS:
        raise NotYet(
            f"the error is _MSG_TIMED_OUT: the producer gave up after {patience:g} ms, before an answer came",
            "it should wait until a leader has refused the record",
            "message.timeout.ms, which `patience` sets to 2000",
        )
    if last.code() == KafkaError._MSG_TIMED_OUT and client_setting(producer, *RETRIES) == "0":
        raise NotYet(
            "the error is _MSG_TIMED_OUT, and the producer did not try again: nobody took the record at all",
            f"a leader should be there, and refuse it with {REFUSED}",
            "the topic in produce(…): one of the three whose partition has three replicas",
        )
    if last.code() in TOLD:
        raise NotYet(*TOLD[last.code()])
    if last.code() != KafkaError.NOT_ENOUGH_REPLICAS:
        raise NotYet(
            f"the last error is {last.name()}",
            f"it should be {REFUSED}",
            "the topic, `acks` and `retries`",
        )


def _expect_from_a_leader(producer: Producer) -> None:
    """Raise NotYet if the error was made by hand: no leader has given it to this producer.

    A plain producer keeps nothing of what it was told, so it is believed.
    """
    if isinstance(producer, LabProducer) and not producer.sent_at:
        raise NotYet(
            "the error is right, but `writer` has sent nothing, so no leader has refused it",
            "it should be the error that a leader gave to the record of this producer",
            "produce(…) and flush(), and what puts the error into `errors`",
        )
    if _acks(producer) not in ALL:
        raise NotYet(
            f"the error is right, but this producer {_asks(producer)}, and is never told it",
            "it should be the error that `writer` got for its record",
            "acks, and what puts the error into `errors`",
        )
    if isinstance(producer, LabProducer) and KafkaError.NOT_ENOUGH_REPLICAS not in producer.reported_errors:
        raise NotYet(
            "the error is right, but no delivery report of `writer` has brought it",
            "it should be the error that a leader gave to the record of this producer",
            "the topic in produce(…), and what puts the error into `errors`",
        )


def _acks(producer: Producer) -> str:
    """Return what the producer waits for; "all" where nobody can see it."""
    for name in ("acks", "request.required.acks"):
        if told := client_setting(producer, name, ""):
            return told
    return "all"


def _asks(producer: Producer) -> str:
    acks = _acks(producer)
    return f"asks for {'nobody' if acks == '0' else 'the leader alone'} (acks={acks})"


def _patience(producer: Producer) -> float:
    """Return how many ms the producer tries to deliver a record; without end where nobody can see it."""
    for name in ("message.timeout.ms", "delivery.timeout.ms"):
        if told := client_setting(producer, name, ""):
            return float(told)
    return math.inf


def _stored(lab: Lab, producer: Producer) -> NotYet:
    if _acks(producer) not in ALL:
        return NotYet(
            f"the record was stored: the producer {_asks(producer)}",
            "min.insync.replicas is a promise to those who ask for all",
            "acks",
        )
    names = [lab.topic(name) for name in LEAST]
    partitions = [p for topic in lab.cluster.state(names).topics for p in topic.partitions]
    if partitions and all(len(p.isr) == len(p.replicas) for p in partitions):
        return NotYet(
            "the record was stored: all three replicas were in sync",
            "broker 2 should be away",
            "the exercise's cell, which sends it away; do not start it again",
        )
    return NotYet(
        "the record was stored in a topic which is content with 2 replicas in sync, or with 1",
        "it should ask for more than are left",
        "the three topics and their min.insync.replicas",
    )
