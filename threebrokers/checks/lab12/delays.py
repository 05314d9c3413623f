"""Exercise 12.2: mean delays by airport and hour, against those of the package's own table."""

import re
from collections.abc import Iterator
from functools import cache
from math import ceil, floor

import pandas as pd

from threebrokers.data.flights import NEW_YORK, load_flights
from threebrokers.lab.exercise import NotYet

MONTH = 1
FEWEST = 100  # flights in a month; fewer say nothing about an hour
# The clocks of New York read as if they were UTC: five hours are added instead of taken away.
REVERSED = "Etc/GMT-5"
# In Spark's plan, casts stand around what is compared: (cast(flights#12L as double) >= cast(100 as double)).
_CAST, _AS = r"(?:cast\()*", r"(?: as \w+(?:\(\d+,\d+\))?\))*"
_CALL = r"count\((?:[^()]|\([^()]*\))*\)"
_COUNT = rf"{_CAST}(?:(?P<call>{_CALL})|(?P<name>\w+))(?:#(?P<id>\d+)L?)?{_AS}"
_NUMBER = rf"{_CAST}(?P<number>-?\d+(?:\.\d+)?){_AS}"
COMPARED = (
    re.compile(rf"(?P<no>NOT )?\({_COUNT} (?P<sign>[<>]=?) {_NUMBER}\)"),
    re.compile(rf"(?P<no>NOT )?\({_NUMBER} (?P<sign>[<>]=?) {_COUNT}\)"),
)
COUNTED = re.compile(rf"{_CALL}{_AS} AS \w+#(\d+)|\bflights#(\d+)")
RENAMED = re.compile(r"#(\d+)L? AS \w+#(\d+)")
# What a comparison inside of these lets through, it does not say by itself.
UNCLEAR = (" OR ", "CASE WHEN", "NOT ((", "if (")

HOURS = (
    (
        "UTC",
        "the hours of `delays` are hours in UTC",
        "midnight in UTC is seven in the evening in New York, and the question is about New York's hours",
        "convert_timezone(…) before hour(…)",
    ),
    (
        REVERSED,
        "the hours of `delays` are five hours later than those in UTC",
        "New York's clocks are five hours behind UTC in January: the conversion goes the wrong way",
        "convert_timezone(from, to, time): None as the first means the zone of the session",
    ),
)
MEANS = (
    (
        "as_zero",
        "the means count a flight that never left as 0 minutes late",
        "mean() leaves nulls out by itself: such a flight has no delay",
        "fillna() and coalesce()",
    ),
    (
        "arrival",
        "the means are those of the delays on arrival",
        "the question is about departures",
        "the column inside mean(…)",
    ),
    ("total", "`mean_delay` is a sum", "a busy hour has a large sum also when it is punctual", "mean(…)"),
    ("median", "`mean_delay` is the median", "the mean was asked for", "mean(…)"),
    ("largest", "`mean_delay` is the largest delay", "one flight says little about an hour", "mean(…)"),
    (
        "late",
        "the means are those of flights that left late",
        "flights that left early or on time belong to the mean, too",
        "filters on `dep_delay`",
    ),
)


def compare_delays(found: pd.DataFrame) -> None:
    """Raise NotYet unless the rows are January's mean delays by airport and hour, worst first."""
    if found.empty:
        raise NotYet(
            "`delays` has no rows", "it should have one for each airport and hour", "the cell of the exercise"
        )
    found = found.assign(mean_delay=found["mean_delay"].astype(float))  # Spark's decimals are objects
    held = found.set_index(["origin", "hour"])
    if not held.index.is_unique:
        origin, hour = held.index[held.index.duplicated()][0]
        raise NotYet(
            f"`delays` has more than one row for {origin} at {hour}",
            "it should have one for each airport and hour",
            "what groupBy(…) is given",
        )
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


def expect_limit(plan: str) -> None:
    """Raise NotYet if Spark's plan has a higher limit: January's rows may be the same.

    January has no hour with 70 to 196 flights. A plan that does not tell its limit, or several, is taken for
    right.
    """
    ids = _ids_of_counts(plan)
    clear = [line for line in plan.splitlines() if not any(text in line for text in UNCLEAR)]
    limits = {one for line in clear for one in _limits(line, ids)}
    if len(limits) != 1 or (fewest := limits.pop()) <= FEWEST:
        return
    exactly = f"an hour with exactly {FEWEST} flights"
    raise NotYet(
        f"{exactly if fewest == FEWEST + 1 else f'hours with {FEWEST} to {fewest - 1} flights'} "
        "would be left out",
        f"keep hours with {FEWEST} flights or more; another month may have such an hour",
        "the sign and the number in where(…)",
    )


def _ids_of_counts(plan: str) -> set[str]:
    """Return the numbers by which a plan calls the columns that are counts, also when they are renamed."""
    ids = {one for pair in COUNTED.findall(plan) for one in pair if one}
    renamed = [set(pair) for pair in RENAMED.findall(plan)]
    while more := [pair for pair in renamed if pair & ids and not pair <= ids]:
        ids = ids.union(*more)
    return ids


