"""Exercise 13.4: a query that goes on where it stopped, judged by the topic of its results."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

import pandas as pd
from pyspark.sql.streaming.query import StreamingQuery

from threebrokers.data.replay import late_departures
from threebrokers.lab.exercise import NotYet
from threebrokers.spark.checkpoint import query_id
from threebrokers.spark.hours import HOUR, windows_of_package
from threebrokers.spark.queries import java_there
from threebrokers.spark.runs import noon
from threebrokers.text import counted

DELAY = 3 * HOUR  # the watermark of the query that the lesson gives
START = "what send_hours(…) is given"
CHECKPOINT = "the folder that send_hours(…) is given"


def judge_results(
    records: Sequence[tuple[bytes | None, bytes | None]], query: StreamingQuery, kept: Path
) -> None:
    """Raise NotYet unless the records are all finished hours, each once and with the package's number."""
    with java_there():
        emptied = query_id(kept) == query.id
    judge_records(records, emptied=emptied)


def judge_records(records: Sequence[tuple[bytes | None, bytes | None]], *, emptied: bool) -> None:
    """Raise NotYet unless key and value of the records are finished hours; `emptied` tells of the folder."""
    found: dict[str, list[int]] = defaultdict(list)
    for key, value in records:
        found[(key or b"").decode()].append(int(value or 0))
    right, open_then = finished(), _open_after_first()
    if twice := sorted(name for name, numbers in found.items() if len(numbers) > 1):
        raise NotYet(*_twice(twice, found, emptied=emptied))
    wrong = [name for name, [number] in found.items() if right.get(name, number) != number]
    if wrong:
        name = next((one for one in wrong if one in open_then), wrong[0])
        raise NotYet(
            f"{len(wrong)} of the numbers in 'stream-hours' are too small, "
            f"such as {name}: {found[name][0]} flights of {right[name]}",
            "the hour was open when the first run ended, and its first flights are in that query's state",
            CHECKPOINT,
        )
    if missing := [name for name in right if name not in found]:
        raise NotYet(
            f"{counted(len(missing), 'hour')} {'is' if len(missing) == 1 else 'are'} not in 'stream-hours', "
            f"such as {missing[0]}",
            f"{len(right)} hours are finished after the second run",
            START,
        )


def expect_place(query: StreamingQuery, kept: Path) -> None:
    """Raise NotYet unless the query kept its place where the first run's query had kept its own."""
    with java_there():
        own = query_id(kept) == query.id
    if not own:
        raise NotYet(
            "the query keeps its place in another folder than the first run's",
            "the third run must find one place that knows everything",
            CHECKPOINT,
        )


def finished() -> dict[str, int]:
    """Return the number of flights of each hour that the watermark has passed at the end, by name."""
    newest = late_departures()["scheduled"].max().tz_convert("UTC").tz_localize(None)
    return _ended_by(newest - DELAY)


def name_of(origin: str, start: datetime) -> str:
    """Return how the lesson's query names an hour: its key in the topic of results."""
    return f"{origin} {start:%d %b %H:%M}"


def _open_after_first() -> set[str]:
    flights = late_departures()
    first = flights[flights["left"] < noon(flights)]
    newest = first["scheduled"].max().tz_convert("UTC").tz_localize(None)
    return finished().keys() - _ended_by(newest - DELAY).keys()


def _ended_by(mark: pd.Timestamp) -> dict[str, int]:
    windows = windows_of_package().items()
    return {name_of(*place): int(count) for place, count in windows if place[1] + HOUR <= mark}


def _twice(twice: Sequence[str], found: Mapping[str, list[int]], *, emptied: bool) -> tuple[str, str, str]:
    name = twice[0]
    said = (
        f"{counted(len(twice), 'hour')} {'is' if len(twice) == 1 else 'are'} in 'stream-hours' more than once"
    )
    numbers = " and ".join(str(number) for number in found[name])
    if emptied:
        return (
            f"{said}, such as {name} ({numbers}): the folder of the first run was emptied, and the query "
            "began again",
            "fresh_folder(…) deletes what a folder holds; folder(…) only says where it is",
            CHECKPOINT,
        )
    return (
        f"{said}, such as {name} ({numbers}): a query with another checkpoint knows nothing of the first run",
        "the second run should go on where the first one stopped",
        CHECKPOINT,
    )
