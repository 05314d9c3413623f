"""The steps of a streaming query (Spark: micro-batches), from what Spark tells of its progress."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any


@dataclass(frozen=True)
class Step:
    """One micro-batch: what it read, what the query then kept, and how far behind it was.

    `rows` were read in `seconds`; `state` rows were kept afterwards. `dropped` counts what came too late,
    as Spark counts it: what a batch has added up for one window is one row. `newest` is the latest event
    time among its rows, and `watermark` the one that it worked with; both None if it has none. `behind` is
    how many offsets were left in all partitions.
    """

    batch: int
    rows: int
    seconds: float
    state: int
    dropped: int
    newest: datetime | None
    watermark: datetime | None
    behind: int

    @property
    def rate(self) -> float:
        """Rows per second."""
        return self.rows / self.seconds if self.seconds else 0.0


def steps(progress: Iterable[Mapping[str, Any]]) -> list[Step]:
    """Return the steps of `query.recentProgress`; an idle look at the topic is none."""
    found: dict[int, Step] = {}
    for told in progress:
        step = _step(told)
        if step.batch not in found or step.rows:
            found[step.batch] = step
    return list(found.values())


def rows_read(told: Mapping[str, Any]) -> int:
    """Return how many rows a step of a query has read; Spark Connect tells it of each source alone."""
    whole = told.get("numInputRows")
    return int(whole if whole is not None else sum(one["numInputRows"] for one in told["sources"]))


def watermark_delay(taken: Sequence[Step]) -> timedelta | None:
    """Return by how much the watermark stays behind the newest event time; None if there is no watermark.

    It is told by a step that began after the query had seen the newest event time of all before it.
    """
    newest: datetime | None = None
    delays = []
    for step in taken:
        if newest is not None and step.watermark is not None and step.watermark.year > 1970:
            delays.append(newest - step.watermark)
        newest = max((time for time in (newest, step.newest) if time is not None), default=None)
    return min(delays) if delays else None


def offsets(told: object) -> dict[str, dict[int, int]]:
    """Return offsets by topic and partition from Spark's JSON, which some versions give as text."""
    held = json.loads(told) if isinstance(told, str) else told
    if not isinstance(held, Mapping):
        return {}
    return {
        topic: {int(partition): int(offset) for partition, offset in places.items()}
        for topic, places in held.items()
    }


def _step(told: Mapping[str, Any]) -> Step:
    times, kept = told.get("eventTime") or {}, told.get("stateOperators") or []
    return Step(
        batch=int(told["batchId"]),
        rows=rows_read(told),
        seconds=float((told.get("durationMs") or {}).get("triggerExecution", 0)) / 1000,
        state=sum(int(one["numRowsTotal"]) for one in kept),
        dropped=sum(int(one["numRowsDroppedByWatermark"]) for one in kept),
        newest=_time(times.get("max")),
        watermark=_time(times.get("watermark")),
        behind=sum(_behind(source) for source in told.get("sources") or []),
    )


def _behind(source: Mapping[str, Any]) -> int:
    places, ends = offsets(source.get("endOffset")), offsets(source.get("latestOffset"))
    return sum(
        max(0, end - places.get(topic, {}).get(partition, end))
        for topic, partitions in ends.items()
        for partition, end in partitions.items()
    )


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
