"""Exercise 12.5: the records of a compacted topic against the summary by airport and airline."""

import json
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

from threebrokers.data.flights import load_flights
from threebrokers.lab.exercise import NotYet

MONTH = 1
CELL = "the cell of the exercise"
FIELDS = ("origin", "carrier", "flights", "mean_delay")


def compare_summary(records: Sequence[tuple[bytes | None, bytes | None]]) -> int:
    """Return the number of keys; NotYet unless the last record of each is a row of the summary as JSON."""
    right = _summary()
    if not records:
        raise NotYet("the topic holds no record", f"it should hold {len(right)}", "write.format(…).save()")
    if any(key is None for key, _ in records):
        raise NotYet("a record has no key", "compaction keeps the last record of each key", "the key column")
    told = [(key.decode(errors="replace") if key else "", _row(value)) for key, value in records]
    _expect_a_key_for_each_row(told)
    for key, row in dict(told).items():
        name = f"{row['origin']}-{row['carrier']}"
        if name not in right:
            raise NotYet(f"the record {key!r} is about {name}", "the summary has no such row", CELL)
        if key != name:
            raise NotYet(f"the key of {name} is {key!r}", f"it should be {name!r}", "the key column")
        if row["flights"] != right[name]["flights"] or _differ(row["mean_delay"], right[name]["mean_delay"]):
            raise NotYet(
                f"the record {key!r} says {row['flights']} flights and a mean of {row['mean_delay']}",
                f"the summary has {right[name]['flights']} and {right[name]['mean_delay']}",
                CELL,
            )
    missing = sorted(set(right) - set(dict(told)))
    if missing:
        raise NotYet(f"there is no record for {missing[0]}", f"there should be {len(right)} keys", CELL)
    return len(right)


def _row(value: bytes | None) -> dict[str, Any]:
    try:
        row = json.loads(value or b"null")
    except ValueError:
        row = None
    if not isinstance(row, dict) or not set(FIELDS) <= set(row):
        raise NotYet(
            f"a value is {value!r:.60}",
            f"each value should be JSON with {', '.join(FIELDS)}",
            "to_json(struct(…))",
        )
    return row


def _expect_a_key_for_each_row(told: Sequence[tuple[str, dict[str, Any]]]) -> None:
    rows = {(key, row["origin"], row["carrier"]) for key, row in told}
    key, count = Counter(key for key, _, _ in rows).most_common(1)[0]
    if count > 1:
        raise NotYet(
            f"the key {key!r} stands for {count} rows of the summary",
            "compaction would keep only one of them: a key should name one row",
            "the key column",
        )


@cache
def _summary() -> dict[str, dict[str, float]]:
    groups = load_flights(MONTH).groupby(["origin", "carrier"])
    table = groups.agg(flights=("flight", "size"), mean_delay=("dep_delay", "mean")).reset_index()
    return {f"{row['origin']}-{row['carrier']}": row for row in table.to_dict("records")}


def _differ(found: Any, right: float) -> bool:
    return not isinstance(found, int | float) or abs(found - right) > 1e-6
