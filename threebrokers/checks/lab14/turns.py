"""Exercise 14.4: turns of aircraft and alarms, against the package's own table."""

import pandas as pd

from threebrokers.data.replay import late_departures
from threebrokers.lab.exercise import NotYet
from threebrokers.text import counted

COLUMNS = {
    "tailnum": "tailnum",
    "left": "left AS left_at",
    "minutes": "CAST(minutes AS DOUBLE) AS minutes",
}
AWAY, LATE = pd.Timedelta(12, "h"), pd.Timedelta(10, "min")
TIMER = "`watch`, or `handleExpiredTimer`"


def departures_of_package() -> pd.DataFrame:
    """Return departures: `tailnum`, `left_at` (UTC), and the times since the first one and to the next one.

    These are the columns `before` and `after`, of the same aircraft.
    """
    table = late_departures()[["tailnum", "left"]].rename(columns={"left": "left_at"})
    table["left_at"] = table["left_at"].dt.tz_convert("UTC").dt.tz_localize(None)
    aircraft = table.groupby("tailnum")["left_at"]
    table["before"] = table["left_at"] - aircraft.transform("min")
    table["after"] = aircraft.shift(-1) - table["left_at"]
    return table


def judge_turns(rows: pd.DataFrame) -> int:
    """Return how many alarms there are; NotYet unless alarms and turns are right. `rows` has COLUMNS.

    Whether an aircraft that returns after more than 12 hours gets an alarm depends on the batches: both are
    right.
    """
    table = departures_of_package()
    end = table["left_at"].max() - LATE
    alarms = rows[rows["minutes"].isna()].merge(table, on=["tailnum", "left_at"], how="left")
    _expect_due(alarms, end)
    _expect_last(alarms, end)
    _expect_begun(rows[rows["minutes"].notna()], table)
    due = table[table["after"].isna() & (table["left_at"] + AWAY < end)]
    told = set(zip(alarms["tailnum"], alarms["left_at"], strict=True))
    missing = [place for place in zip(due["tailnum"], due["left_at"], strict=True) if place not in told]
    if not told:
        raise NotYet("there is no alarm", f"{len(due)} aircraft were still away after 12 hours", TIMER)
    if missing:
        raise NotYet(
            f"{len(missing)} of {len(due)} aircraft that were still away got no alarm: the timers that rang "
            "were those of departures that were not the last",
            "each departure begins another twelve hours",
            TIMER,
        )
    _expect_turns(rows[rows["minutes"].notna()], table)
    return len(alarms)


def judge_forgotten(rows: pd.DataFrame, held: pd.DataFrame) -> None:
    """Raise NotYet if the query still holds departures that got an alarm; `held` has tailnum and second."""
    alarms = rows[rows["minutes"].isna()]
    kept = set(zip(held["tailnum"], pd.to_datetime(held["second"], unit="s"), strict=True))
    kept &= set(zip(alarms["tailnum"], alarms["left_at"], strict=True))
    if kept:
        raise NotYet(
            f"turns and alarms are right, but {counted(len(kept), 'departure')} that got an alarm "
            f"{'is' if len(kept) == 1 else 'are'} still in the state, such as that of {min(kept)[0]}",
            "the state of an aircraft ends with its alarm; its next departure begins anew",
            "`self.last`, in `handleExpiredTimer`",
        )


def _rang_for_older(alarms: pd.DataFrame, end: pd.Timestamp) -> "pd.Series[bool]":
    """Tell of each alarm if the timer of an earlier departure rang, and the state held the newer one."""
    older = alarms["left_at"] - alarms["before"]
    return (alarms["left_at"] + AWAY > end) & (older + AWAY <= end)


def _expect_due(alarms: pd.DataFrame, end: pd.Timestamp) -> None:
    early = alarms[(alarms["left_at"] + AWAY > end) & ~_rang_for_older(alarms, end)]
    if not early.empty:
        raise NotYet(
            f"{counted(len(early), 'alarm')} came before 12 hours had passed, such as that for "
            f"{early.iloc[0]['tailnum']}",
            "a timer is set in milliseconds since 1970",
            TIMER,
        )


def _expect_last(alarms: pd.DataFrame, end: pd.Timestamp) -> None:
    false = alarms[(alarms["after"] <= AWAY) | _rang_for_older(alarms, end)]
    if not false.empty:
        raise NotYet(
            f"{counted(len(false), 'alarm')} of {len(alarms)} are false alarms: the aircraft had left again "
            f"in time, such as {false.iloc[0]['tailnum']}",
            "a new departure makes the timer of the one before useless",
            TIMER,
        )


def _begun(turns: pd.DataFrame) -> set[tuple[str, pd.Timestamp]]:
    begun = turns["left_at"] - pd.to_timedelta(turns["minutes"], unit="min")
    return set(zip(turns["tailnum"], begun.dt.round("min"), strict=True))


def _expect_begun(turns: pd.DataFrame, table: pd.DataFrame) -> None:
    departures = set(zip(table["tailnum"], table["left_at"], strict=True))
    if strange := _begun(turns) - departures:
        raise NotYet(
            f"{counted(len(strange), 'row')} with minutes begin with no departure, such as that of "
            f"{min(strange)[0]}: an alarm has no minutes",
            "minutes are the time between two departures",
            "what is yielded",
        )


def _expect_turns(turns: pd.DataFrame, table: pd.DataFrame) -> None:
    right = table[table["after"] <= AWAY]
    wanted = set(zip(right["tailnum"], right["left_at"], strict=True))
    if missing := wanted - _begun(turns):
        raise NotYet(
            f"{len(missing)} of {len(wanted)} turns are missing",
            "the state of an aircraft should be there when it leaves again",
            "`self.last`",
        )
