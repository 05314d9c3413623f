"""Exercise 12.3: what the learner's function reads, and from where it will go on."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from pyspark.sql import DataFrame

from threebrokers.checks.expect_spark import first_line, rows
from threebrokers.lab.exercise import NotYet

CELL = "`read_new` in the cell of the exercise"
A_TIME = 10**12  # ms since 1970; no topic of the course has so many records

Offsets = Mapping[int, int]


def call(read_new: Callable[..., Any], topic: str, seen: str | None) -> tuple[DataFrame, str]:
    """Call the learner's function; NotYet unless it returns a table and a text."""
    shown = "None" if seen is None else "what it returned before"
    try:
        answer = read_new(topic, seen)
    except Exception as fault:
        raise NotYet(
            f"`read_new(topic, {shown})` ended with {type(fault).__name__}: {first_line(fault)}",
            "it should return a table and a text",
            CELL,
        ) from fault
    match answer:
        case (DataFrame() as new, str() as kept):
            return new, kept
        case (_, _):
            kinds = " and ".join(type(part).__name__ for part in answer)
        case _:
            kinds = type(answer).__name__
    raise NotYet(
        f"`read_new(topic, {shown})` returned {kinds}", "it should return a table and a text", "its `return`"
    )


def expect_offsets(kept: str, topic: str, ends: Offsets) -> None:
    """Raise NotYet unless the text is Spark's JSON of offsets and names the next offset of each partition."""
    found = _parsed(kept, topic)
    if any(offset >= A_TIME for offset in found.values()):
        raise NotYet(
            f"what `read_new` keeps is a moment in time ({kept})",
            "keep offsets: a late record has an older time than records that were read already",
            CELL,
        )
    missing = [str(p) for p in sorted(ends) if p not in found]
    if missing:
        raise NotYet(
            f"what `read_new` keeps says nothing of partition {', '.join(missing)}",
            "Spark needs an offset for each partition, also for one without new records",
            CELL,
        )
    if any(offset < 0 for offset in found.values()):
        raise NotYet(
            f"what `read_new` keeps has an offset below 0 ({kept})",
            "-2 and -1 mean the first and the last record of the next run, not of this one",
            CELL,
        )
    if all(found[p] == end - 1 for p, end in ends.items()):
        raise NotYet(
            "what `read_new` keeps is the offset of the last record that was read",
            "keep the offset of the next one, or each partition's last record is read twice",
            CELL,
        )
    if dict(found) != dict(ends):
        raise NotYet(
            f"what `read_new` keeps is {dict(sorted(found.items()))}",
            f"the next offsets were {dict(sorted(ends.items()))}",
            CELL,
        )


def expect_rows(name: str, new: DataFrame, first: Offsets, ends: Offsets) -> None:
    """Raise NotYet unless the table holds the records from `first` up to, and without, `ends`."""
    if not {"partition", "offset"} <= set(new.columns):
        raise NotYet(
            f"{name} returned the columns {', '.join(new.columns)}",
            "return the records as Spark's Kafka reader gives them",
            CELL,
        )
    held = rows("read_new", new.select("partition", "offset"), CELL)
    got = set(held.itertuples(index=False, name=None))
    right = {(p, offset) for p, end in ends.items() for offset in range(first.get(p, 0), end)}
    if any(offset >= ends.get(partition, 0) for partition, offset in got):
        raise NotYet(
            f"{name} says where it ends, and its table also has records from behind that end",
            "Spark reads when rows are asked for, and without endingOffsets it reads what is there by then",
            "endingOffsets",
        )
    again = [o for p, o in got if o < first.get(p, 0)]
    if again:
        raise NotYet(
            f"{name} read {len(again)} records that the call before had read",
            "start where the call before ended: `seen`",
            "startingOffsets",
        )
    if got != right or len(held) != len(got):
        raise NotYet(f"{name} read {len(held)} records", f"{len(right)} were new", CELL)


def _parsed(kept: str, topic: str) -> dict[int, int]:
    try:
        found = json.loads(kept)
    except ValueError:
        found = None
    if isinstance(found, int) and found >= A_TIME:
        return {0: found}
    offsets = found.get(topic) if isinstance(found, dict) else None
    if not isinstance(offsets, dict) or not offsets:
        raise NotYet(
            f"what `read_new` keeps ({kept!r}) holds no offsets of the topic",
            "Spark commits nothing to a consumer group, so you keep the offsets: "
            '{"topic": {"0": 5, "1": 7}} as text',
            CELL,
        )
    try:
        return {int(partition): int(offset) for partition, offset in offsets.items()}
    except (TypeError, ValueError):
        raise NotYet(
            f"what `read_new` keeps ({kept}) has something else than whole numbers",
            'it should look like {"topic": {"0": 5, "1": 7}}',
            CELL,
        ) from None
