"""The checks of lab 02."""

from collections import Counter
from typing import Any

from confluent_kafka import Consumer, Producer

from threebrokers.checks.expect import expect_choice, expect_topic, log_of, topic_setting
from threebrokers.checks.lab02.agreement import judge as judge_landings
from threebrokers.checks.lab02.keys import (
    Stored,
    all_reported,
    expect_once,
    expect_same,
    flights_in,
    identity,
    judge,
    timetable,
)
from threebrokers.checks.lab02.page import (
    is_all_that_was_read,
    is_alone,
    is_of_group,
    is_the_page,
    is_without_trace,
)
from threebrokers.checks.lab02.since import has_one_clock, is_filled, is_the_first
from threebrokers.kafka.batches import batches_in
from threebrokers.lab.exercise import NotYet, eventually, exercise
from threebrokers.lab.lab import Lab

NOT_WHY = {
    "linger": (
        "the number is right, but linger.ms was a whole minute, and nobody waited for that",
        "something else told the producer to send",
        "the cell that fills 'batched'",
    ),
    "size": (
        "the number is right, but no batch is near batch.size (1,000,000 bytes)",
        "something told the producer to send a batch that was not full",
        "the numbers after 'size:' in the dump, and the cell that fills 'batched'",
    ),
    "leader": (
        "the number is right, but a leader never puts records together or takes them apart",
        "a batch is made before it travels",
        "the cell that fills 'batched': what does its program do after each day?",
    ),
}


@exercise("2.1", "Keep each aircraft's flights in order")
def aircraft_in_order(lab: Lab, by_aircraft: str, producer: Producer) -> str:
    """Solved if the topic holds January once, each aircraft in one partition, in scheduled order."""
    partitions = len(expect_topic(lab, by_aircraft, "by-aircraft").partitions)
    if partitions != 6:
        raise NotYet(
            f"'{by_aircraft}' has {partitions} partition{'s' * (partitions != 1)}",
            "6 are asked for, so that six readers can share the work",
            'lab.fresh_topic("by-aircraft", partitions=…)',
        )
    all_reported("producer", producer)
    stored = eventually(lambda: _january(lab, by_aircraft), what="January's flights to be stored", within=3)
    expect_same(stored, 1)
    judge(stored, partitions)
    aircraft = {flight["tailnum"] for _, flight in stored if flight["tailnum"]}
    return (
        f"each of {len(aircraft):,} aircraft has all its flights in one partition, in their order; so six "
        "readers can share the work, and each sees the whole story of its aircraft."
    )


@exercise("2.2", "Make two programs agree")
def two_programs_agree(lab: Lab, movements: str, lander: Producer) -> str:
    """Solved if each landing has its departure's key, and stands behind it in the same partition."""
    expect_topic(lab, movements, "movements")
    all_reported("lander", lander)
    judge_landings(log_of(lab, movements))
    return (
        "each landing stands behind its departure; a key has one place as long as all programs write the "
        "same bytes, use the same function, and see the same number of partitions."
    )


@exercise("2.3", "Read one page and leave no trace")
def one_page(lab: Lab, group: str, reader: Consumer, page: list[Any]) -> str:
    """Solved if the page is offsets 100 to 119 of partition 1, and the reader's group has left nothing."""
    january = lab.topic("january")
    is_the_page(reader, page, january)
    is_alone(reader, january)
    is_of_group(reader, group)
    is_without_trace(lab, reader, group, january)
    is_all_that_was_read(reader, page)
    return (
        "an offset is an address, so you can open the log anywhere and read any part again, "
        "and nobody else's reading has changed."
    )


@exercise("2.4", "Read on from a given time")
def first_stored_after(lab: Lab, days: str, moment: int, offset: int) -> str:
    """Solved if the offset is that of the first record since `moment`, by the clock of the leader."""
    partitions = len(expect_topic(lab, days, "days").partitions)
    if partitions != 1:
        raise NotYet(f"'days' has {partitions} partitions", "one is asked for", 'lab.fresh_topic("days", …)')
    records = log_of(lab, days)
    first = is_filled(records)
    is_changed = topic_setting(lab, days, "message.timestamp.type") == "LogAppendTime"
    has_one_clock(records, first, moment, offset, is_changed=is_changed)
    is_the_first(records, first, moment, offset)
    return (
        "every record has the time of the leader that stored it, so a time divides the log into before and "
        "since, whatever the programs' clocks say."
    )


@exercise("2.5", "Count the batches")
def batches_counted(lab: Lab, batches: int, why: str) -> str:
    """Solved if the number is that of the dump of partition 0 of 'batched', and the reason is flush."""
    topic = lab.topic("batched")
    if not (lab.cluster.state([topic]).topic(topic) and log_of(lab, topic)):
        raise NotYet(
            f"the topic '{topic}' is not there or is empty",
            "the cell of the exercise fills it",
            "the cell of the exercise: run it again",
        )
    segments = lab.cluster.segments(topic, 0)
    counts = [batch.records for path in segments for batch in batches_in(path.read_bytes())]
    if batches != len(counts):
        other = {
            sum(counts): "the number of records",
            len(counts) + 2 * len(segments): "the number of all lines of the dump",
            len(segments): "the number of files (segments), or you have dumped another topic",
            3 * len(counts): "the number on all three brokers, and each has the same batches",
        }
        raise NotYet(
            f"{batches} is {other.get(batches, 'not the number of batches')}",
            "each batch has one line in the dump, which begins with 'baseOffset'",
            f"the output of kafka-dump-log for '{topic}', without --print-data-log",
        )
    expect_choice("why", why, "flush", NOT_WHY)
    return (
        f"{len(counts)} batches hold {sum(counts):,} records, one batch for each flush(); the producer made "
        "them, and disks and readers get them as they were made."
    )


def _january(lab: Lab, topic: str) -> list[Stored]:
    """Return the topic's flights once they are exactly those of January."""
    stored = flights_in(log_of(lab, topic))
    expect_once(topic, Counter(identity(flight) for _, flight in stored), timetable(1))
    return stored
