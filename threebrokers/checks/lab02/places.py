"""Exercises 2.2, 2.3 and 2.4: whether a page, an offset and partitions are the right places in the log."""

from typing import Any

from confluent_kafka import TopicPartition

from threebrokers.checks.expect import (
    messages_only,
)
from threebrokers.kafka.clients import LabConsumer
from threebrokers.lab.exercise import NotYet

PAGE = range(100, 120)
PARTITIONS = 6  # of the topics of exercise 2.4
FUNCTIONS = "dir(confluent_kafka): the package has the hash functions of both clients"


def is_the_page(page: list[Any], topic: str) -> None:
    """Raise NotYet unless the messages are offsets 100 to 119 of partition 1 of the topic."""
    messages = messages_only("page", page, "poll() or consume(): keep each Message that it returns")
    for message in messages:
        fault, place = message.error(), (message.topic(), message.partition())
        if fault is not None or place != (topic, 1):
            where = fault.str() if fault is not None else f"partition {place[1]} of '{place[0]}'"
            raise NotYet(
                f"a record of the page says: {where}",
                f"all of them should be records of partition 1 of '{topic}'",
                "the TopicPartition that you assign",
            )
    offsets = [message.offset() for message in messages]
    if offsets == list(PAGE):
        return
    found = f"the page holds {len(offsets)} records"
    if offsets:
        found += f", from offset {offsets[0]} to offset {offsets[-1]}"
    expected = "it should hold the 20 records from offset 100 to offset 119, each once, in order"
    if offsets == list(PAGE)[:-1]:
        expected = "it ends one record early, as offset 119 belongs to the page"
    elif offsets == [*PAGE, PAGE.stop]:
        expected = "it ends one record late, as offset 120 is the first of the next page"
    raise NotYet(found, expected, "the offset in TopicPartition, and when your loop ends")


def is_the_first(offset: int, first: int, end: int) -> None:
    """Raise NotYet unless the offset is the first one; `end` is the offset that the next record will get."""
    if offset == first:
        return
    if offset == 0:
        found = "offset 0 is the answer for a time before anything was stored"
        expected = (
            "`moment` is a time of this year, in milliseconds since 1970, and should be asked for as it is"
        )
    elif offset >= end or offset < 0:
        found = f"offset {offset} means that no record is late enough"
        expected = (
            "`moment` should be compared with the records' timestamps, not with the times in their values"
        )
    elif offset == first - 1:
        found = f"offset {offset} is the last record stored before `moment`"
        expected = "the first one stored at `moment` or later is wanted"
    else:
        found = f"the record at offset {offset} was stored {'before' if offset < first else 'after'} `moment`"
        expected = "the first one with a timestamp from `moment` on is wanted"
    raise NotYet(found, expected, "offsets_for_times(), and what it wants in the place of the offset")


def is_unread(reader: LabConsumer, first: int) -> None:
    """Raise NotYet if the reader was placed before offset `first`, and so read its way there."""
    try:
        assigned: list[TopicPartition] = reader.assignment()
    except RuntimeError:  # closed: it does not tell any more
        return
    if any(place.offset < first for place in assigned):
        raise NotYet(
            f"offset {first} is right, but the reader went through all records before it to find it",
            "the broker keeps an index of times and can answer without sending one record",
            "Consumer.offsets_for_times()",
        )


def is_foretold(name: str, told: dict[Any, Any], found: dict[str, int], other: dict[str, int]) -> None:
    """Raise NotYet unless `told` says where each key was `found`; `other` is the other client's."""
    said = {key.decode() if isinstance(key, bytes) else str(key): place for key, place in told.items()}
    if said == found:
        return
    if said.keys() != found.keys():
        raise NotYet(
            f"{len(said.keys() & found.keys())} of the {len(found)} tail numbers are keys of `{name}`",
            "it should map each of them to a partition, and nothing else",
            "the loop over `tails`",
        )
    outside = [(key, n) for key, n in said.items() if not isinstance(n, int) or not 0 <= n < PARTITIONS]
    if outside:
        raise NotYet(
            f"`{name}` says {outside[0][1]!r} for {outside[0][0]}, and there is no such partition",
            f"the partition is the remainder of the hash by the number of partitions, 0 to {PARTITIONS - 1}",
            FUNCTIONS,
        )
    lost = sum(said[key] != found[key] for key in found)
    if all(n in (hash(key) % PARTITIONS, hash(key.encode()) % PARTITIONS) for key, n in said.items()):
        what, expected = "these are numbers of Python's hash()", "no client of Kafka uses it"
    elif said == other:
        client = "Java" if name == "here" else "Python"
        what, expected = (
            f"these are the places of the {client} client's records",
            "each client has its own function",
        )
    else:
        what = "they do not follow from this client's function"
        expected = "the client's own hash of the key's bytes is wanted, and its remainder by 6"
    raise NotYet(f"{lost} of {len(found)} aircraft are not where `{name}` says: {what}", expected, FUNCTIONS)
