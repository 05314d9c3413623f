"""Exercise 12.1: the rows of the learner's table against January's flights."""

import pandas as pd

from threebrokers.data.flights import load_flights
from threebrokers.lab.exercise import NotYet

MONTH = 1
MOST_ROWS = 27_005  # one more than January has
CELL = "the cell of the exercise"


def compare_flights(found: pd.DataFrame) -> None:
    """Raise NotYet unless the rows are January's flights; `scheduled` is in microseconds since 1970."""
    known = load_flights(MONTH)
    never_left = int(known["dep_delay"].isna().sum())
    if len(found) == len(known) - never_left and not found["dep_delay"].isna().any():
        raise NotYet(
            f"{never_left} flights that never left are missing",
            f"{len(known):,} records are {len(known):,} rows: a flight without a delay is still a flight",
            "filters, dropna() and joins in " + CELL,
        )
    if len(found) < len(known):
        raise NotYet(
            f"`table` has {len(found):,} rows",
            f"the topic has {len(known):,} records, and each is one row, also one with nulls in it",
            "filters, dropna(), dropDuplicates(), limit() and joins in " + CELL,
        )
    if len(found) > len(known):
        raise NotYet(
            f"`table` has more than {len(known):,} rows",
            f"January's topic has {len(known):,} records, and each is one row",
            "the topic that is read, unions and joins in " + CELL,
        )
    if found.isna().all(axis=None):
        raise NotYet(
            f"all nine columns are null in all {len(found):,} rows: what was taken apart is no flight's JSON",
            "the JSON of a flight is in the value of the record, as text",
            'the first argument of from_json(…): F.col("value").cast("string")',
        )
    _compare_times(found["scheduled"], known)
    if not found["dep_delay"].isna().any():
        raise NotYet(
            f"`dep_delay` has a number for all flights, also for the {never_left} that never left",
            "a delay that does not exist is null; as 0 it would say: on time",
            "coalesce() and fillna() in " + CELL,
        )
    order = ["scheduled", "carrier", "flight"]
    right = known.assign(scheduled=_micros(known["scheduled"])).sort_values(order, ignore_index=True)
    held = found.sort_values(order, ignore_index=True)
    for column in right:
        same = (held[column] == right[column]) | (held[column].isna() & right[column].isna())
        if not same.fillna(False).all():
            at = int(same.fillna(False).argmin())
            raise NotYet(
                f"`{column}` is {held[column][at]!r} where the flight has {right[column][at]!r}",
                "every column should hold what the JSON field of its name holds",
                "the names in the schema",
            )


def _compare_times(scheduled: pd.Series, known: pd.DataFrame) -> None:
    held, right = scheduled.sort_values(ignore_index=True), _micros(known["scheduled"])
    if held.isna().any():
        raise NotYet(
            f"`scheduled` is null in {held.isna().sum():,} of {len(held):,} rows",
            "the schema has no field of that name, or of a type that fits",
            "the schema of from_json(…), letter by letter",
        )
    if (held == right.sort_values(ignore_index=True)).all():
        return
    if (held == _micros(known["scheduled"].dt.tz_localize(None)).sort_values(ignore_index=True)).all():
        raise NotYet(
            "the first flight is scheduled for 05:15 in UTC, and it was 05:15 in New York",
            "the text ends with its offset (-05:00), and that must not be cut off",
            "how the text of `scheduled` becomes a time",
        )
    year = pd.to_datetime(held.iloc[-1], unit="us").year
    if year != 2013:
        raise NotYet(
            f"`scheduled` is in {year}: that is when the record was written",
            "the flights were scheduled in 2013: their own time is inside the value",
            "`timestamp` of the record, `scheduled` of the value",
        )
    raise NotYet(
        f"the first flight is scheduled for {pd.to_datetime(held.iloc[0], unit='us')} UTC",
        f"it is {known['scheduled'][0].tz_convert('UTC'):%Y-%m-%d %H:%M:%S} UTC",
        "how the text of `scheduled` becomes a time",
    )


def _micros(times: pd.Series) -> pd.Series:
    return times.astype("int64") // 1000
