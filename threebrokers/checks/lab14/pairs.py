"""Exercise 14.2: departures joined with arrivals, judged by the pairs, and by what the query still keeps."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

import pandas as pd

from threebrokers.checks.expect_spark import delay_in_words
from threebrokers.data.arrivals import late_arrivals
from threebrokers.data.replay import late_departures
from threebrokers.lab.exercise import NotYet
from threebrokers.spark.steps import Step
from threebrokers.text import counted

COLUMNS = {
    "tailnum": "tailnum",
    "carrier": "carrier",
    "flight": "flight",
    "left": "left AS left_at",
    "arrived": "arrived",
}
BOUND, MARKS, JOIN = "the time bound", "withWatermark(…) on both streams", "the columns of the join"
KIND = "the kind of the join"
# All flights of five hours and more are long ones: a bound may leave out only such.
LONG = pd.Timedelta(3, "h")
LATEST = timedelta(minutes=10)  # so late records are
LONGEST = timedelta(hours=1)  # a watermark that is a little longer forgets as well
APART = timedelta(hours=12)  # so far are partners, at most
SPARE = timedelta(minutes=30)  # a bound that is a little longer forgets as well
MINUTE = timedelta(minutes=1)  # flights are told in minutes, so the longest one takes a minute less than 12 h
FLIGHT = ["tailnum", "carrier", "flight"]


def right_pairs() -> pd.DataFrame:
    """Return each departure that arrived: aircraft, airline, flight, `left_at` and `arrived` (UTC)."""
    out = late_departures()[[*FLIGHT, "left"]].rename(columns={"left": "left_at"})
    both = out.merge(late_arrivals()[[*FLIGHT, "arrived"]], on=FLIGHT)
    for time in ("left_at", "arrived"):
        both[time] = both[time].dt.tz_convert("UTC").dt.tz_localize(None)
    return both


def judge_pairs(rows: pd.DataFrame) -> None:
    """Raise NotYet unless the rows are all departures with their own arrivals."""
    right = right_pairs()
    if rows.empty:
        raise NotYet(
            "the table has no rows: no pair meets the condition",
            "an aircraft arrives after it has left, and at most 12 hours later",
            BOUND,
        )
    found = rows.drop_duplicates()
    both = found.merge(right, on=FLIGHT, how="outer", suffixes=("", "_right"), indicator=True)
    known = both[both["_merge"] != "right_only"]
    if alone := int(found["arrived"].isna().sum()):
        raise NotYet(
            f"{counted(alone, 'departure')} {'is' if alone == 1 else 'are'} there without an arrival",
            "only a departure that has an arrival is a pair",
            KIND,
        )
    if alien := int((known["arrived"] != known["arrived_right"]).sum()):
        raise NotYet(
            f"{counted(alien, 'row')} join a departure with arrivals of another flight of the same aircraft",
            "aircraft, airline and flight should be the same",
            JOIN,
        )
    missing = both[both["_merge"] == "right_only"]
    if not missing.empty:
        short = (missing["arrived_right"] - missing["left_at_right"]).min()
        which = ", all of long flights" if short >= LONG else ""
        raise NotYet(
            f"{len(missing)} of {len(right)} pairs are missing{which}",
            "some flights take 11 hours and more",
            BOUND,
        )
    if len(rows) > len(right):
        raise NotYet(f"the table has {len(rows)} rows", f"there are {len(right)} pairs", JOIN)


def delay_of(last: Step) -> timedelta | None:
    """Return how far the watermark is behind the slower of the two streams, by the query's last step.

    That step knows it if it comes after all rows. A query that may forget nothing has no such step: it ends
    with its last rows, and its delay counts as the right one.
    """
    if last.watermark is None:
        return None
    if last.rows:
        return LATEST
    newest: datetime = min(late_departures()["left"].max(), late_arrivals()["arrived"].max())
    return newest - last.watermark


def judge_kind(plan: str) -> None:
    """Raise NotYet if the plan of the query has an outer join, which makes no other rows on this day."""
    found = re.search(r"StreamingSymmetricHashJoin .*\], (Left|Right|Full)Outer,", plan)
    if found:
        raise NotYet(
            f"the pairs are right, but this is a {found[1].lower()} outer join, which keeps rows without a "
            "partner, too: on another day they are written, with empty columns",
            "only a departure that has an arrival is a pair",
            KIND,
        )


def marked(plan: str) -> int:
    """Return how many streams have a watermark before they are joined: a join's inputs stand below it."""
    return plan.partition("StreamingSymmetricHashJoin")[2].count("EventTimeWatermark")


def delays(plan: str) -> list[timedelta]:
    """Return the delay of each watermark below the join, such as "1 hours 30 minutes" in the plan."""
    lines = re.findall(r"EventTimeWatermark .*, (.*)", plan.partition("StreamingSymmetricHashJoin")[2])
    parts = (re.findall(r"(\d+(?:\.\d+)?) (days|hours|minutes|seconds)", line) for line in lines)
    return [timedelta(**{unit: float(number) for number, unit in found}) for found in parts if found]


