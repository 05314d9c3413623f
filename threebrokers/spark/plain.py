"""One plain consumer that reads a topic as a batch does: from the first offset to the present end."""

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

from confluent_kafka import Consumer, Message, TopicPartition

from threebrokers.errors import LabError
from threebrokers.kafka.log_reader import CALL_SECONDS, asked

ANSWER_SECONDS = 10.0
BATCH, BATCH_SECONDS = 1_000, 0.2


def to_the_end(consumer: Consumer, topic: str) -> Iterator[Message]:
    """Yield the records of a topic, as a member of the consumer's group, up to the end that it has now.

    Begins at the first offset, wherever the group stands. Raises LabError if nothing comes for 10 s.
    """
    missing: dict[int, int] = {}  # the end of each partition that is not read to it yet
    # The offset from which a partition is read on, if the group shares out anew.
    following: dict[int, int] = {}

    def from_the_start(reader: Consumer, places: list[TopicPartition]) -> None:
        for place in places:
            if place.partition not in following:
                first, end = asked(partial(reader.get_watermark_offsets, place, timeout=CALL_SECONDS))
                following[place.partition] = first
                if end > first:
                    missing[place.partition] = end
            place.offset = following[place.partition]
        reader.assign(places)

    consumer.subscribe([topic], on_assign=from_the_start)
    heard = time.monotonic()
    while missing or not consumer.assignment():
        messages = consumer.consume(BATCH, timeout=BATCH_SECONDS)
        if messages or _passed(consumer, topic, missing):
            heard = time.monotonic()
        elif time.monotonic() - heard > ANSWER_SECONDS:
            raise LabError(
                f"The topic '{topic}' could not be read to its end: nothing came for {ANSWER_SECONDS:g} s",
                "see with `threebrokers status` whether all brokers are up, and run the cell again",
            )
        for message in messages:
            if _wanted(message, missing):
                yield message
        # Once a batch, not for each record: labs measure how long those take.
        places = consumer.position(consumer.assignment())
        following |= {place.partition: place.offset for place in places if place.offset >= 0}


def _passed(consumer: Consumer, topic: str, missing: dict[int, int]) -> bool:
    """Tell whether the consumer is behind the end of a partition whose last offset gave no record.

    The mark that ends a transaction has an offset, too, and so have records that were aborted.
    """
    places = [TopicPartition(topic, partition) for partition in missing]
    done = [
        place.partition for place in consumer.position(places) if place.offset >= missing[place.partition]
    ]
    for partition in done:
        del missing[partition]
    return bool(done)


def _wanted(message: Message, missing: dict[int, int]) -> bool:
    """Tell whether a record was there when the reading began; what is `missing` shrinks. Raises LabError."""
    if (fault := message.error()) is not None:
        raise LabError(
            f"The topic '{message.topic()}' could not be read ({fault.str()})", "run the cell again"
        )
    # A message without error always has its place; the stubs cannot say so.
    place: tuple[Any, Any] = (message.partition(), message.offset())
    partition, offset = place
    end = missing.get(partition, -1)
    if offset + 1 >= end >= 0:
        del missing[partition]
    return bool(offset < end)
