"""What the checks of lab 14 ask of a streaming query."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from pyspark.errors import PySparkException
from pyspark.sql.streaming.query import StreamingQuery

from threebrokers.checks.expect_spark import first_line, memory_table
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.spark import connect
from threebrokers.spark.queries import java_there
from threebrokers.spark.spark_session import folder_of
from threebrokers.spark.steps import Step, steps

CELL = "the cell of the exercise"


def rows_of(query: StreamingQuery, columns: Mapping[str, str]) -> pd.DataFrame:
    """Return the rows that a query wrote in memory, with these columns; NotYet unless it has them.

    `columns` says for each how Spark reads it, such as "left AS left_at".
    """
    with java_there():
        table = memory_table(query, start='start_query(…, "append", "a name")')
        if missing := [column for column in columns if column not in table.columns]:
            raise NotYet(
                f"the query's table has no column {', '.join(f'`{one}`' for one in missing)}",
                f"it should have {', '.join(columns)}",
                CELL,
            )
        try:
            return table.selectExpr(*columns.values()).toPandas()
        except PySparkException as fault:
            raise NotYet(
                f"the query's table cannot be read (Spark says: {first_line(fault)})",
                f"it should have each of {', '.join(columns)} once",
                CELL,
            ) from fault


def state_of(lab: Lab, query: StreamingQuery, variable: str) -> pd.DataFrame | None:
    """Return the state variable of this name as `query` has left it: tailnum and the fields of its values.

    None if the query keeps no such state, or has its checkpoint somewhere else.
    """
    checkpoint = folder_of(lab, query.name)
    with java_there():
        reader = connect.in_use().read.format("statestore").option("stateVarName", variable)
        try:
            return reader.load(str(checkpoint)).select("key.tailnum", "value.*").toPandas()
        except PySparkException:
            return None


def progress_of(query: StreamingQuery) -> list[Mapping[str, Any]]:
    """Return what the query told of its batches."""
    with java_there():
        return list(query.recentProgress)


def steps_of(query: StreamingQuery) -> list[Step]:
    """Return the query's batches."""
    return steps(progress_of(query))


def has_watermark(progress: list[Mapping[str, Any]]) -> bool:
    """Tell whether the query has a watermark."""
    return any("watermark" in (step.get("eventTime") or {}) for step in progress)
