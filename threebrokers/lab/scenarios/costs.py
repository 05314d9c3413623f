"""What transactions cost, by their size and by how long they are open, for lab 11."""

import time
from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING

from confluent_kafka import TopicPartition

from threebrokers.kafka.clients import LabConsumer, LabProducer
from threebrokers.kafka.log_reader import end_offsets
from threebrokers.lab.lab import Lab

if TYPE_CHECKING:
    import pandas as pd

CALL_SECONDS = 30.0
SMALL = b"a small record"
# Transactions of each size: enough that the slowest take a second, and the largest send many records.
MOST, FEWEST, RECORDS = 20, 10, 2000
RATE = 200  # records a second, while it is measured when they can be read
SECONDS, ROUNDS = 1.0, 2  # so long at least, and so many transactions at least


def costs_by_size(lab: Lab, sizes: Sequence[int]) -> "pd.DataFrame":
    """Return for transactions of each size how many records a second are written, and ms a transaction."""
    import pandas as pd  # only where a table is shown

    topic = lab.fresh_topic("priced", partitions=3, replication_factor=3)
    producer = lab.producer({"transactional.id": lab.topic("priced"), "linger.ms": 0})
    producer.init_transactions(CALL_SECONDS)
    _transactions(producer, topic, 1, 5)  # the first ones pay for connections
    rows = {}
    for size in sizes:
        count = min(MOST, max(FEWEST, RECORDS // size))
        seconds = _transactions(producer, topic, size, count)
        rows[size] = {
            "records a second": round(size * count / seconds),
            "ms a transaction": round(1000 * seconds / count, 1),
        }
    return pd.DataFrame(rows).T.rename_axis("records a transaction")


def _transactions(producer: LabProducer, topic: str, size: int, count: int) -> float:
    """Write so many transactions of this size; return how long they took, in seconds."""
    start = time.perf_counter()
    for _ in range(count):
        producer.begin_transaction()
        for number in range(size):
            producer.produce(topic, SMALL, partition=number % 3)
        producer.commit_transaction(CALL_SECONDS)
    return time.perf_counter() - start


def readable_after(lab: Lab, intervals: Sequence[int]) -> "pd.DataFrame":
    """Return after how many ms a reader gets a record, by how often its producer commits (ms).

    The records come one by one, 200 a second; a commit comes when so many ms are over.
    """
    import pandas as pd  # only where a table is shown

    topic = lab.fresh_topic("waited-for", replication_factor=3)
    producer = lab.producer({"transactional.id": lab.topic("waited-for"), "linger.ms": 0})
    producer.init_transactions(CALL_SECONDS)
    _transactions(producer, topic, 1, 2)
    reader = lab.consumer({"group.id": lab.group("waiting"), "isolation.level": "read_committed"})
    rows = {}
    for interval in intervals:
        reader.assign([TopicPartition(topic, 0, end_offsets(lab.bootstrap, topic)[0])])
        waits = _waits(producer, reader, topic, interval / 1000)
        rows[interval] = {"half of the records (ms)": median(waits), "the slowest (ms)": max(waits)}
    reader.close()
    return pd.DataFrame(rows).T.round().astype(int).rename_axis("a commit every … ms")


def _waits(producer: LabProducer, reader: LabConsumer, topic: str, interval: float) -> list[float]:
    """Send records in transactions of this length (s); return after how many ms each was read."""
    waits: list[float] = []
    sent, start = 0, time.perf_counter()
    over = start + max(SECONDS, ROUNDS * interval)

    def take(seconds: float) -> None:
        message = reader.poll(seconds)
        # The end that a broker tells may still lie before the records of an earlier transaction.
        if message is not None and message.error() is None and message.value() != SMALL:
            waits.append(1000 * (time.perf_counter() - float(message.value() or 0)))

    while (began := time.perf_counter()) < over:
        producer.begin_transaction()
        while time.perf_counter() - began < interval:
            if time.perf_counter() - start >= sent / RATE:
                producer.produce(topic, repr(time.perf_counter()), partition=0)
                sent += 1
            producer.poll(0)
            take(0.001)
        producer.commit_transaction(CALL_SECONDS)
    patience = time.perf_counter() + CALL_SECONDS
    while len(waits) < sent and time.perf_counter() < patience:
        take(0.1)
    return waits
