"""Exercise 14.5: the state of a query, read as a table, against the package's own table."""

import pandas as pd
from pyspark.sql import DataFrame

from threebrokers.checks.expect_spark import expect_columns, plan_of, rows
from threebrokers.data.replay import late_departures
from threebrokers.lab.exercise import NotYet

STATE = "the data source statestore, and its options"
OF_KAFKA = "KafkaRelation("  # so a batch that reads topics stands in Spark's plan
OF_STATE = "StateTable [stateCkptLocation="  # and so the state of a query
TYPES = {"tailnum": ("string",), "dest": ("string",), "second": ("bigint", "int")}


def judge_held(held: DataFrame) -> None:
    """Raise NotYet unless `held` has the last departure of each aircraft."""
    expect_columns("held", held, TYPES, STATE)
    found = rows("held", held, STATE)
    compare_places(found.assign(left_at=pd.to_datetime(found["second"], unit="s")))
    judge_source(plan_of("held", held, STATE))


def judge_source(plan: str) -> None:
    """Raise NotYet unless the plan of `held` reads the state of a query."""
    if OF_KAFKA in plan:
        raise NotYet(
            "the rows of `held` are right, but they come from the topic, not from the state",
            "what a query remembers is in its checkpoint",
            STATE,
        )
    if OF_STATE not in plan:
        raise NotYet(
            "the rows of `held` are right, but `held` itself reads no state: they come from another table, "
            "or through Python",
            "what a query remembers is in its checkpoint, and Spark reads that as a table",
            STATE,
        )


def last_places() -> pd.DataFrame:
    """Return the last departure of each aircraft: `dest` and `left_at` (UTC), by tail number."""
    table = late_departures().groupby("tailnum").tail(1).set_index("tailnum")
    left = table["left"].dt.tz_convert("UTC").dt.tz_localize(None)
    return pd.DataFrame({"dest": table["dest"], "left_at": left})


def compare_places(found: pd.DataFrame) -> None:
    """Raise NotYet unless the rows (tailnum, dest, left_at) are the last departure of each aircraft."""
    right = last_places()
    if found.empty:
        raise NotYet(
            "`held` has no rows: the processor yields none",
            "what it knows is in the state, not in the results",
            STATE,
        )
    if found["tailnum"].duplicated().any():
        raise NotYet("`held` has several rows of one aircraft", "a table has one row for each key", STATE)
    held = found.set_index("tailnum")
    both = right.join(held, rsuffix="_held")
    old = both[both["left_at_held"] < both["left_at"]]
    if not old.empty:
        first = old.iloc[0]
        raise NotYet(
            f"`held` says that {old.index[0]} left last at {first['left_at_held']:%H:%M}, and it left again "
            f"at {first['left_at']:%H:%M}: the state that you read is older than that",
            "the state after the last batch knows all",
            STATE,
        )
    if missing := int(both["left_at_held"].isna().sum()):
        raise NotYet(
            f"{missing} of {len(right)} aircraft are not in `held`",
            "all rows of the state count, in each of its partitions",
            STATE,
        )
    if (both["dest"] != both["dest_held"]).any() or (both["left_at"] != both["left_at_held"]).any():
        raise NotYet("`held` has other places or times than the state", "take them as they are", STATE)