def judge_state(kept: int, delay: timedelta | None, streams: int, of_each: Sequence[timedelta] = ()) -> None:
    """Raise NotYet if the query forgot nothing: it keeps `kept` rows; `delay` of its watermark, if any.

    `streams` is how many of the two have a watermark before the join, and `of_each` are the delays of these:
    Spark's one watermark is that of the slower stream: each of both can be it.
    """
    everything = len(late_departures()) + len(late_arrivals())
    if delay is None:
        raise NotYet(
            f"the pairs are right, but the query has no watermark, and {kept:,} rows are in its state",
            "without one it must expect partners for ever",
            MARKS,
        )
    if delay > LONGEST:
        every = "all " if kept >= everything else ""
        raise NotYet(
            f"the pairs are right, but {every}{kept:,} rows are in the state: the watermark is "
            f"{delay_in_words(delay)} behind",
            "records are at most ten minutes late",
            MARKS,
        )
    if kept >= everything and streams < 2:
        raise NotYet(
            f"the pairs are right, but all {kept:,} rows are in the state: "
            f"{'only one stream has' if streams else 'neither stream has'} a watermark before the join",
            "a join forgets by the watermarks of both streams that go into it",
            MARKS + ", before join(…)",
        )
    if kept >= everything:
        raise NotYet(
            f"the pairs are right, but all {kept:,} rows are in the state: Spark finds no condition by which "
            "partners are at most 12 hours apart",
            "an arrival comes at most 12 hours after its departure; a condition counts if it compares the "
            "columns of the two watermarks themselves, and not numbers computed of them",
            BOUND,
        )
    shortest = min([delay, *of_each])
    if streams == 2 and shortest < LATEST:
        which = "one" if any(one >= LATEST for one in of_each) else "the"
        raise NotYet(
            f"the pairs are right, but {which} watermark is only {delay_in_words(shortest)} behind",
            "records may be ten minutes late, and on another day such a one would be dropped",
            MARKS,
        )


def waits(plan: str) -> list[timedelta | None]:
    """Return for how long behind the watermark the join keeps the rows of each stream; None: for ever.

    [] if the plan does not tell.
    """
    found = re.search(r"(\d+), state cleanup \[ left (.*?), right (.*?) \],", plan)
    if found is None:
        return []
    lengths: list[timedelta | None] = []
    for side in found.groups()[1:]:
        if side == "= null":
            lengths.append(None)
        elif last := re.fullmatch(r"value predicate: \(.* <= (-?\d+)\)", side):
            # The watermark is in milliseconds, times in microseconds; what is kept is later than `last`.
            lengths.append(timedelta(milliseconds=int(found[1]) - 1, microseconds=-int(last[1])))
        else:
            return []
    return lengths


def judge_bound(kept: int, lengths: Sequence[timedelta | None]) -> None:
    """Raise NotYet if rows wait for partners that cannot come, or too short: `kept` rows are in the state.

    `lengths`: for how long those of each stream wait; None: for ever. [] if nobody knows.
    """
    many = kept > len(late_departures())
    if many and (not lengths or None in lengths):
        raise NotYet(
            f"the pairs are right, but {kept:,} rows are still in the state: those of one stream stay, "
            "though no partner of theirs can come any more",
            "it takes a watermark on each stream, and a bound on both sides: an arrival is not before its "
            "departure, and at most 12 hours after it; a condition counts if it compares the two columns "
            "themselves, and not what is computed of both",
            f"{MARKS}, and {BOUND}",
        )
    known = sorted(one for one in lengths if one is not None)
    if known and known[-1] > APART + SPARE:
        raise NotYet(
            "the pairs are right, but rows stay for longer than 12 hours: those of one stream for "
            f"{delay_in_words(known[-1])}, and so {kept:,} rows are in the state",
            "no flight takes 12 hours: a departure that is older finds no arrival any more",
            BOUND,
        )
    if many and known[0] > SPARE:
        raise NotYet(
            f"the pairs are right, but {kept:,} rows are in the state: those of one stream stay for "
            f"{delay_in_words(known[-1])}, and those of the other for {delay_in_words(known[0])}",
            "only departures wait for their partners: an arrival is not before its departure",
            BOUND,
        )
    if many:
        raise NotYet(
            f"the pairs are right, and the join forgets, but {kept:,} rows are in the state: another step of "
            "the query keeps rows, too",
            "the rows of the last 12 hours stay, and no others",
            "what stands before or behind the join",
        )
    _expect_long(lengths)


def _expect_long(lengths: Sequence[timedelta | None]) -> None:
    """Raise NotYet if a departure waits for less long than a flight may take; today's longest is 11:31."""
    known = [one for one in lengths if one is not None]
    if known and len(known) == len(lengths) and max(known) < APART - MINUTE:
        hours, minutes = divmod(round(max(known) / MINUTE), 60)
        raise NotYet(
            f"the pairs are right today, but a departure waits only for {counted(hours, 'hour')} "
            f"{counted(minutes, 'minute')} for its arrival",
            "a flight may take nearly 12 hours, and on another day one that does would have no pair",
            BOUND,
        )
