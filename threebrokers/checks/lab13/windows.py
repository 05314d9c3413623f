"""Exercises 13.1 and 13.6: departures by window of scheduled time, against the package's own table."""

from datetime import timedelta
from itertools import pairwise

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from threebrokers.checks.expect_spark import plan_of_query
from threebrokers.checks.lab13.queries import CELL, output_mode
from threebrokers.lab.exercise import NotYet
from threebrokers.spark.hours import HOUR, beyond_plan, windows_of_package
from threebrokers.spark.queries import java_there
from threebrokers.spark.steps import steps
from threebrokers.text import counted

YEAR = 2013
WINDOW = "F.window(…)"


def judge_hours(table: DataFrame, query: StreamingQuery) -> None:
    """Raise NotYet unless the table has the departures by airport and hour of the plan."""
    rows = _rows(table, query)
    expect_open_hours(rows, output_mode(query))
    compare_windows(rows, HOUR, HOUR, once=_writes_once(query))


def expect_open_hours(rows: pd.DataFrame, mode: str) -> None:
    """Raise NotYet if what is missing are the hours that the mode append keeps back."""
    right = windows_of_package(HOUR, HOUR).to_dict()
    held = rows.groupby(["origin", "start"])["flights"].max().to_dict()
    missing = len(right) - len(held)
    if mode == "append" and missing and held.items() <= right.items():
        raise NotYet(
            f"of {len(right)} windows {missing} {'is' if missing == 1 else 'are'} not there: in the mode "
            "append Spark writes a window only when no flight of it can come any more",
            "all that was counted should be there at the end of the topic",
            "the mode, the second thing that start_query(…) is given",
        )


def judge_sliding(table: DataFrame, query: StreamingQuery, length: timedelta, step: timedelta) -> None:
    """Raise NotYet unless the table has the departures by airport, in windows of this length and step."""
    compare_windows(_rows(table, query), length, step, once=_writes_once(query))


def expect_hours(rows: pd.DataFrame) -> None:
    """Raise NotYet unless rows (origin, start, end, flights) are hours of the plan, each of them once.

    An hour may lack flights, and hours may be missing.
    """
    _expect_length(rows, HOUR)
    right = windows_of_package()
    held = rows.groupby(["origin", "start"])["flights"].max()
    _expect_step(held, right, HOUR)
    _expect_once(rows)
    if (place := beyond_plan(held)) is not None:
        origin, start = place
        raise NotYet(
            f"{origin} has {counted(int(held[place]), 'flight')} in the window from {start:%d %b %H:%M} UTC",
            f"by the plan {counted(int(right.get(place, 0)), 'flight')} left there in that hour",
            WINDOW,
        )


def compare_windows(rows: pd.DataFrame, length: timedelta, step: timedelta, *, once: bool) -> None:
    """Raise NotYet unless rows (origin, start, end, flights) are the package's windows.

    `once` tells whether the query writes each row once; otherwise the largest number of a window is the last.
    """
    _expect_length(rows, length)
    if once:
        _expect_once(rows)
    right = windows_of_package(length, step)
    held = rows.groupby(["origin", "start"])["flights"].max()
    if held.to_dict() == right.to_dict():
        return
    if held.to_dict() == windows_of_package(length, step, time="left").to_dict():
        raise NotYet(
            "the windows count a flight in the hour in which it really left",
            "it belongs to the hour of its plan, however late it was",
            "the time that window(…) is given",
        )
    _expect_step(held, right, step)
    place = next(
        place for place in sorted({*held.index, *right.index}) if held.get(place, 0) != right.get(place, 0)
    )
    origin, start = place
    raise NotYet(
        f"{origin} has {counted(int(held.get(place, 0)), 'flight')} in the window from {start:%d %b %H:%M} "
        f"UTC, and {int(held.sum()):,} in all windows",
        f"the package's own table has {int(right.get(place, 0)):,} there, and {int(right.sum()):,} in all",
        CELL,
    )


def _writes_once(query: StreamingQuery) -> bool:
    """Tell whether the query wrote each row once; in the mode update, several batches write it anew."""
    if output_mode(query) != "update":
        return True
    with java_there():
        return sum(step.rows > 0 for step in steps(query.recentProgress)) == 1


def _expect_once(rows: pd.DataFrame) -> None:
    if twice := int(rows.duplicated(["origin", "start"]).sum()):
        raise NotYet(
            f"{counted(twice, 'row')} of the table {'is' if twice == 1 else 'are'} for an airport and window "
            "that another row is for",
            "each airport and window should have one number",
            "what groupBy(…) is given",
        )


def rows_of(table: DataFrame) -> pd.DataFrame:
    """Return the rows of the query's table: origin, start, end and flights."""
    with java_there():
        wanted = table.selectExpr("origin", "window.start AS start", "window.end AS end", "count AS flights")
        rows: pd.DataFrame = wanted.toPandas()
    return rows


def _rows(table: DataFrame, query: StreamingQuery) -> pd.DataFrame:
    """Return the rows of the query's table; NotYet if there are none, or if their windows are of today."""
    rows = rows_of(table)
    if rows.empty:
        raise NotYet("the query's table has no rows", "it should have one for each airport and window", CELL)
    if rows["start"].min().year > YEAR:
        with java_there():
            # The clock of a batch stands in its plan as a number, a column by its name.
            reading = "(timestamp#" not in plan_of_query(query)
        _told_now(rows, reading)
    return rows


def _told_now(rows: pd.DataFrame, reading: bool) -> None:
    windows = rows["start"].nunique()
    if reading:
        raise NotYet(
            f"all flights are in {counted(windows, 'window')} of today: that is when Spark read them",
            "read a week later, the same flights would be in other windows; count by the time of the plan",
            WINDOW,
        )
    raise NotYet(
        f"all flights are in {counted(windows, 'window')} of today: that is when the records were written",
        "`timestamp` is Kafka's time of the record; the time of the plan is inside the value",
        WINDOW,
    )


def _expect_length(rows: pd.DataFrame, length: timedelta) -> None:
    found = (rows["end"] - rows["start"]).iloc[0]
    if found != length:
        raise NotYet(f"a window is {_minutes(found)} long", f"each should be {_minutes(length)} long", WINDOW)


def _expect_step(held: "pd.Series[int]", right: "pd.Series[int]", step: timedelta) -> None:
    begins = sorted({start for _, start in held.index})
    found = min((later - sooner for sooner, later in pairwise(begins)), default=step)
    if found != step:
        each = round(held.sum() / right.sum() * (timedelta(hours=1) // step), 1)
        raise NotYet(
            f"a window begins every {_minutes(found)}, so each flight is in {each:g} of them",
            f"one should begin every {_minutes(step)}",
            WINDOW,
        )


def _minutes(time: timedelta) -> str:
    return counted(round(time / timedelta(minutes=1)), "minute")
