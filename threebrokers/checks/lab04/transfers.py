"""What lab 04's check says of 200 numbers that were sent while their leader was taken away."""

from collections import Counter
from typing import Any

from confluent_kafka import KafkaError, Producer

from threebrokers.checks.expect import existing_topic, log_of
from threebrokers.checks.expect_actions import actions_of_attempt
from threebrokers.checks.expect_clients import expect_flushed
from threebrokers.kafka.clients import LabProducer
from threebrokers.kafka.log_reader import Record
from threebrokers.lab.exercise import NotYet, eventually
from threebrokers.lab.lab import Lab
from threebrokers.ledger.balance import Balance
from threebrokers.ledger.entries import numbers
from threebrokers.ledger.interceptors import is_numbered
from threebrokers.text import counted, have

NUMBERS = range(200)
LEVEL_SECONDS = 8.0
TIMED_OUT = KafkaError(KafkaError._MSG_TIMED_OUT).name()
LOOP = "the loop: for number in through_a_kill(lab, transfers)"
FLUSH = "producer.flush() without a number, after the loop"


def judge_transfers(lab: Lab, producer: object) -> None:
    """Raise NotYet unless each number is in 'transfers' once, and the program knows it, after a kill."""
    if not isinstance(producer, Producer):
        raise NotYet(
            f"`producer` is {producer!r:.60}",
            "it should be the producer that has sent the numbers",
            "ledger.producer({…}) in the cell of the exercise",
        )
    topic = lab.topic("transfers")
    eventually(lambda: _is_readable(lab, topic), what="all transfers to be readable", within=LEVEL_SECONDS)
    kills = [action.at for action in actions_of_attempt(lab) if action.kind == "kill"]
    if not kills:
        raise _nobody_killed()
    records = log_of(lab, topic)
    _expect_sent_meanwhile(records, kills[-1])
    sent = Counter(_number(record) for record in records)
    found = lab.join_ledger("transfers").balance(topic)
    missing = [number for number in NUMBERS if number not in sent]
    _expect_numbers(records, missing)
    _judge_missing(producer, found, missing)
    expect_flushed(lab, topic, producer, look_at=FLUSH)
    twice = [number for number in NUMBERS if sent[number] > 1]
    _expect_not_sent_after_failure(producer, found, records, twice)
    _judge_twice(found, twice)
    _expect_killed_meanwhile(records, kills)


def _expect_killed_meanwhile(records: list[Record], kills: list[float]) -> None:
    """Raise NotYet unless one of the kills (s since 1970) came when some were sent, and others not yet."""
    sent = [record.timestamp for record in records]  # ms, of the producer's own clock
    if not any(min(sent) <= killed * 1000 <= max(sent) for killed in kills):
        raise _nobody_killed()


def _nobody_killed() -> NotYet:
    return NotYet(
        "nobody was killed while your producer sent, so nothing could be lost",
        "the numbers should come from through_a_kill, which takes the leader away",
        LOOP,
    )


def _expect_sent_meanwhile(records: list[Record], killed: float) -> None:
    """Raise NotYet if everything was sent after the kill (s since 1970): then nothing could be lost."""
    if records and all(record.timestamp > killed * 1000 for record in records):
        raise NotYet(
            "all numbers were sent after the leader was killed, so nothing could be lost",
            "each should be sent when through_a_kill gives it out: it breaks the cluster on the way",
            LOOP + ", without list(…) around it",
        )


def _is_readable(lab: Lab, topic: str) -> None:
    """Raise NotYet unless the partition has a leader, and readers get all that this one has."""
    partition = existing_topic(lab, topic).partitions[0]
    process = lab.cluster.processes().get(partition.leader or 0)
    if process is None or process.state != "up":
        raise NotYet(
            "nobody leads 'transfers'", "two of its three brokers should be up", "lab.cluster.recover()"
        )
    end, readable = partition.log_end_offset, partition.high_watermark
    if end is not None and readable is not None and readable < end:
        raise NotYet(
            f"the log of 'transfers' ends at offset {end}, and readers get only what is before {readable}",
            "a second broker should have all of it before anybody can say what is missing",
            "lab.cluster.state([transfers]): which brokers are in sync",
        )


def _number(record: Record) -> int | None:
    try:
        return int(record.value or b"")
    except ValueError:
        return None


def _expect_numbers(records: list[Record], missing: list[int]) -> None:
    """Raise NotYet if numbers are missing because their records say something else."""
    others = [record.value for record in records if _number(record) not in NUMBERS]
    if missing and others:
        shown = "nothing" if others[0] is None else repr(others[0].decode(errors="replace"))
        raise NotYet(
            f"{_count(missing)}, and {counted(len(others), 'record')} of the topic {have(others)} another "
            f"value, such as {shown:.60}",
            "each value should be a number that the loop gives out, as text and unchanged",
            "produce(transfers, str(number))",
        )


