"""What lab 09 says of a share that should be gone from a topic, with all its prices."""

from collections.abc import Sequence

from confluent_kafka import Producer, consistent

from threebrokers.checks.expect import expect_topic, log_of
from threebrokers.checks.expect_clients import expect_flushed
from threebrokers.kafka.log_reader import Record
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios import Day
from threebrokers.lab.scenarios.last_values import HALTED, LISTING
from threebrokers.text import listed

IBM, PARTITIONS = b"IBM", 2
STAY = {name.encode() for name, _ in (*LISTING, HALTED)} - {IBM}
SEND = "what your program sends: topic, key and value"
DAY = "day = a_day_later(lab, listing), the last lines of the exercise's cell"


def judge_removed(lab: Lab, topic: str, remover: object, day: Day) -> None:
    """Raise NotYet unless no record of IBM is left, and every other share has its last price."""
    expect_topic(lab, topic, "listing")
    if day.topic != topic:
        raise NotYet(f"`day` is one of '{day.topic}'", f"it should be one of '{topic}'", DAY)
    now = log_of(lab, topic)
    sent = [r for r in day.before if r.offset >= first_new(r.partition)]
    judge_records(sent, now)
    if not isinstance(remover, Producer):
        raise NotYet(
            f"`remover` is {remover!r:.60}", "it should be the producer that took IBM away", "lab.producer()"
        )
    expect_flushed(lab, topic, remover)


def first_new(partition: int) -> int:
    """Return the first offset of a partition that the topic had not got when it was made."""
    made = [*LISTING, *LISTING, HALTED]
    return sum(consistent(name.encode(), PARTITIONS) == partition for name, _ in made)


def judge_records(sent: Sequence[Record], now: Sequence[Record]) -> None:
    """Raise NotYet, with what the learner has `sent`, if IBM is there `now` or another share is not."""
    there = {record.key for record in now}
    if missing := sorted(STAY - there):
        named = listed([key.decode() for key in missing])
        raise NotYet(
            f"the last price of {named} is gone, too",
            "only IBM should go",
            SEND,
        )
    own = [record for record in now if record.key == IBM]
    if not own:
        return
    newest = own[-1]
    if newest.value is None:
        raise NotYet(
            f"the record without a value at offset {newest.offset} of partition {newest.partition} is "
            "still there",
            "it should be gone after a day",
            DAY,
        )
    texts = {b"": "an empty value is a value, of no bytes", b"null": "", b"None": ""}
    if newest in sent or any(record.key == IBM and record.value is not None for record in sent):
        value = newest.value.decode("utf-8", "replace")
        why = texts.get(newest.value) or f"the value is the text {value!r}, which is a price like any other"
        raise NotYet(
            f"the last record of IBM stays: {why}",
            "what takes a key away has no value at all",
            SEND,
        )
    raise _not_reached(sent, newest)


def _not_reached(sent: Sequence[Record], price: Record) -> NotYet:
    still = f"IBM's price {(price.value or b'').decode()} is still there"
    elsewhere = [r for r in sent if r.key == IBM and r.partition != price.partition]
    if elsewhere:
        return NotYet(
            f"{still}: your record is in partition {elsewhere[0].partition}, and the prices of IBM are in "
            f"partition {price.partition}, which is cleaned by itself",
            "it should be behind them, in the same partition",
            SEND,
        )
    others = [r for r in sent if r.value is None]
    if others:
        return NotYet(
            f"{still}: the key of your record is {others[0].key!r}",
            f"it should be the same bytes as the key of the prices, {IBM!r}",
            SEND,
        )
    return NotYet(
        f"{still}, and 'listing' has got nothing for IBM: without a key, a compacted topic refuses a record",
        "one more record of IBM should be there",
        f"{SEND}; and the delivery report, which tells what was refused",
    )
