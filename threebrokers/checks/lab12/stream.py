"""Exercise 12.4: a streaming query that reads a topic to its end, and ends."""

import json
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql.streaming.query import StreamingQuery

from threebrokers.checks.expect_spark import first_line
from threebrokers.lab.exercise import NotYet, eventually

CELL = "the cell of the exercise"
READ_SECONDS = 30.0
END_SECONDS = 5.0


def expect_whole(query: StreamingQuery, topic: str, ends: Mapping[int, int], checkpoint: Path) -> None:
    """Raise NotYet unless the query read all records of the topic, kept its place there, and ended."""
    eventually(lambda: _expect_idle(query), what="the query to read what is there", within=READ_SECONDS)
    if (fault := query.exception()) is not None:
        raise NotYet(f"the query failed (Spark says: {first_line(fault)})", "it should end by itself", CELL)
    _expect_own_place(query, checkpoint)
    read, places = _progress(query, topic)
    missing = [str(p) for p in sorted(ends) if p not in places]
    if missing:
        raise NotYet(
            f"the query did not read partition {', '.join(missing)} of {topic!r}",
            "it should read all of the topic",
            "subscribe and assign",
        )
    total = sum(ends.values())
    if read == 0:
        raise NotYet(
            f"the query read 0 of {total:,} records",
            "a stream without a checkpoint starts at the end of the topic, unless it is told another place",
            "startingOffsets",
        )
    if read != total:
        raise NotYet(f"the query read {read:,} records", f"the topic holds {total:,}", "startingOffsets")
    eventually(lambda: _expect_ended(query), what="the query to end", within=END_SECONDS)


def _expect_idle(query: StreamingQuery) -> None:
    if query.isActive and not query.status["message"].startswith("Waiting"):
        raise NotYet(f"after {READ_SECONDS:g} s the query still reads", "it should be done by now", CELL)


def _expect_ended(query: StreamingQuery) -> None:
    if query.isActive:
        raise NotYet(
            "the query has read everything and still runs",
            "it should end when it has read what was there when it began",
            "trigger(…)",
        )


def _expect_own_place(query: StreamingQuery, checkpoint: Path) -> None:
    try:
        kept = json.loads((checkpoint / "metadata").read_text(encoding="utf-8"))["id"]
    except (OSError, ValueError, KeyError):
        kept = None
    if kept != query.id:
        raise NotYet(
            "the query keeps its position in another folder than `checkpoint`",
            "a reader that goes on from another reader's position does not read what that one has read",
            'option("checkpointLocation", …)',
        )


def _progress(query: StreamingQuery, topic: str) -> tuple[int, dict[int, int]]:
    """Return how many records the query read, and its next offset in each partition."""
    read, places = 0, {}
    for step in query.recentProgress:
        read += step["numInputRows"]
        for source in step["sources"]:
            told = json.loads(source["endOffset"] or "null") or {}
            places = {int(partition): offset for partition, offset in told.get(topic, {}).items()}
    return read, places