def _count(missing: list[int]) -> str:
    return f"{len(missing)} of {len(NUMBERS)} numbers {'is' if len(missing) == 1 else 'are'} missing"


def _judge_missing(producer: Producer, found: Balance, missing: list[int]) -> None:
    if not missing:
        return
    count = _count(missing)
    if not is_numbered(producer):
        raise _too_few_acks(producer, count) or NotYet(
            f"{count}, and nobody can tell why: `producer` is not one of the ledger",
            "it should be, so that the ledger knows what became of each record",
            "ledger.producer({…}) in the cell of the exercise",
        )
    if len(found.attempted) < len(NUMBERS):
        raise NotYet(
            f"only {len(found.attempted)} of {len(NUMBERS)} records were sent through the ledger to "
            f"{found.topic!r}",
            "every number of through_a_kill(lab, transfers) should be",
            "the loop, and the topic of produce(…) in it",
        )
    if found.lost and (fault := _too_few_acks(producer, count)):
        raise fault
    if found.unknown:
        raise NotYet(
            f"{count}, and {len(found.unknown)} records have no delivery report",
            "the program should end when every report has come",
            FLUSH,
        )
    raise _gave_up(producer, found, count)


def _too_few_acks(producer: Producer, count: str) -> NotYet | None:
    acks = str(_setting(producer, "acks", "request.required.acks"))
    if acks == "0":
        return NotYet(
            f"{count} with acks=0: nobody acknowledges anything, so the producer never learns of it",
            "a record counts when the in-sync replicas have it",
            "acks",
        )
    if acks == "1":
        return NotYet(
            f"{count} with acks=1: only the leader had them, and it was killed",
            "a record counts when the in-sync replicas have it",
            "acks",
        )
    return None


def _gave_up(producer: Producer, found: Balance, count: str) -> NotYet:
    patience = _setting(producer, "message.timeout.ms", "delivery.timeout.ms")
    retries = str(_setting(producer, "retries", "message.send.max.retries"))
    late = bool(found.failed) and all(failure.reason == TIMED_OUT for failure in found.failed)
    if late and retries != "0" and patience is not None:
        return NotYet(
            f"{count}: message.timeout.ms is {patience}, so the producer gave up before anybody led",
            "it should go on for longer than an election takes",
            "message.timeout.ms, which is five minutes unless you say otherwise",
        )
    if not found.failed:
        lost = f"{counted(len(found.lost), 'acknowledged record')} {have(found.lost)} been lost"
        return NotYet(
            f"{count}, and {lost if found.lost else 'every record that was sent is in the topic'}",
            "each number should be sent, and be in the topic in the end",
            "ledger.balance(transfers), and " + LOOP,
        )
    first = " at the first try" if retries == "0" else ""
    return NotYet(
        f"{count}: {counted(len(found.failed), 'record')} failed{first} ({found.failed[0].reason})",
        "an error that will pass should be tried again",
        "retries, and the error that the delivery report is given",
    )


def _expect_not_sent_after_failure(
    producer: Producer, found: Balance, records: list[Record], twice: list[int]
) -> None:
    """Raise NotYet if numbers are there twice whose first record was reported as failed."""
    failed, known = numbers(found.failed), {entry.offset: entry.number for entry in found.stored}
    copies = {number: {known.get(r.offset) for r in records if _number(r) == number} for number in twice}
    again = [number for number, sent in copies.items() if len(sent) > 1 and sent & failed]
    if again:
        patience = _setting(producer, "message.timeout.ms", "delivery.timeout.ms")
        raise NotYet(
            f"{_stand(twice)}: of {len(again)} of them the report said that it failed, it was stored all the "
            "same, and the program sent it again",
            "the client should go on with the same record until it knows what became of it",
            "the lines that send a number again" + (", and message.timeout.ms" if patience else ""),
        )


def _judge_twice(found: Balance, twice: list[int]) -> None:
    if not twice:
        return
    stand = _stand(twice)
    if found.duplicated:
        raise NotYet(
            f"nothing is missing, but {stand}: the next leader had them already when they were sent again",
            "the brokers should recognise what they have",
            "the row `twice` of ledger.balance(transfers), and the settings of an idempotent producer",
        )
    raise NotYet(f"{stand}: your program has sent them twice", "each should be sent once", LOOP)


def _stand(twice: list[int]) -> str:
    return f"{len(twice)} number{' stands' if len(twice) == 1 else 's stand'} twice in the topic"


def _setting(producer: Producer, *names: str) -> Any:
    """Return what the learner has set under one of these names; None if nothing, or if it cannot be seen."""
    config = producer.config if isinstance(producer, LabProducer) else {}
    return next((config[name] for name in names if name in config), None)
