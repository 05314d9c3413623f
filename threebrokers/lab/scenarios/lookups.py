"""How long it takes to find a record by its offset, its time and its key, for lab 08."""

import time
from collections.abc import Callable
from statistics import median
from typing import TYPE_CHECKING

from confluent_kafka import Message, TopicPartition

from threebrokers import clock
from threebrokers.errors import LabError
from threebrokers.kafka.clients import LabConsumer
from threebrokers.lab.lab import Lab

if TYPE_CHECKING:
    import pandas as pd

RECORDS = {"1 MB": 1_000, "60 MB": 60_000}
VALUE = bytes(1000)
ROUNDS, FROM_END, PATIENCE_SECONDS = 5, 100, 30.0


def lookup_times(lab: Lab) -> "pd.DataFrame":
    """Return how many ms it takes to get one record of a small and of a large log, by what is known of it.

    Medians of five; the record is the 100th before the end, so that a search by key has to read on to there.
    """
    import pandas as pd  # only where a table is shown

    found: dict[str, dict[str, float]] = {}
    for size, count in RECORDS.items():
        topic, first = _filled(lab, f"coupons-{count}", count)
        # A request that waits at the end of the log would hold up the next look.
        settings = {"enable.auto.commit": False, "fetch.wait.max.ms": 1}
        reader = lab.consumer({"group.id": lab.group("lookups"), **settings})
        target = count - FROM_END
        _at(reader, topic, 0)  # the first round pays for connections
        ways = {
            "its offset": (_at, target),
            "its time": (_since, first + target),
            "its key": (_keyed, target),
        }
        found[size] = {
            way: median(_milliseconds(look, reader, topic, known) for _ in range(ROUNDS))
            for way, (look, known) in ways.items()
        }
        reader.close()
    return pd.DataFrame(found).rename_axis("known is")


def _filled(lab: Lab, name: str, count: int) -> tuple[str, int]:
    """Return a new topic of so many records, one for each millisecond, and the time (ms) of the first."""
    topic, start = lab.fresh_topic(name), clock.now_ms() - count
    producer = lab.producer({"enable.idempotence": True, "linger.ms": 20})
    for number in range(count):
        while True:
            try:
                producer.produce(topic, VALUE, f"coupon {number}", timestamp=start + number)
                break
            except BufferError:
                producer.poll(0.1)
    producer.flush()
    return topic, start


def _milliseconds(
    look: Callable[[LabConsumer, str, int], Message], reader: LabConsumer, topic: str, known: int
) -> float:
    start = time.perf_counter()
    look(reader, topic, known)
    return (time.perf_counter() - start) * 1000


def _at(reader: LabConsumer, topic: str, offset: int) -> Message:
    reader.assign([TopicPartition(topic, 0, offset)])
    return _next(reader)


def _since(reader: LabConsumer, topic: str, moment: int) -> Message:
    place = reader.offsets_for_times([TopicPartition(topic, 0, moment)], timeout=10)[0]
    return _at(reader, topic, place.offset)


def _keyed(reader: LabConsumer, topic: str, number: int) -> Message:
    wanted = f"coupon {number}".encode()
    message = _at(reader, topic, 0)
    while message.key() != wanted:
        message = _next(reader)
    return message


def _next(reader: LabConsumer) -> Message:
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        message = reader.poll(0.5)
        if message is not None and message.error() is None:
            return message
    raise LabError(f"Nobody has sent a record for {PATIENCE_SECONDS:.0f} s", "run the cell again")
