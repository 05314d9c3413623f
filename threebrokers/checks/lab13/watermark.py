"""Exercise 13.2: the smallest watermark that drops at most 1 % of the flights."""

from collections.abc import Sequence
from datetime import timedelta

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from threebrokers.checks.lab13.queries import CELL, output_mode
from threebrokers.checks.lab13.windows import WINDOW, expect_hours, rows_of
from threebrokers.data.replay import late_departures
from threebrokers.lab.exercise import NotYet
from threebrokers.spark.hours import missing_flights
from threebrokers.spark.queries import java_there
from threebrokers.spark.steps import Step, watermark_delay

# With batches of 60: 2 hours drop 1.9 % and 3 hours 0.7 %.
SMALLEST = timedelta(hours=3)
MOST_PERCENT = 1.0
FEWEST_BATCHES = 12
LOOK_AT = "withWatermark(…)"


def judge_waiting(query: StreamingQuery, taken: Sequence[Step], table: DataFrame) -> str:
    """Return why the answer matters; NotYet tells what the query dropped, and what it kept."""
    flights = len(late_departures())
    if (read := sum(step.rows for step in taken)) != flights:
        raise NotYet(f"the query read {read:,} of {flights:,} records", "it should read all of them", CELL)
    expect_batches(taken)
    delay = watermark_delay(taken)
    if delay is None:
        raise NotYet(
            f"the query has no watermark: nothing was dropped, and its state ended with {taken[-1].state} "
            "rows, one for each window that it has ever seen",
            "a query that runs for years must be able to forget",
            LOOK_AT,
        )
    with java_there():
        mode = output_mode(query)
    if mode != "append":
        raise NotYet(
            f"the query writes in the mode {mode}: what it has written may change later",
            "each window should be written once, when nothing more can come",
            'start_query(…, "append", …)',
        )
    rows = rows_of(table)
    expect_finished(rows, delay)
    return judge_delay(delay, _missing(rows), max(step.state for step in taken))


def expect_finished(rows: pd.DataFrame, delay: timedelta) -> None:
    """Raise NotYet unless the query has finished windows, and these are the hours of the plan."""
    if not rows.empty:
        expect_hours(rows)
    elif delay <= SMALLEST:  # a longer one may finish no hour of this day
        raise NotYet(
            f"with a watermark of {hours(delay)} no window was finished: the table has no rows",
            "an hour of the plan is over when later flights have come, and the hour in which you read is not",
            f"{WINDOW} and {LOOK_AT}: the columns that they are given",
        )


def _missing(rows: pd.DataFrame) -> int:
    return missing_flights(rows.groupby(["origin", "start"])["flights"].max())


def expect_batches(taken: Sequence[Step]) -> None:
    """Raise NotYet if the query read in so few batches that hardly a flight could come too late."""
    if (batches := sum(step.rows > 0 for step in taken)) < FEWEST_BATCHES:
        raise NotYet(
            f"the query read the day in {batches} {'batch' if batches == 1 else 'batches'}: the "
            "watermark moves only between batches, so hardly anything could be too late",
            "a batch should have 60 records, as in the cell above",
            "maxOffsetsPerTrigger=60",
        )


def judge_delay(delay: timedelta, missing: int, state: int) -> str:
    """Return why this delay is right; NotYet if it drops too much, or keeps more than is needed."""
    flights = len(late_departures())
    share = 100 * missing / flights
    if share > MOST_PERCENT:
        raise NotYet(
            f"a watermark of {hours(delay)} drops {missing} of {flights:,} flights, {share:.1f} %",
            "it should drop at most 1 %, that is 8 flights",
            LOOK_AT,
        )
    if delay % timedelta(hours=1):
        raise NotYet(
            f"a watermark of {hours(delay)} drops {missing} of {flights:,} flights ({share:.1f} %)",
            "whole hours are asked for",
            LOOK_AT,
        )
    if delay > SMALLEST:
        raise NotYet(
            f"a watermark of {hours(delay)} drops {missing} of {flights:,} flights, and the query kept up to "
            f"{state} rows at a time",
            "a smaller one keeps fewer rows, writes each hour sooner, and still drops at most 1 %",
            LOOK_AT,
        )
    return (
        f"a watermark of {hours(delay)} drops {missing} of {flights:,} flights ({share:.1f} %) and never "
        f"keeps more than {state} rows: an hour less loses more, an hour more keeps more and makes all wait."
    )


def hours(delay: timedelta) -> str:
    """Return a delay in hours, as people say it."""
    number = delay / timedelta(hours=1)
    return f"{number:.3g} hour{'' if number == 1 else 's'}"
