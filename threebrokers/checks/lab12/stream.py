"""Exercise 12.4: a streaming query that copies a topic into files, to its end, and ends."""

import json
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
from pyspark.sql.streaming.query import StreamingQuery

from threebrokers.checks.expect_spark import first_line
from threebrokers.data.flights import flight_messages
from threebrokers.lab.attempt import attempt
from threebrokers.lab.exercise import NotYet, eventually
from threebrokers.spark import connect
from threebrokers.spark.steps import rows_read
from threebrokers.text import counted, listed

MONTH = 1
CELL = "the cell of the exercise"
READ_SECONDS = 30.0
END_SECONDS = 5.0
ENDING = ("AvailableNow", "OneTime")  # triggers with which a query ends by itself
CONNECTS = {"available_now": "AvailableNow", "once": "OneTime"}  # their names in Spark Connect
COLUMNS = ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType")


def expect_kept(checkpoint: Path, opened_at: float) -> None:
    """Raise NotYet if the folder went when the lab was opened (s since 1970), after the query had run."""
    run = attempt()
    if run is not None and run.began < opened_at and not checkpoint.exists():
        raise NotYet(
            "the folder `checkpoint` is gone: the lab's first cell has run since, and it empties the folders",
            "the query's position should be there",
            f"{CELL}: run it again",
        )


def expect_whole(query: StreamingQuery, topic: str, checkpoint: Path) -> None:
    """Raise NotYet unless the query read the topic from its start to its end, kept its place, and ended."""
    eventually(lambda: _expect_idle(query), what="the query to read what is there", within=READ_SECONDS)
    if (fault := query.exception()) is not None:
        raise NotYet(f"the query failed (Spark says: {first_line(fault)})", "it should end by itself", CELL)
    _expect_own_place(query, checkpoint)
    judge_progress(query.recentProgress, topic)
    eventually(lambda: _expect_ended(query), what="the query to end", within=END_SECONDS)
    if not _trigger(query).startswith(ENDING):
        raise NotYet(
            "the query has ended because something stopped it",
            "it should end by itself when it has read what was there when it began",
            "trigger(…)",
        )


def judge_progress(steps: Sequence[Any], topic: str) -> None:
    """Raise NotYet unless a query's steps, as Spark tells them, go from the start of the topic to its end."""
    sources = [source for step in steps for source in step["sources"]]
    if not sources:
        raise NotYet(
            "the query was stopped before it had read a record",
            "it should read everything, and end by itself",
            "stop() in " + CELL,
        )
    last = sources[-1]
    places, ends = _offsets(last["endOffset"], topic), _offsets(last["latestOffset"], topic)
    if not places:
        raise NotYet(
            f"the query did not read {topic!r} (it read {last['description']})",
            "it should copy the records of `january`",
            "the option subscribe",
        )
    behind = sum(ends[p] - at for p, at in places.items() if p in ends)
    if behind > 0:
        raise NotYet(
            f"the query ended {counted(behind, 'record')} before the end of {topic!r}",
            "it should read everything, and end by itself",
            "stop() in " + CELL,
        )
    if sum(map(rows_read, steps)) == 0:
        raise NotYet(
            f"the query read 0 of {len(_values()):,} records",
            "it should start at the first one: without a checkpoint a stream starts at the end of the topic, "
            "unless `startingOffsets` names another place, and with one it goes on from there (Spark passes "
            "over an option that it does not know, and says nothing)",
            "the option for the place and its name, and "
            + CELL
            + " from its first line: that empties the checkpoint",
        )


