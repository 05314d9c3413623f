"""Exercise 14.3: each report once, judged by the rows and by how long the query remembers."""

from datetime import timedelta

import pandas as pd

from threebrokers.data.replay import late_departures
from threebrokers.data.reports import PROMISED
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
    if delay is not None and delay < PROMISED:
        raise NotYet(
            f"{counted(twice, 'departure')} are there twice, with a watermark of {_long(delay)}",
            "copies come up to six hours later",
            MARK,
        )
    raise NotYet(
        f"{counted(twice, 'departure')} are there twice: a copy differs in `sent`",
        "what is the same in both should decide",
        DROP,
    )


def judge_memory(delay: timedelta | None, most: int) -> None:
    """Raise NotYet unless the query remembers for six hours; `most` rows were in its state at a time."""
    if delay is None:
        raise NotYet(
            f"the rows are right, but the query remembers each flight for ever: {most} rows are in its state",
            "six hours are enough",
            f"{MARK}, and {DROP}",
        )
    if delay > PROMISED:
        raise NotYet(
            f"the rows are right, but a watermark of {_long(delay)} keeps up to {most} rows at a time",
            "no copy comes after six hours",
            MARK,
        )
    if delay < PROMISED:
        raise NotYet(
            f"each departure is there once, and today that was enough: {_long(delay)} is what the query "
            "promises, the rest was luck with its batches",
            "copies come up to six hours later",
            MARK,
        )


def _long(delay: timedelta) -> str:
    minutes = round(delay / timedelta(minutes=1))
    if minutes % 1440 == 0:
        return counted(minutes // 1440, "day")
    return counted(minutes // 60, "hour") if minutes % 60 == 0 else counted(minutes, "minute")
