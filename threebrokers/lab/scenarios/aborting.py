"""A worker that goes on after an abort, for lab 11."""

import secrets
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from confluent_kafka import TopicPartition

from threebrokers.errors import LabError
from threebrokers.kafka.clients import LabConsumer
from threebrokers.kafka.log_reader import read_log
from threebrokers.lab.lab import Lab
from threebrokers.waiting import quiet_wait

if TYPE_CHECKING:
    import pandas as pd

AfterAbort = Callable[[LabConsumer], object]
COUNT, ABORTED = 5, 1  # transfers, and which one is aborted at its first try
CALL_SECONDS, RUN_SECONDS, SETTLE_SECONDS = 30.0, 60.0, 5.0


def after_one_abort(lab: Lab, way: AfterAbort) -> "pd.DataFrame":
    """Return what readers get of five transfers if a worker's second transaction was aborted once.

    The worker books one transfer in each transaction, and its offset. After the abort it does nothing and
    goes on, in the first row; in the second one it calls `way` with its consumer, and goes on. Raises
    LabError if the worker does not come to the last transfer.
    """
    import pandas as pd  # only where a table is shown

    source = lab.fresh_topic("abort-transfers", replication_factor=3)
    writer = lab.producer({"enable.idempotence": True})
    for number in range(COUNT):
        writer.produce(source, str(number))
    writer.flush()
    ways = {"nothing": lambda consumer: None, way.__name__: way}
    rows = {name: _worked(lab, source, done) for name, done in ways.items()}
    return pd.DataFrame(rows).T.rename_axis("what it does after the abort")


def _worked(lab: Lab, source: str, after_abort: AfterAbort) -> dict[str, object]:
    """Let a new worker book all transfers; return what it has left."""
    booked = lab.fresh_topic("abort-booked", replication_factor=3)
    group = lab.group(f"abort-{secrets.token_hex(2)}")
    own = {"group.id": group, "auto.offset.reset": "earliest", "enable.auto.commit": False}
    consumer = lab.consumer(own)
    producer = lab.producer({"transactional.id": lab.topic("abort-worker"), "linger.ms": 0})
    consumer.subscribe([source])
    producer.init_transactions(CALL_SECONDS)
    offset, aborts, end = -1, 0, time.monotonic() + RUN_SECONDS
    while offset < COUNT - 1:
        if time.monotonic() > end:
            raise LabError("The worker has not come to the last transfer.", "run the cell again.")
        message = consumer.poll(0.2)
        if message is None or message.error() is not None:
            continue
        offset = int(message.offset() or 0)
        producer.begin_transaction()
        producer.produce(booked, message.value())
        after = [TopicPartition(source, message.partition() or 0, offset + 1)]
        producer.send_offsets_to_transaction(after, consumer.consumer_group_metadata(), CALL_SECONDS)
        if offset == ABORTED and not aborts:
            aborts += 1
            producer.flush(CALL_SECONDS)  # so that there is a record to take back
            producer.abort_transaction(CALL_SECONDS)
            after_abort(consumer)
        else:
            producer.commit_transaction(CALL_SECONDS)
    [place] = consumer.committed([TopicPartition(source, 0)], timeout=CALL_SECONDS)
    consumer.close()
    seen = _seen(lab, booked)
    return {
        "transfers that readers get": ", ".join(seen),
        "missing": len({*map(str, range(COUNT))} - {*seen}),
        "twice": len(seen) - len({*seen}),
        "committed offset": place.offset,
    }


def _seen(lab: Lab, topic: str) -> list[str]:
    """Return what a reader of committed records gets, when the last mark is there."""
    last, found = str(COUNT - 1), list[str]()

    def all_there() -> bool:
        found[:] = [(record.value or b"").decode() for record in read_log(lab.bootstrap, topic)]
        return found[-1:] == [last]

    quiet_wait(all_there, SETTLE_SECONDS)
    return found
