"""What checks read from Spark's tables, with the sentences for what cannot be right."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pandas as pd
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from threebrokers.errors import LabError
from threebrokers.lab.exercise import NotYet

WHOLE = ("int", "bigint", "smallint", "tinyint")


def expect_columns(name: str, frame: DataFrame, wanted: Mapping[str, tuple[str, ...]], look_at: str) -> None:
    """Raise NotYet unless the table has just these columns, each of one of its types (Spark's names)."""
    with _answered(name, look_at):
        types = dict(frame.dtypes)
    if set(types) != set(wanted):
        raise NotYet(
            f"`{name}` has the columns {', '.join(types) or '(none)'}",
            f"it should have {', '.join(wanted)}",
            look_at,
        )
    for held in dict.fromkeys(types.values()):
        odd = [column for column, kind in types.items() if kind == held and held not in wanted[column]]
        if odd:
            right = ", ".join(f"{column} {wanted[column][0]}" for column in odd)
            is_or_are = "is" if len(odd) == 1 else "are"
            raise NotYet(
                f"{', '.join(f'`{column}`' for column in odd)} {is_or_are} of the type {held}",
                f"with such a type nobody can compute as they should; wanted: {right}",
                look_at,
            )


def expect_read_by_spark(name: str, frame: DataFrame, look_at: str) -> None:
    """Raise NotYet if the table's rows came from this notebook and not from Kafka."""
    with _answered(name, look_at):
        # The plan is text, but it is the only place that tells where rows come from.
        plan = frame._jdf.queryExecution().analyzed().toString()
    if "KafkaRelation" not in plan:
        raise NotYet(
            f"the rows of `{name}` were collected into this notebook before Spark got them",
            "Spark should read the topic itself: the next topic may not fit into one process",
            look_at,
        )


def rows(name: str, frame: DataFrame, look_at: str) -> pd.DataFrame:
    """Compute a table and return its rows; NotYet tells in one line what Spark says if it cannot."""
    with _answered(name, look_at):
        return frame.toPandas()


def first_line(fault: Exception) -> str:
    """Return the first line of what an error says, at most 200 characters of it."""
    java = getattr(fault, "java_exception", None)
    text = str(java.toString() if java is not None else fault).strip() or type(fault).__name__
    return text.splitlines()[0][:200]


@contextmanager
def _answered(name: str, look_at: str) -> Iterator[None]:
    """Turn an error of Spark into NotYet, or into LabError if Spark itself is gone."""
    try:
        yield
    except (PySparkException, Py4JJavaError) as fault:
        said = f"`{name}` cannot be computed (Spark says: {first_line(fault)})"
        raise NotYet(said, "Spark should read all of it", look_at) from fault
    except (Py4JError, OSError) as fault:
        raise LabError(
            "Spark's Java process does not answer: run the cell with `spark = session()` again, "
            "then those after it."
        ) from fault
