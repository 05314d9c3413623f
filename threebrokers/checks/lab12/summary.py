"""Exercise 12.5: the records of a compacted topic against the summary by airport and airline."""

import json
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

from threebrokers.data.flights import load_flights
from threebrokers.lab.exercise import NotYet
from threebrokers.text import counted

MONTH = 1
CELL = "the cell of the exercise"
FIELDS = ("origin", "carrier", "flights", "mean_delay")


def expect_shape(topic: str, replicas: Sequence[int]) -> None:
    """Raise NotYet unless the topic has three partitions with three replicas each: `replicas` says it."""
    if len(replicas) != 3:
        raise NotYet(
            f"{topic!r} has {counted(len(replicas), 'partition')}",
            "it should have three",
            "partitions= in lab.fresh_topic(…)",
        )
    if min(replicas) != 3:
        raise NotYet(
            f"{topic!r} has {counted(min(replicas), 'replica')} of each partition",
            "it should have three: with one broker's disk the answers would be gone",
            "replication_factor= in lab.fresh_topic(…)",
        )


def expect_compacted(topic: str, policy: str) -> None:
    """Raise NotYet unless the topic's `cleanup.policy` keeps the last record of each key for ever."""
    policies = {one.strip() for one in policy.split(",")}
    if policies == {"compact"}:
        return
    also = "also " if "compact" in policies else ""
    raise NotYet(
        f"cleanup.policy of {topic!r} is {policy!r}",
        f"the last record of each key should stay, and 'delete' would {also}delete it after seven days",
        'config={"cleanup.policy": …}',
    )


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
        _expect_numbers(key, row, right[name])
    missing = sorted(set(right) - set(dict(told)))
    if missing:
        raise NotYet(f"there is no record for {missing[0]}", f"there should be {len(right)} keys", CELL)
    return len(right)


def expect_once(keys: Sequence[bytes | None]) -> None:
    """Raise NotYet if one try has written more than one record of a key; a second run may write it again."""
    again = [(key, count) for key, count in Counter(keys).items() if key and count > 1]
    if again:
        key, count = again[0]
        raise NotYet(
            f"this try has written {count} records with the key {key.decode(errors='replace')!r}",
            "it should be one for each row: compaction keeps the last, but not at once",
            "how often save() or produce(…) runs in " + CELL,
        )


def _expect_numbers(key: str, row: dict[str, Any], right: dict[str, float]) -> None:
    for field in ("flights", "mean_delay"):
        if not isinstance(row[field], int | float) or isinstance(row[field], bool):
            raise NotYet(
                f"in the record {key!r} `{field}` is {json.dumps(row[field])}",
                "it should be a number, as in the summary: without quotes",
                "casts and format functions in " + CELL,
            )
    if row["flights"] == right["flights"] and _is_rounded(row["mean_delay"], right["mean_delay"]):
        raise NotYet(
            f"in the record {key!r} the mean is rounded ({row['mean_delay']})",
            f"it should be the summary's ({right['mean_delay']}): who reads it may compute with it",
            "round(…) in " + CELL,
        )
    if row["flights"] != right["flights"] or abs(row["mean_delay"] - right["mean_delay"]) > 1e-6:
        raise NotYet(
            f"the record {key!r} says {row['flights']} flights and a mean of {row['mean_delay']}",
            f"the summary has {right['flights']} and {right['mean_delay']}",
            CELL,
        )


def _is_rounded(found: float, right: float) -> bool:
    exact = abs(found - right) <= 1e-6
    return not exact and any(abs(found - round(right, digits)) < 1e-9 for digits in range(5))


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
    if odd := sorted(set(row) - set(FIELDS)):
        raise NotYet(
            f"a value also holds {', '.join(f'`{name}`' for name in odd)}",
            f"each value should be JSON with {', '.join(FIELDS)} and nothing else",
            'the columns in struct(…): "*" means all that the table has at that point',
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
