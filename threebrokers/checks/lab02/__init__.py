"""The checks of lab 02."""

from collections import Counter
from typing import Any

from threebrokers.checks.expect import committed, consumer_of_lab, expect_choice, expect_topic, log_of
from threebrokers.checks.lab02.keys import Stored, flights_in, identity, judge, timetable
from threebrokers.checks.lab02.places import is_foretold, is_the_first, is_the_page, is_unread
from threebrokers.kafka.log_reader import Record
from threebrokers.lab.exercise import NotYet, eventually, exercise
from threebrokers.lab.lab import Lab

TOPICS = (
    "alerts",
    "by-aircraft",
    "clock-append",
    "clock-create",
    "days",
    "gaps",
    "january",
    "keys",
    "seven-1",
    "seven-13",
    "synced",
    "tails-java",
    "tails-python",
    "unsynced",
)
GROUPS = ("audit", "board", "everything", "first", "page")
CALL_SECONDS = 10.0

NOT_WHY = {
    "linger": (
        "the number is right, but linger.ms was a whole minute, and nobody waited for that",
        "something else told the producer to send",
        "the cell that fills 'days'",
    ),
    "size": (
        "the number is right, but no batch is near batch.size (1,000,000 bytes)",
        "something told the producer to send a batch that was not full",
        "the numbers after 'size:' in the dump, and the cell that fills 'days'",
    ),
    "leader": (
        "the number is right, but a leader never puts records together or takes them apart",
        "a batch is made before it travels",
        "the cell that fills 'days': what does its program do after each day?",
    ),
}


@exercise("2.1", "Keep each aircraft's flights in order")
def aircraft_in_order(lab: Lab, by_aircraft: str) -> str:
    """Solved if the topic holds January once, each aircraft in one partition, in scheduled order."""
    partitions = len(expect_topic(lab, by_aircraft, "by-aircraft").partitions)
    if partitions != 6:
        raise NotYet(
            f"'{by_aircraft}' has {partitions} partition{'s' * (partitions != 1)}",
            "6 are asked for, so that six readers can share the work",
            'lab.fresh_topic("by-aircraft", partitions=…)',
        )
    stored = eventually(lambda: _january(lab, by_aircraft), what="January's flights to be stored", within=3)
    judge(stored, partitions)
    aircraft = {flight["tailnum"] for _, flight in stored if flight["tailnum"]}
    return (
        f"each of {len(aircraft):,} aircraft has all its flights in one partition, in their order; so six "
        "readers can share the work, and each sees the whole story of its aircraft."
    )


@exercise("2.2", "Read one page and leave no trace")
def one_page(lab: Lab, reader: object, page: list[Any]) -> str:
    """Solved if the page is offsets 100 to 119 of partition 1, and the reader's group has left nothing."""
    consumer = consumer_of_lab("reader", reader)
    is_the_page(page, lab.topic("january"))
    group = str(consumer.config.get("group.id"))
    told = lab.admin().describe_consumer_groups([group], request_timeout=CALL_SECONDS)[group].result()
    if not told.is_simple_consumer_group:
        raise NotYet(
            "the page is right, but the group has had a member: somebody subscribed",
            "a subscriber gets its partitions from the group and reads more than this page",
            "assign() with a TopicPartition, which takes partition and offset",
        )
    if consumer.config.get("enable.auto.commit", True) not in (False, "false"):
        raise NotYet(
            "the page is right, but the consumer commits by itself every five seconds and when it closes",
            "a look into the log should leave nothing behind",
            "enable.auto.commit, which is true unless you say otherwise",
        )
    for partition, offset in committed(lab, group, lab.topic("january")).items():
        raise NotYet(
            f"the page is right, but the group has committed offset {offset} of partition {partition}",
            "a look into the log should leave nothing behind",
            "commit(), which is not needed here",
        )
    return (
        "an offset is an address, so you can open the log anywhere and read any part again, "
        "and nobody else's reading has changed."
    )


