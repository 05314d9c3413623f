"""Exercise 2.3: whether a page of the log is the right one, and whether reading it has left a trace."""

import contextlib
from typing import Any

from confluent_kafka import Consumer, Message

from threebrokers.checks.expect import CALL_SECONDS, committed, messages_only
from threebrokers.kafka.clients import LabConsumer
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.text import quoted

PAGE = range(100, 120)
ASSIGN = "assign() with a TopicPartition, which takes topic, partition and offset"
BOUNDS = "the offset in TopicPartition, and when your loop ends"


def is_the_page(reader: Consumer, page: list[Any], topic: str) -> None:
    """Raise NotYet unless the messages are offsets 100 to 119 of partition 1 of the topic."""
    messages = messages_only("page", page, "poll() or consume(): keep each Message that it returns")
    if [(m.topic(), m.partition(), m.offset()) for m in messages] == [(topic, 1, n) for n in PAGE]:
        return
    if isinstance(reader, LabConsumer) and reader.subscribed:
        raise NotYet(
            f"`reader` has subscribed to {quoted(reader.subscribed)}, and `page` is not the page",
            "a subscriber gets its partitions from the group, and begins where the group does",
            ASSIGN,
        )
    for message in messages:
        _in_partition_1(message, topic)
    offsets = [message.offset() for message in messages]
    if not offsets:
        raise _nothing(reader, topic)
    found = f"the page holds {len(offsets)} record{'s' * (len(offsets) != 1)}"
    found += f", from offset {offsets[0]} to offset {offsets[-1]}"
    expected = "it should hold the 20 records from offset 100 to offset 119, each once, in order"
    if offsets == list(PAGE)[:-1]:
        expected = "it ends one record early, as offset 119 belongs to the page"
    elif offsets == [*PAGE, PAGE.stop]:
        expected = "it ends one record late, as offset 120 is the first of the next page"
    raise NotYet(found, expected, BOUNDS)


def is_alone(reader: Consumer, topic: str) -> None:
    """Raise NotYet if the reader was given other partitions too: which one comes first is chance."""
    if isinstance(reader, LabConsumer) and reader.subscribed:
        return  # the group tells that better
    try:
        places = {(place.topic, place.partition) for place in reader.assignment()}
    except RuntimeError:  # it is closed
        return
    if places - {(topic, 1)}:
        raise NotYet(
            f"the page is right this time, but `reader` was given {len(places)} partitions",
            f"partition 1 of '{topic}' is wanted and nothing else",
            ASSIGN,
        )


def is_of_group(reader: Consumer, group: str) -> None:
    """Raise NotYet if the reader is of another group; only a consumer of the lab tells that."""
    own = str(reader.config.get("group.id")) if isinstance(reader, LabConsumer) else group
    if own != group:
        raise NotYet(
            f"`reader` belongs to the group '{own}'", f"it should be of '{group}'", "`group.id`: use `group`"
        )


def is_all_that_was_read(reader: Consumer, page: list[Any]) -> None:
    """Raise NotYet if the reader has read more than the page, or less; only one of the lab tells that."""
    if isinstance(reader, LabConsumer) and reader.received < len(page):
        raise NotYet(
            f"the page is right, but `reader` has read {reader.received or 'none'} of these {len(page)}",
            "`reader` should be the consumer that reads them",
            "the consumers that your code makes: which one reads, and which one is `reader`?",
        )
    if isinstance(reader, LabConsumer) and reader.received != len(page):
        raise NotYet(
            f"the page is right, but `reader` has read {reader.received} records",
            f"these {len(page)} are wanted and nothing else: the offset says where reading begins, and your "
            "code where it ends",
            BOUNDS,
        )


def is_without_trace(lab: Lab, reader: Consumer, group: str, topic: str) -> None:
    """Raise NotYet if somebody has joined the group, or if it has committed an offset; closes the reader."""
    with contextlib.suppress(RuntimeError):  # it was closed already
        reader.close()  # what it commits by itself it commits now
    told = lab.admin().describe_consumer_groups([group], request_timeout=CALL_SECONDS)[group].result()
    if not told.is_simple_consumer_group:
        raise NotYet(
            "the page is right, but the group has had a member: somebody subscribed",
            "a subscriber gets its partitions from the group and reads more than this page",
            ASSIGN,
        )
    left = committed(lab, group, topic)
    if not left:
        return
    config = reader.config if isinstance(reader, LabConsumer) else {"enable.auto.commit": False}
    if config.get("enable.auto.commit", True) not in (False, "false"):
        raise NotYet(
            "the page is right, but the consumer commits by itself, every five seconds and when it closes",
            "a look into the log should leave nothing behind",
            "enable.auto.commit, which is true unless you say otherwise",
        )
    partition, offset = next(iter(left.items()))
    raise NotYet(
        f"the page is right, but the group has committed offset {offset} of partition {partition}",
        "a look into the log should leave nothing behind",
        "commit(), which is not needed here, and enable.auto.commit",
    )


def _in_partition_1(message: Message, topic: str) -> None:
    fault, place = message.error(), (message.topic(), message.partition())
    if fault is None and place == (topic, 1):
        return
    where = fault.str() if fault is not None else f"partition {place[1]} of '{place[0]}'"
    raise NotYet(
        f"a record of the page says: {where}",
        f"all of them should be records of partition 1 of '{topic}'",
        "the TopicPartition that you assign",
    )


def _nothing(reader: Consumer, topic: str) -> NotYet:
    """Return why no record came, as far as the reader tells."""
    try:
        places = reader.assignment()
    except RuntimeError:  # closed: it does not tell any more
        return NotYet(
            "`page` is empty",
            f"partition 1 of '{topic}' holds the records, and the first ones take a moment to come",
            f"{ASSIGN}, and how long your loop waits",
        )
    if not places and isinstance(reader, LabConsumer) and reader.asked:
        return NotYet(
            "`page` is empty, and `reader` has no partition now",
            "it should keep partition 1 while it reads",
            f"{ASSIGN}; unassign() and the end of a subscription take all partitions away",
        )
    if not places:
        found = "`reader` has neither subscribed nor been assigned a partition"
        return NotYet(found, "it should be told where to read", ASSIGN)
    place = places[0]
    if (place.topic, place.partition) != (topic, 1):
        found = f"no record came: `reader` was assigned partition {place.partition} of '{place.topic}'"
        return NotYet(found, f"partition 1 of '{topic}' holds the records", ASSIGN)
    if place.offset < 0:
        found = "no record came: `reader` was assigned partition 1 without an offset"
        return NotYet(found, "a new group begins at the end, where no records are", ASSIGN)
    return NotYet(
        f"no record came from offset {place.offset} on",
        "the first ones take a moment: the reader has to find the leader, and the leader to answer",
        "how long your loop waits",
    )
