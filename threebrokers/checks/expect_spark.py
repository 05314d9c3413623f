"""What checks read from Spark's tables, with the sentences for what cannot be right."""

import io
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, wait
from contextlib import contextmanager, redirect_stdout, suppress
from datetime import timedelta
from typing import Any, TypeVar
from uuid import uuid4

import pandas as pd
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark import InheritableThread, SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from threebrokers.cells import AWAITED
from threebrokers.errors import LabError
from threebrokers.lab.exercise import NotYet
from threebrokers.spark import connect
from threebrokers.text import counted

T = TypeVar("T")

AGAIN_SECONDS = 0.5
WHOLE = ("int", "bigint", "smallint", "tinyint")
UNFIT = ("string", "binary", "struct", "array", "map")  # types with which nobody computes
BRACKETS = re.compile("[(<]")  # what a type's name has behind it: decimal(38,16), array<int>


def expect_columns(name: str, frame: DataFrame, wanted: Mapping[str, tuple[str, ...]], look_at: str) -> None:
    """Raise NotYet unless the table has just these columns, each of one of its types (Spark's names).

    "decimal" stands for those of any size.
    """
    with _answered(name, look_at):
        types = dict(frame.dtypes)
    _expect_names(name, types, wanted, look_at)
    for held in dict.fromkeys(types.values()):
        general = BRACKETS.split(held)[0]
        odd = [column for column, kind in types.items() if kind == held and general not in wanted[column]]
        if odd:
            right = ", ".join(f"{column} {wanted[column][0]}" for column in odd)
            is_or_are = "is" if len(odd) == 1 else "are"
            computing = general in UNFIT and not any(wanted[column][0] in UNFIT for column in odd)
            raise NotYet(
                f"{', '.join(f'`{column}`' for column in odd)} {is_or_are} of the type {held}",
                f"it should be a type to compute with: {right}" if computing else f"it should be: {right}",
                look_at,
            )


def _expect_names(
    name: str, types: Mapping[str, str], wanted: Mapping[str, tuple[str, ...]], look_at: str
) -> None:
    missing, odd = [one for one in wanted if one not in types], [one for one in types if one not in wanted]
    structs = [one for one, kind in types.items() if kind.startswith("struct<")]
    nested = [one for one in structs if missing and f"{missing[0]}:" in types[one]]
    if nested:
        raise NotYet(
            f"the fields are inside the column `{nested[0]}`",
            f"each should be a column of its own: {', '.join(wanted)}",
            f'select("{nested[0]}.*")',
        )
    found = [
        f"has no column {', '.join(f'`{one}`' for one in missing)}" if missing else "",
        f"has {', '.join(f'`{one}`' for one in odd)}, for which nobody asked" if odd else "",
    ]
    if missing or odd:
        raise NotYet(
            f"`{name}` {' and '.join(filter(None, found))}", f"it should have {', '.join(wanted)}", look_at
        )


def expect_read_by_spark(name: str, frame: DataFrame, look_at: str) -> None:
    """Raise NotYet if the table's rows went through Python, and not straight from Kafka."""
    plan = plan_of(name, frame, look_at)
    if "KafkaRelation" in plan:
        return
    # What Python gives to Spark is one of these: a list, a table of pandas, or an RDD.
    given = any(kind in plan for kind in ("LocalRelation", "LogicalRDD"))
    way = "went through Python first (collect(), a pandas table, or an RDD)"
    raise NotYet(
        f"the rows of `{name}` {way if given else 'do not come from a topic'}",
        "Spark should make the table from the topic itself: then the same lines work on a topic of any size",
        look_at,
    )


def memory_table(query: StreamingQuery, *, start: str = 'start_query(…, "a name")') -> DataFrame:
    """Return the table that a streaming query wrote in memory; `start` is the call that makes one."""
    try:
        table = connect.in_use().table(str(query.name))
        _ = table.columns  # Spark Connect looks for the table only now
    except PySparkException as fault:
        raise NotYet(
            "the query has left no table in memory",
            "its rows should be a table that others can look at",
            start,
        ) from fault
    return table


def by_partition(name: str, numbers: Mapping[int | str, int], look_at: str) -> dict[int, int]:
    """Return numbers by partition, also if the partitions are text, as they are in Spark's JSON."""
    try:
        return {int(partition): number for partition, number in numbers.items()}
    except (TypeError, ValueError) as fault:
        raise NotYet(
            f"`{name}` has the keys {', '.join(map(repr, numbers))}",
            "each should be the number of a partition",
            look_at,
        ) from fault


