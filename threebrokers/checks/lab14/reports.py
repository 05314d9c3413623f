"""Exercise 14.3: each report once, judged by the rows and by how long the query remembers."""

from collections.abc import Iterable
from datetime import datetime, timedelta

import pandas as pd

from threebrokers.checks.expect_spark import delay_in_words
from threebrokers.data.replay import late_departures
from threebrokers.data.reports import PROMISED, repeated_reports
from threebrokers.lab.exercise import NotYet
from threebrokers.text import counted

COLUMNS = {"carrier": "carrier", "flight": "flight"}
DROP, MARK = "the call that drops duplicates", "withWatermark(…)"


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
    """Raise NotYet unless the query remembers for six hours.

    `most` rows were in its state at a time, and `last` at the end.
    """
    if delay is None:
        raise NotYet(
            "the rows are right, but the query remembers each flight for ever: "
            f"{counted(most, 'row')} are in its state",
            "six hours are enough",
            f"{MARK}, and {DROP}",
        )
    if delay > PROMISED:
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
            "the rows are right today, but the watermark follows `scheduled`: a flight that leaves too late "
            "after its plan is behind it, and would be dropped",
            "two copies are up to six hours apart in `sent`",
            MARK,
        )