@exercise("2.3", "Find the first flight stored after a given time")
def first_stored_after(lab: Lab, moment: int, reader: object, offset: int) -> str:
    """Solved if the offset is that of the first timestamp from `moment` on, and the log was not scanned."""
    consumer = consumer_of_lab("reader", reader)
    records = _filled(lab, "days")
    later = [record.offset for record in records if record.timestamp >= moment]
    if not later or later[0] == records[0].offset:
        raise NotYet(
            f"`moment` is {moment}, and 'days' was not stored partly before and partly after it",
            "it should be the time that the cell above has noted",
            "the cell that fills 'days': run it again",
        )
    is_the_first(offset, later[0], records[-1].offset + 1)
    is_unread(consumer, later[0])
    return (
        "the broker found it in its index of times and did not send a single record; "
        "from there you can read again whatever came in since."
    )


@exercise("2.4", "Say which partition a key goes to")
def partitions_foretold(lab: Lab, here: dict[Any, Any], java: dict[Any, Any]) -> str:
    """Solved if both dictionaries name, for each tail number, the partition of the real record."""
    python_put, java_put = _places(lab, "tails-python"), _places(lab, "tails-java")
    is_foretold("here", here, python_put, java_put)
    is_foretold("java", java, java_put, python_put)
    return (
        f"all {len(python_put) + len(java_put)} records are where you said; the partition follows from the "
        "key, the number of partitions and the client's function, so programs that share keys must agree."
    )


@exercise("2.5", "Count the batches")
def batches_counted(lab: Lab, batches: int, why: str) -> str:
    """Solved if the number is that of the dump of partition 0 of 'days', and the reason is flush."""
    _filled(lab, "days")
    segments = lab.cluster.segments(lab.topic("days"), 0)
    dump = lab.cluster.tool("kafka-dump-log", "--files", ",".join(map(str, segments)))
    counts = [int(line.split(" count: ")[1].split()[0]) for line in dump.splitlines() if " count: " in line]
    if batches != len(counts):
        other = {sum(counts): "the number of records", len(segments): "the number of files (segments)"}
        raise NotYet(
            f"{batches} is {other.get(batches, 'not the number of batches')}",
            "each batch has one line in the dump, which begins with 'baseOffset'",
            "the output of kafka-dump-log without --print-data-log",
        )
    expect_choice("why", why, "flush", NOT_WHY)
    return (
        f"{len(counts)} batches hold {sum(counts):,} records, one batch for each flush(); the producer made "
        "them, and from there to the disk and to every reader they are only copied."
    )


def _january(lab: Lab, topic: str) -> list[Stored]:
    """Return the topic's flights once they are exactly those of January."""
    wanted = timetable(1)
    stored = flights_in(log_of(lab, topic))
    there = Counter(identity(flight) for _, flight in stored)
    if there - wanted:
        raise NotYet(
            f"'{topic}' holds {(there - wanted).total():,} records too many",
            "each flight of January should be there once",
            'lab.fresh_topic("by-aircraft", …), which starts from an empty topic',
        )
    if wanted - there:
        raise NotYet(
            f"'{topic}' holds {there.total():,} of January's {wanted.total():,} flights",
            "all of them should be there, also those without a tail number",
            "the loop over `timetable`, and producer.flush() after it",
        )
    return stored


def _places(lab: Lab, name: str) -> dict[str, int]:
    return {(record.key or b"").decode(): record.partition for record in _filled(lab, name)}


def _filled(lab: Lab, name: str) -> list[Record]:
    """Return the records of a topic that a cell of the lesson fills before the exercise."""
    topic = lab.topic(name)
    records = log_of(lab, topic) if lab.cluster.state([topic]).topic(topic) else []
    if not records:
        raise NotYet(
            f"the topic '{topic}' is not there or is empty",
            "the lab fills it before this exercise",
            f"the cell above with '{name}' in it: run it again",
        )
    return records