def delay_in_words(delay: timedelta) -> str:
    """Return the delay of a watermark in whole days, hours, minutes or seconds, such as "6 hours"."""
    if delay < timedelta(minutes=1):
        return counted(round(delay / timedelta(seconds=1)), "second")
    minutes = round(delay / timedelta(minutes=1))
    if minutes % 1440 == 0:
        return counted(minutes // 1440, "day")
    return counted(minutes // 60, "hour") if minutes % 60 == 0 else counted(minutes, "minute")


def plan_of(name: str, frame: DataFrame, look_at: str) -> str:
    """Return Spark's plan of a table as text: it alone tells where rows come from, and what is left out."""
    with _answered(name, look_at):
        if connect.current() is not None:
            return str(frame._explain_string(extended=True))  # type: ignore[operator]  # Spark Connect's
        return str(frame._jdf.queryExecution().analyzed().toString())


def plan_of_query(query: StreamingQuery) -> str:
    """Return the plan of a query's last batch as text; "" before the first one."""
    written = io.StringIO()
    with redirect_stdout(written):
        query.explain()  # the one way that Spark Connect has, too
    return written.getvalue()


def rows(name: str, frame: DataFrame, look_at: str) -> pd.DataFrame:
    """Compute a table and return its rows; NotYet tells in one line what Spark says if it cannot."""
    with _answered(name, look_at):
        return computed(frame.toPandas)


def fetched(frame: DataFrame) -> int | None:
    """Return how many records Spark's Kafka reader has fetched to compute this very table; None if unknown.

    It is known after `rows()`; not for a table that Spark has kept with `cache()`, nor with Spark Connect.
    """
    if connect.current() is not None:
        return None
    counts = [_output(node) for node in _nodes(frame._jdf.queryExecution().executedPlan())]
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _nodes(plan: Any) -> Iterator[Any]:
    """Yield the steps of a plan of Spark, also those behind the cover that a shuffle puts on them."""
    yield plan
    name = plan.nodeName()
    if name.startswith("AdaptiveSparkPlan"):
        yield from _nodes(plan.executedPlan())
    elif name.endswith("QueryStage"):
        yield from _nodes(plan.plan())
    children = plan.children()
    for place in range(children.size()):
        yield from _nodes(children.apply(place))


def _output(node: Any) -> int | None:
    if not node.nodeName().startswith("Scan KafkaRelation"):
        return None
    return int(node.metrics().apply("numOutputRows").value())


def computed(function: Callable[[], T]) -> T:
    """Return what `function` returns; what Spark computes for it is cancelled if the check ends before.

    It runs in a thread of its own, with a connection to Java of its own: what is interrupted while it waits
    for Java leaves an answer behind, which the next question would take for its own.
    """
    far = connect.current()
    context = SparkContext.getOrCreate() if far is None else None
    group = f"check-{uuid4()}"
    result: Future[T] = Future()

    def work() -> None:
        try:
            if context is not None:
                context.setJobGroup(group, "a check of the course", interruptOnCancel=True)
            elif far is not None:
                far.addTag(group)
            result.set_result(function())
        except BaseException as fault:
            result.set_exception(fault)

    def cancel() -> None:
        # A job that begins only now, on a busy machine, would go on for as long as it likes.
        with suppress(Py4JError, PySparkException, OSError):  # Spark itself may have ended
            while not result.done():
                if context is not None:
                    context.cancelJobGroup(group)
                elif far is not None:
                    far.interruptTag(group)
                wait([result], AGAIN_SECONDS)

    InheritableThread(target=work, daemon=True, session=far).start()
    try:
        return result.result()
    finally:
        if not result.done():
            threading.Thread(target=cancel, daemon=True).start()


@contextmanager
def in_step() -> Iterator[None]:
    """Let go of this thread's connection to Java if the block is interrupted; to be put on a check.

    An answer that nobody waited for would be taken for that of the next question, and the learner's own cells
    would get nonsense from Spark from then on. py4j makes another connection for the next question.
    """
    try:
        yield
    except NotYet:
        raise
    except BaseException:
        gateway = SparkContext._gateway
        connection = gateway._gateway_client.get_thread_connection() if gateway else None
        if connection:
            connection.close()
        raise


def first_line(fault: Exception) -> str:
    """Return the first line of what an error says, at most 200 characters of it."""
    java = getattr(fault, "java_exception", None)
    # Of what another thread has met Java says only that it has; the reason is the last cause.
    if java is not None and AWAITED in str(java.toString()):
        while (cause := java.getCause()) is not None:
            java = cause
    text = str(java.toString() if java is not None else fault).strip() or type(fault).__name__
    return text.splitlines()[0][:200]


@contextmanager
def _answered(name: str, look_at: str) -> Iterator[None]:
    """Turn an error of Spark into NotYet, or into LabError if Spark itself is gone."""
    try:
        yield
    except (PySparkException, Py4JJavaError) as fault:
        if connect.current() is not None and connect.is_lost(fault):
            raise LabError(
                "The server of Spark Connect does not answer: run the cell with `spark = session(…)` again, "
                "then those after it."
            ) from fault
        said = f"`{name}` cannot be computed (Spark says: {first_line(fault)})"
        raise NotYet(said, "Spark should read all of it", look_at) from fault
    except (Py4JError, OSError) as fault:
        raise LabError(
            "Spark's Java process does not answer: run the cell with `spark = session()` again, "
            "then those after it."
        ) from fault
