"""Exercise 12.2: mean delays by airport and hour, against those of the package's own table."""

from functools import cache

import pandas as pd

from threebrokers.data.flights import NEW_YORK, load_flights
from threebrokers.lab.exercise import NotYet

MONTH = 1
FEWEST = 100  # flights in a month; fewer say nothing about an hour


def compare_delays(found: pd.DataFrame) -> None:
    """Raise NotYet unless the rows are January's mean delays by airport and hour, worst first."""
    if found.empty:
        raise NotYet(
            "`delays` has no rows", "it should have one for each airport and hour", "the cell of the exercise"
        )
    held = found.set_index(["origin", "hour"])
    small = held[held["flights"] < FEWEST]
    if len(small):
        (origin, hour), count = small.index[0], small["flights"].iloc[0]
        raise NotYet(
            f"the row for {origin} at {hour} stands for {count} flights",
            f"a mean of so few says little: keep hours with at least {FEWEST} flights",
            "where(…) after agg(…)",
        )
    _compare_groups(held["flights"])
    _compare_means(held["mean_delay"])
    if not found["mean_delay"].is_monotonic_decreasing:
        raise NotYet(
            f"the first row is {found['origin'][0]} at {found['hour'][0]}",
            "the worst should come first, the others after it in order",
            "orderBy(…), and its direction",
        )


def _compare_groups(held: pd.Series) -> None:
    right = _summary(NEW_YORK)["flights"]
    if _same(held, right):
        return
    if _same(held, _summary("UTC")["flights"]):
        raise NotYet(
            "the hours of `delays` are hours in UTC",
            "midnight in UTC is seven in the evening in New York, and the question is about New York's hours",
            "convert_timezone(…) before hour(…)",
        )
    if _same(held, _summary(NEW_YORK, "left")["left"]):
        raise NotYet(
            "`flights` counts only flights that left",
            "a flight that never left was scheduled too, and counts as a flight",
            'what you count: count("*") counts rows, count("dep_delay") counts values',
        )
    odd = held.index.symmetric_difference(right.index)
    origin, hour = odd[0] if len(odd) else held.index[(held.sort_index() != right.sort_index()).argmax()]
    raise NotYet(
        f"for {origin} at {hour} `delays` has {held.get((origin, hour), 'no row')}",
        f"the package's table has {right.get((origin, hour), 'no row')} (flights)",
        "groupBy(…) and where(…)",
    )


def _compare_means(held: pd.Series) -> None:
    known = _summary(NEW_YORK)
    if _same(held, known["mean_delay"]):
        return
    if _same(held, known["as_zero"]):
        raise NotYet(
            "the means count a flight that never left as 0 minutes late",
            "mean() leaves nulls out by itself: such a flight has no delay",
            "fillna() and coalesce()",
        )
    if _same(held, known["arrival"]):
        raise NotYet(
            "the means are those of the delays on arrival",
            "the question is about departures",
            "the column inside mean(…)",
        )
    if _same(held, known["total"]):
        raise NotYet(
            "`mean_delay` is a sum", "a busy hour has a large sum also when it is punctual", "mean(…)"
        )
    origin, hour = held.index[0]
    raise NotYet(
        f"the mean for {origin} at {hour} is {held.iloc[0]}",
        "it is not the one of the package's table",
        "agg(…)",
    )


@cache
def _summary(zone: str, enough: str = "flights") -> pd.DataFrame:
    known = load_flights(MONTH)
    hour = known["scheduled"].dt.tz_convert(zone).dt.hour.rename("hour")
    groups = known.assign(as_zero=known["dep_delay"].fillna(0)).groupby(["origin", hour])
    table = groups.agg(
        flights=("flight", "size"),
        left=("dep_delay", "count"),
        mean_delay=("dep_delay", "mean"),
        as_zero=("as_zero", "mean"),
        arrival=("arr_delay", "mean"),
        total=("dep_delay", "sum"),
    )
    return table[table[enough] >= FEWEST]


def _same(held: pd.Series, right: pd.Series) -> bool:
    if set(held.index) != set(right.index) or not held.index.is_unique:
        return False
    both = pd.concat({"held": held.astype(float), "right": right.astype(float)}, axis=1)
    return bool(((both["held"] - both["right"]).abs() < 1e-6).all())
