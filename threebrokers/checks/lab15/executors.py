"""Exercise 15.6: one query on two workers, judged by what it wrote, and who has read it."""

from collections import Counter
from collections.abc import Collection, Sequence

from threebrokers.kafka.log_reader import Record
from threebrokers.lab.exercise import NotYet

START = "the arguments of start_copy(…)"
WORKERS = 2


def judge_readers_of(topic: str, records: Sequence[Record], wanted: Collection[str], driver: int) -> None:
    """Raise NotYet unless the topic holds each place (key) once, read by two executors (value).

    `driver` is the process of the session in which the query ran.
    """
    if not records:
        raise NotYet(
            f"'{topic}' holds nothing",
            "a query that was stopped, that begins at the end, or whose checkpoint says that all is read, "
            "writes nothing",
            START,
        )
    times = Counter((record.key or b"").decode() for record in records)
    if missing := len(set(wanted) - times.keys()):
        raise NotYet(
            f"{missing} of {len(wanted)} departures are missing in '{topic}'", "all should be there", START
        )
    if twice := sum(count > 1 for count in times.values()):
        raise NotYet(
            f"{twice} departures are there twice",
            f"one query should have written '{topic}', which is empty when the cell begins",
            START,
        )
    processes = {(record.value or b"").decode() for record in records}
    if str(driver) in processes:
        raise NotYet(
            "the driver's own process has read the topic: this is Spark on this machine",
            "the session should be the one on the cluster",
            "`session(…)`: which address did it get?",
        )
    if len(processes) < WORKERS:
        raise NotYet(
            "one executor has read all partitions, and the other had nothing to do",
            "each partition should be a task of its own",
            "`rows`, the first argument of start_copy(…)",
        )
