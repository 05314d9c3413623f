"""What the checks of labs 13 to 15 ask of a streaming query."""

import re
from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import StructType

from threebrokers.checks.expect_spark import first_line, memory_table
from threebrokers.lab.exercise import NotYet, eventually
from threebrokers.spark import connect
from threebrokers.spark.queries import java_there

CELL = "the cell of the exercise"
END_SECONDS = 30.0


def expect_ended(query: StreamingQuery) -> None:
    """Raise NotYet unless the query has ended by itself, and well; one that runs on is stopped."""
    with java_there():
        try:
            eventually(lambda: _expect_ended(query), what="the query to end", within=END_SECONDS)
        except NotYet:
            query.stop()
            raise
        if (fault := query.exception()) is not None:
            raise NotYet(
                f"the query failed (Spark says: {first_line(fault)})", "it should read to the end", CELL
            )
        if not query.recentProgress:
            raise NotYet(
                "the query was stopped before its first batch had ended",
                "it should read to the end of the topic",
                "watch_query(query), which waits for the end",
            )


def table_of(query: StreamingQuery, columns: Sequence[str]) -> DataFrame:
    """Return the table that a query wrote in memory; NotYet unless it has these columns."""
    with java_there():
        table = memory_table(query)
        found = table.columns
    if missing := [column for column in columns if column not in found]:
        raise NotYet(
            f"the query's table has no column {', '.join(f'`{one}`' for one in missing)}; it has "
            f"{', '.join(f'`{one}`' for one in found)}",
            f"it should have {', '.join(columns)}",
            "what groupBy(…) is given",
        )
    if "window" in columns and not isinstance(kind := table.schema["window"].dataType, StructType):
        raise NotYet(
            f"`window` is a column of the type {kind.simpleString()}",
            "it should be a window with a start and an end: ten o'clock of another day is another hour",
            "F.window(…), which groupBy(…) can be given",
        )
    return table


def output_mode(query: StreamingQuery) -> str:
    """Return the output mode with which a query was started."""
    if connect.current() is not None:
        asked = connect.started(query)
        return asked.output_mode.lower() if asked else "unknown"
    return str(query._jsq.streamingQuery().outputMode().toString()).lower()  # only Java knows it


def deciding(plan: str) -> list[str]:
    """Return the columns by which the plan of a query drops duplicates; none if it has no such step."""
    found = re.search(r"StreamingDeduplicate(?:WithinWatermark)? \[([^\]]*)\]", plan)
    return [name.partition("#")[0].strip() for name in found[1].split(",")] if found else []


def _expect_ended(query: StreamingQuery) -> None:
    if query.isActive:
        raise NotYet(
            "the query still runs (the check has stopped it)",
            "it should end by itself when it has read what was there",
            "start_query(…), which sets the trigger",
        )
