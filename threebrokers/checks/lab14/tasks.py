"""Exercise 14.6: two topics that tasks can join without asking each other."""

from collections.abc import Collection, Mapping, Sequence

from threebrokers.checks.expect import log_of
from threebrokers.data.registers import load_weather
from threebrokers.data.replay import late_departures
from threebrokers.kafka.log_reader import end_offsets
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab

TASKS = 4
WRITE = "send_rows(…)"
Place = tuple[int, bytes | None]


def judge_topics(lab: Lab, stream: str, table: str) -> None:
    """Raise NotYet unless each record of `stream` finds its weather in the same partition of `table`."""
    if stream == table:
        raise NotYet(
            "one topic is both: departures would find themselves",
            "`table` should hold the weather",
            "`stream` and `table`",
        )
    counts = len(end_offsets(lab.bootstrap, stream)), len(end_offsets(lab.bootstrap, table))
    expect_counts(*counts)
    departures, rows = log_of(lab, stream), log_of(lab, table)
    compare_places(
        [(record.partition, record.key) for record in departures],
        [(record.partition, record.key) for record in rows],
    )
    compare_values([record.value for record in departures], {record.key: record.value for record in rows})


def expect_counts(stream: int, table: int) -> None:
    """Raise NotYet unless both topics have four partitions."""
    if stream != table:
        raise NotYet(
            f"the stream has {stream} partitions, and the table has {table}: Kafka Streams would not start",
            "a key's partition depends on their number",
            WRITE,
        )
    if stream == 1:
        raise NotYet(
            "all is in one partition: one task does all the work",
            f"{TASKS} tasks should share it, and still find everything",
            WRITE,
        )
    if stream != TASKS:
        raise NotYet(f"there are {stream} partitions", f"{TASKS} tasks should share the work", WRITE)


def compare_places(stream: Collection[Place], table: Collection[Place]) -> None:
    """Raise NotYet unless the stream's records (partition, key) find their key in the same partition."""
    held, keys = set(table), {key for _, key in table}
    if (flights := len(late_departures())) != len(stream):
        raise NotYet(f"the stream has {len(stream)} records", f"{flights} flights left", WRITE)
    if not keys:
        raise NotYet(
            "the table has no records",
            "it should hold the weather of each hour",
            f"{WRITE}, which makes its topic anew: rows of that same topic are gone before they are read",
        )
    strange = [key for _, key in stream if key not in keys]
    if strange:
        example = (strange[0] or b"").decode()
        raise NotYet(
            f"the key {example!r} of the stream is the key of no row in the table",
            "both sides need the same key: airport and hour",
            "`by_hour`",
        )
    if len(keys) < (hours := len(load_weather())):
        raise NotYet(
            f"the table has {len(keys)} keys, and there is weather for {hours} airports and hours",
            "`table` should hold the weather",
            "`table`, and the rows that send_rows(…) was given for it",
        )
    found = sum(place in held for place in stream)
    if found < len(stream):
        raise NotYet(
            f"{found} of {len(stream)} departures find their weather: both sides have the same keys and as "
            "many partitions, but two producers that choose differently",
            "one partitioner should have placed the keys of both",
            WRITE,
        )


def compare_values(stream: Sequence[bytes | None], table: Mapping[bytes | None, bytes | None]) -> None:
    """Raise NotYet unless `stream` has values, and the last value of each key in `table` tells something.

    A value may be written anew, in any form and unit. So only what is no weather for sure is refused.
    """
    if empty := sum(not value for value in stream):
        raise NotYet(
            f"{empty} of {len(stream)} departures of the stream have no value",
            "`stream` should hold the departures, and not only their keys",
            "`stream`, and the rows that send_rows(…) was given for it",
        )
    without = [key for key, value in table.items() if not value or value == key]
    if without or len(set(table.values())) == 1:
        without = without or list(table)
        raise NotYet(
            f"{len(without)} of {len(table)} rows of the table say nothing of the weather of their hour, "
            f"such as that of {(without[0] or b'').decode(errors='replace')!r}",
            "`table` should hold all the weather, and not only its keys",
            "the values of the rows that send_rows(…) was given for `table`",
        )
