"""Exercise 14.3: each report once, judged by the rows and by how long the query remembers."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

import pandas as pd

from threebrokers.checks.expect_spark import delay_in_words
from threebrokers.data.flights import load_flights
from threebrokers.data.replay import late_departures
from threebrokers.data.reports import PROMISED, repeated_reports
from threebrokers.lab.exercise import NotYet
from threebrokers.text import counted

COLUMNS = {"carrier": "carrier", "flight": "flight"}
SPARE = timedelta(hours=1)  # Spark advises a delay somewhat longer than copies are apart
DROP, MARK = "the call that drops duplicates", "withWatermark(…)"
REPORTED = ("carrier", "flight", "scheduled", "tailnum")  # what a report says of a flight


def judge_rows(rows: pd.DataFrame, delay: timedelta | None) -> None:
    """Raise NotYet unless each departure is there once; `delay`: that of the watermark, if there is one."""
    flights = late_departures()[["carrier", "flight"]]
    times = rows.groupby(["carrier", "flight"]).size()
    if gone := len(flights) - len(times):
        raise NotYet(
            f"{gone} of {len(flights)} departures are gone",
            "only copies should be dropped: two departures can have all but airline and flight in common",
            DROP,
        )
    if not (twice := int((times > 1).sum())):
        return
    said = f"{counted(twice, 'departure')} {'is' if twice == 1 else 'are'} there twice"
    if delay is not None and delay < PROMISED:
        raise NotYet(
            f"{said}, with a watermark of {delay_in_words(delay)}",
            "copies come up to six hours later",
            MARK,
        )
    raise NotYet(
        f"{said}: a copy differs in `sent`",
        "what is the same in both should decide",
        DROP,
    )


def judge_memory(delay: timedelta | None, most: int, last: int) -> None:
    """Raise NotYet unless the query's watermark is six hours, or up to an hour longer.

    `most` rows were in its state at a time, and `last` at the end.
    """
    if delay is None:
        raise NotYet(
            "the rows are right, but the query remembers each flight for ever: "
            f"{counted(most, 'row')} are in its state",
            "six hours are enough",
            f"{MARK}, and {DROP}",
        )
    if delay > PROMISED + SPARE:
        raise NotYet(
            f"the rows are right, but a watermark of {delay_in_words(delay)} keeps {most} rows at a time",
            "no copy comes after six hours",
            MARK,
        )
    if delay < PROMISED:
        raise NotYet(
            "each departure is there once, and today that was enough: "
            f"{delay_in_words(delay)} is what the query promises, the rest was luck with its batches",
            "copies come up to six hours later",
            MARK,
        )
    if last == most:
        raise NotYet(
            f"the rows are right, but {counted(last, 'row')} are in the state at the end: the watermark "
            "moves, and nothing is forgotten",
            "dropDuplicates without the column of the watermark, and the mode complete, remember for ever",
            DROP,
        )


def judge_clock(newest: Iterable[datetime | None]) -> None:
    """Raise NotYet unless the watermark follows `sent`; `newest` is the latest event time of each batch."""
    seen = max((time for time in newest if time is not None), default=None)
    if seen == repeated_reports()["scheduled"].max():
        raise NotYet(
            "the watermark follows `scheduled`: a flight that leaves too late after its plan is behind it, "
            "and its reports are dropped",
            "two copies are up to six hours apart in `sent`",
            MARK,
        )


def judge_columns(columns: Sequence[str]) -> None:
    """Raise NotYet if in 2013 two departures within six hours had these columns of a report in common."""
    if not columns or not set(columns) <= set(REPORTED):
        return  # the query made a column of its own: what stands in it is not known here
    if (pair := alike(columns)) is None:
        return
    named = " and ".join(name for name in REPORTED if name in columns)
    first, second = (f"{one.carrier} {one.flight} of {one.scheduled:%-d %B, %H:%M}," for one in pair)
    raise NotYet(
        f"the rows are right today, but two flights that left within six hours, {first} and {second} "
        f"have the same {named}",
        "a report of the second one would be taken for a copy",
        DROP,
    )


def alike(columns: Sequence[str]) -> tuple[Any, Any] | None:
    """Return the first departure of the year that has these columns in common with one of six hours before.

    The earlier one comes first. None if there is no such pair.
    """
    table = load_flights()
    table = table[table["dep_delay"].notna() & table.duplicated([*columns], keep=False)]
    left = table["scheduled"] + pd.to_timedelta(table["dep_delay"].astype(int), unit="min")
    table = table.assign(left=left).sort_values("left", kind="stable", ignore_index=True)
    groups = table.groupby([*columns])
    near = table[groups["left"].diff() <= PROMISED]
    if near.empty:
        return None
    second = near.index[0]
    same = groups.get_group(tuple(table.loc[second, [*columns]])).index
    first = same[same < second][-1]
    return table.loc[first], table.loc[second]