def expect_copy(query: StreamingQuery, copy: Path) -> None:
    """Raise NotYet unless the query wrote Parquet files into this folder, with all of January in them."""
    kinds = sorted({path.suffix for path in copy.rglob("part-*") if not path.name.endswith(".crc")})
    if not kinds:
        sink = query.lastProgress["sink"]["description"] if query.lastProgress else "nothing"
        raise NotYet(
            f"the folder `copy` is empty: the query wrote to {sink}",
            "the records should be in files of that folder, for years and for other programs",
            'writeStream.format("parquet") and its option path',
        )
    if ".parquet" not in kinds:
        raise NotYet(
            f"the files in `copy` end with {listed(kinds)}",
            "they should be Parquet files, which keep the types of columns and the bytes of keys and values",
            "writeStream.format(…)",
        )
    judge_copy(pq.read_table(copy).to_pandas())


def judge_copy(found: pd.DataFrame) -> None:
    """Raise NotYet unless the rows are the records of January, each once, with key, place and all columns."""
    missing = [column for column in COLUMNS if column not in found]
    if missing:
        named = ", ".join(f"`{column}`" for column in found if column not in COLUMNS)
        odd = f", and has {named}" if named else ""
        raise NotYet(
            f"the copy has no {', '.join(f'`{column}`' for column in missing)}{odd}",
            "what a copy leaves out cannot be had again when the topic has let it go: keep all columns",
            f"what {CELL} does with the records between load() and start()",
        )
    records = list(zip(map(_bytes, found["key"]), map(_bytes, found["value"]), strict=True))
    held, right = Counter(value for _, value in records), _values()
    absent = (right - held).total()
    if absent:
        partitions = listed(sorted(found["partition"].unique()))
        raise NotYet(
            f"the copy lacks {absent:,} of {right.total():,} records; it has those of partition {partitions}",
            "it should have all of the topic",
            "subscribe, assign, startingOffsets and filters",
        )
    if again := (held - right).total():
        raise NotYet(
            f"the copy has {again:,} records too many",
            "each record should be there once",
            f"{CELL}: it begins with an empty folder",
        )
    if other := (_records() - Counter(records)).total():
        raise NotYet(
            f"the copy has another `key` than the topic in {other:,} of {right.total():,} records",
            "it should have the key of each record as it is: nobody can make it again from the copy",
            f"what {CELL} does with `key` between load() and start()",
        )
    if same := int(found.duplicated(["partition", "offset"], keep=False).sum()):
        raise NotYet(
            f"{same:,} records of the copy have the same `partition` and `offset` as another one",
            "each record has a place of its own in the topic, and the copy should tell it",
            f"what {CELL} does with these columns between load() and start()",
        )


def once_more(query: StreamingQuery) -> str:
    """Return a remark for a query that was started with the old trigger, else an empty text."""
    return (
        " (`once=True` is deprecated: it takes all in one step, whatever maxOffsetsPerTrigger says; "
        "`availableNow=True` keeps to it)"
        if _trigger(query).startswith("OneTime")
        else ""
    )


def _trigger(query: StreamingQuery) -> str:
    if connect.current() is not None:
        asked = connect.started(query)
        kind = asked.WhichOneof("trigger") if asked else None
        return CONNECTS.get(kind or "", "another")
    # Only Java knows the trigger of a query that was started.
    return str(query._jsq.streamingQuery().trigger().toString())


def _expect_idle(query: StreamingQuery) -> None:
    if query.isActive and not query.status["message"].startswith("Waiting"):
        raise NotYet(
            "the query still reads",
            "it should have ended, and a busy machine may need longer than this check waits",
            "query.awaitTermination(), and then the check again",
        )


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


def _offsets(told: Any, topic: str) -> dict[int, int]:
    held = json.loads(told) if isinstance(told, str) else told
    return {int(partition): offset for partition, offset in (held or {}).get(topic, {}).items()}


def _bytes(held: Any) -> bytes | None:
    """Return a key or value as bytes, also if the copy has it as text; None for one that is missing."""
    if isinstance(held, str):
        return held.encode()
    return None if pd.isna(held) else bytes(held)


@cache
def _records() -> Counter[tuple[bytes | None, bytes | None]]:
    return Counter((key, value) for key, value in flight_messages(MONTH))


@cache
def _values() -> Counter[bytes | None]:
    return Counter(value for _, value in _records().elements())
