"""Exercise 15.4: two versions of a query side by side, judged by what they wrote and where they stand."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pyspark.sql.streaming.query import StreamingQuery

from threebrokers.data.replay import late_departures
from threebrokers.kafka.log_reader import Record
from threebrokers.lab.exercise import NotYet
from threebrokers.spark.queries import java_there

LIMIT = 120
START = "the arguments of start_vouchers(…)"


def judge_old(topic: str, records: Sequence[Record]) -> None:
    """Raise NotYet unless the topic holds what version 1 wrote, and nothing else."""
    if not records:
        raise NotYet(
            f"'{topic}' is empty",
            "the results of version 1 are the way back as long as version 2 may be wrong",
            "what is done with `exact-late-v1`",
        )
    if delays(records) != vouchers(LIMIT + 1):
        raise NotYet(
            f"'{topic}' is not as version 1 has left it ({len(records)} records)",
            f"{vouchers(LIMIT + 1).total()} vouchers: its readers must not get two versions in one topic",
            START,
        )


def judge_new(topic: str, records: Sequence[Record]) -> None:
    """Raise NotYet unless the topic holds a voucher for each departure that was late by two hours or more."""
    found, right = delays(records), vouchers(LIMIT)
    if found == right:
        return
    if not records:
        raise NotYet(
            f"'{topic}' holds nothing",
            "a query that begins at the end, or whose checkpoint says that all is read, reads nothing of "
            "the past",
            START,
        )
    if not found[LIMIT]:
        raise NotYet(
            f"'{topic}' has no voucher for a delay of exactly two hours",
            f"{right[LIMIT]} departures have one of {LIMIT} minutes",
            "the condition",
        )
    raise NotYet(
        f"'{topic}' holds {len(records)} vouchers",
        f"{right.total()} departures were late by {LIMIT} minutes or more, and each should be there once",
        START,
    )


def expect_checkpoints(query: StreamingQuery, first: Path) -> None:
    """Raise NotYet unless the checkpoint of version 1 is still there, and the query has another one."""
    with java_there():
        taken = _id_in(first) in (query.id, None)
    if taken:
        raise NotYet(
            "the checkpoint of version 1 is gone",
            "as long as it is there, version 1 can go on if version 2 is wrong",
            "the folder that start_vouchers(…) is given",
        )


def judge_readers(readers: str, old: str, new: str) -> None:
    """Raise NotYet unless the readers have changed over to the new topic."""
    if readers == old:
        raise NotYet(f"the office still reads '{old}'", "version 2 is complete and right", "`readers`")
    if readers != new:
        raise NotYet(f"`readers` is {readers!r}", f"it should be {new!r}", "lab.topic(…)")


def delays(records: Sequence[Record]) -> Counter[int]:
    """Return how many records there are for each delay in minutes."""
    return Counter(int(record.value or 0) for record in records)


def vouchers(least: int) -> Counter[int]:
    """Return how many departures had each delay from `least` minutes on, by the package's own table."""
    late = late_departures()["dep_delay"].astype(int)
    return Counter(late[late >= least].tolist())


def _id_in(checkpoint: Path) -> str | None:
    try:
        return str(json.loads((checkpoint / "metadata").read_text(encoding="utf-8"))["id"])
    except (OSError, ValueError, KeyError):
        return None