def _is_count(found: re.Match[str], ids: set[str]) -> bool:
    return bool(found["call"]) or found["name"] == "flights" or found["id"] in ids


def _limits(line: str, ids: set[str]) -> Iterator[int]:
    """Yield the smallest count that each comparison in a line of a plan lets through."""
    for turned, pattern in enumerate(COMPARED):
        for found in pattern.finditer(line):
            upwards = (found["sign"][0] == ">") ^ bool(turned) ^ bool(found["no"])
            if not upwards or not _is_count(found, ids):
                continue
            number = float(found["number"])
            # NOT (… < 100) lets 100 through, and NOT (… <= 100) does not.
            with_it = ("=" in found["sign"]) != bool(found["no"])
            yield ceil(number) if with_it else floor(number) + 1


def _compare_groups(held: pd.Series) -> None:
    right = _summary(NEW_YORK)["flights"]
    if _same(held, right):
        return
    for zone, *said in HOURS:
        if any(_same(held, _summary(zone, counted)[counted]) for counted in ("flights", "left")):
            raise NotYet(*said)
    if _same(held, _summary(NEW_YORK, "left")["left"]):
        raise NotYet(
            "`flights` counts only flights that left",
            "a flight that never left was scheduled too, and counts as a flight",
            'what you count: count("*") counts rows, count("dep_delay") counts values; and what you filter',
        )
    if len(held) < len(right) and _same(held, right.reindex(held.index)):
        raise NotYet(
            f"`delays` has {len(held)} of the {len(right)} airports and hours",
            f"it should have every hour with {FEWEST} flights or more",
            "where(…), limit(…) and other filters",
        )
    for hours in range(1, 24):
        if _same(_later(held, hours), right):
            off = f"{hours} earlier than" if hours <= 12 else f"{24 - hours} later than"
            raise NotYet(
                f"the hours of `delays` are {off} those of New York's clocks",
                "the hour should be the one on New York's clocks, which convert_timezone(…) knows",
                "how the hour is computed: what is added to `scheduled`, or taken away",
            )
    _expect_month(int(held.sum()))
    odd = held.index.symmetric_difference(right.index)
    differs = held != right.reindex(held.index)
    origin, hour = odd[0] if len(odd) else held.index[differs.argmax()]
    raise NotYet(
        f"for {origin} at {hour} `delays` has {_flights(held, origin, hour)}",
        f"the package's table has {_flights(right, origin, hour)}",
        "groupBy(…) and where(…)",
    )


def _expect_month(counted: int) -> None:
    """Raise NotYet if more flights were counted than the month has."""
    if counted > (flights := len(load_flights(MONTH))):
        raise NotYet(
            f"`delays` counts {counted:,} flights, and January has {flights:,}",
            "the question is about January",
            "the DataFrame that you group: `flights`, as the cell makes it",
        )


def _later(held: pd.Series, hours: int) -> pd.Series:
    """Return the groups with the name of an hour that is so much later."""
    return held.set_axis([(origin, (hour + hours) % 24) for origin, hour in held.index])


def _flights(counts: pd.Series, origin: str, hour: int) -> str:
    count = counts.get((origin, hour))
    return "no row" if count is None else f"{count:,.0f} flights"


def _compare_means(held: pd.Series) -> None:
    known = _summary(NEW_YORK)
    right = known["mean_delay"]
    if _same(held, right):
        return
    for name, *said in MEANS:
        if _same(held, known[name]):
            raise NotYet(*said)
    for digits in range(5):
        if _same(held, right.round(digits), 0.5001 * 10**-digits) and _same(held, held.round(digits)):
            raise NotYet(
                f"the means are rounded ({held.iloc[0]:g})",
                f"it should be the mean itself ({right[held.index[0]]:.9f}): round only what you show",
                "round(…) and casts",
            )
    (origin, hour), mean = held.index[0], held.iloc[0]
    raise NotYet(
        f"the mean for {origin} at {hour} is {mean:.6f}",
        f"by the package's table it is {right[origin, hour]:.6f}",
        "agg(…)",
    )


@cache
def _summary(zone: str, enough: str = "flights") -> pd.DataFrame:
    known = load_flights(MONTH)
    hour = known["scheduled"].dt.tz_convert(zone).dt.hour.rename("hour")
    delay = known["dep_delay"]
    with_more = known.assign(as_zero=delay.fillna(0), late_by=delay.where(delay > 0))
    table = with_more.groupby(["origin", hour]).agg(
        flights=("flight", "size"),
        left=("dep_delay", "count"),
        mean_delay=("dep_delay", "mean"),
        as_zero=("as_zero", "mean"),
        arrival=("arr_delay", "mean"),
        total=("dep_delay", "sum"),
        median=("dep_delay", "median"),
        largest=("dep_delay", "max"),
        late=("late_by", "mean"),
    )
    return table[table[enough] >= FEWEST]


def _same(held: pd.Series, right: pd.Series, within: float = 1e-6) -> bool:
    if set(held.index) != set(right.index) or not held.index.is_unique:
        return False
    both = pd.concat({"held": held.astype(float), "right": right.astype(float)}, axis=1)
    return bool(((both["held"] - both["right"]).abs() <= within).all())
