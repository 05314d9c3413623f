"""Three readers of a stream's results, and what each gets in an output mode."""

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from threebrokers.errors import LabError
from threebrokers.spark.queries import ended_within, expect_no_fault, java_there, reason, start_query
from threebrokers.waiting import shown

SECONDS = 90


class Delivered(NamedTuple):
    """What one reader got: `sent` rows in all batches, and those that it has in the end.

    If Spark refused the mode, `refused` is its reason, and there are no rows.
    """

    mode: str
    sent: int
    rows: pd.DataFrame
    refused: str


def deliver(tables: Mapping[str, DataFrame], modes: Mapping[str, str]) -> dict[str, Delivered]:
    """Run a query for each table in its output mode, to the end of its topic; return what each has sent.

    Raises LabError if a table has no mode.
    """
    if missing := [name for name in tables if name not in modes]:
        raise LabError(f"`{missing[0]}` has no output mode: give each of {', '.join(tables)} one.")
    return {name: _delivered(name, table, modes[name]) for name, table in tables.items()}


def _delivered(name: str, table: DataFrame, mode: str) -> Delivered:
    with java_there(), shown(f"the query of `{name}` to end", SECONDS):
        try:
            query = start_query(table, mode, name)
        except (PySparkException, ValueError) as fault:
            return Delivered(mode, 0, pd.DataFrame(), reason(fault))
        try:
            if not ended_within(query, SECONDS):
                raise LabError(f"The query of `{name}` did not end within {SECONDS} s: run the cell again.")
        finally:
            query.stop()
        expect_no_fault(query, f"The query of `{name}` failed")
        sent = sum(int(step["sink"]["numOutputRows"]) for step in query.recentProgress)
        rows = table.sparkSession.table(name)
        if "window" in rows.columns:
            rows = rows.selectExpr("origin", "window.start AS hour", "count AS flights")
        return Delivered(mode, sent, rows.toPandas(), "")
