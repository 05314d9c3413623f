"""Streaming queries of a lab: watched to their end, stopped in time; what Spark says when it refuses."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from threebrokers.cells import said
from threebrokers.errors import LabError
from threebrokers.notebook import shell, show
from threebrokers.spark import connect
from threebrokers.spark.gateway import has_ended, java_runs
from threebrokers.spark.progress_view import ProgressView
from threebrokers.spark.spark_session import fresh_folder
from threebrokers.spark.steps import Step, steps

LOOK_SECONDS, CATCH_UP_SECONDS = 0.5, 120.0
EMPTY_BATCHES = 20  # in a row; a query that reads to the present end makes one or two, for its watermark
NEXT = "look at the cell that starts it, and run it again"


def start_query(table: DataFrame, mode: str, name: str) -> StreamingQuery:
    """Start a query that reads to the present end of its topics, and ends; its rows are the table `name`.

    It begins afresh: its checkpoint, the folder `name`, is emptied, and an earlier query with it is stopped.
    """
    with java_there():
        checkpoint = fresh_folder(name)  # first: it ends an earlier query of this name
        writer = table.writeStream.format("memory").queryName(name).outputMode(mode)
        return writer.option("checkpointLocation", checkpoint).trigger(availableNow=True).start()


def watch_query(query: StreamingQuery, *, batches: int = 0, within: float = 300) -> None:
    """Draw a query's progress until it ends, or has made so many batches, and stop it then.

    Raises LabError with Spark's reason if it fails, and if it takes longer than `within` seconds or makes
    batch after batch without a record.
    """
    end = time.monotonic() + within
    with java_there(), _stopped_after(query):
        draw = _drawing(f"Query {query.name}" if query.name else "The query")
        while query.isActive and time.monotonic() < end:
            draw(taken := steps(query.recentProgress))
            if batches and len(taken) >= batches:
                break
            if not batches:
                _expect_records(taken)
            ended_within(query, LOOK_SECONDS)
        else:
            if query.isActive:
                raise LabError(f"The query did not end within {within:g} s, and was stopped", NEXT)
        draw(steps(query.recentProgress))


def until_caught_up(query: StreamingQuery) -> None:
    """Draw a query's progress until it has read what its topics held when its last batch began; it runs on.

    Raises LabError if it ends, and if it takes longer than 120 s.
    """
    end = time.monotonic() + CATCH_UP_SECONDS
    draw = _drawing("Catching up")
    with java_there():
        while time.monotonic() < end:
            draw(taken := steps(query.recentProgress))
            if taken and not taken[-1].behind:
                return
            if not query.isActive:
                raise why_ended(query)
            ended_within(query, LOOK_SECONDS)
    raise LabError(f"The query did not catch up within {CATCH_UP_SECONDS:g} s", NEXT)


def _expect_records(taken: list[Step]) -> None:
    """Raise LabError if a query works without end: by the clock's time Spark calls no batch the last one."""
    last = taken[-EMPTY_BATCHES:]
    if len(last) == EMPTY_BATCHES and not any(step.rows for step in last):
        raise LabError(
            f"The query was stopped: its last {EMPTY_BATCHES} batches read no record, and more would follow",
            "a processor whose timers go by the clock (`ProcessingTime`) always gets one more batch: "
            "give it `EventTime`, or `None` if it has no timers",
        )


def ended_within(query: StreamingQuery, seconds: float) -> bool:
    """Wait at most so long for a query's end, and tell whether it has ended, also by a fault."""
    try:
        return bool(query.awaitTermination(seconds))  # type: ignore[arg-type]  # a part of a second is right
    except StreamingQueryException:  # the query's own fault, which it tells when it is asked
        return True


def expect_no_fault(query: StreamingQuery, what: str = "The query failed") -> None:
    """Raise LabError with Spark's reason behind `what` if a fault has ended a query."""
    if (fault := query.exception()) is not None:
        raise LabError(f"{what} ({reason(fault)})", NEXT)


def why_ended(query: StreamingQuery) -> LabError:
    """Return the error that says why a query has ended."""
    fault = query.exception()
    return LabError(f"The query ended ({reason(fault) if fault else 'it was stopped'})", NEXT)


def refusal(start: Callable[[], StreamingQuery]) -> str:
    """Return Spark's reason if it refuses to start a query; else stop the query and return ""."""
    try:
        with java_there():
            start().stop()
    except PySparkException as fault:
        return reason(fault)
    return ""


def reason(fault: Exception) -> str:
    """Return in one line what Spark says, or a sink of Python, without the error's code behind it."""
    line = said(str(fault)) or type(fault).__name__
    return line.partition(" SQLSTATE")[0].rstrip(".;: ") + "."


@contextmanager
def java_there() -> Iterator[None]:
    """Say in one sentence that Spark's driver has ended, where py4j or grpc would show a long traceback."""
    try:
        yield
    except PySparkException as fault:
        if connect.current() is None or not connect.is_lost(fault):
            raise
        raise LabError(
            "The server of Spark Connect has ended, or was started again",
            "run the cell with `spark = session(…)` again, then those after it",
        ) from fault
    except (Py4JNetworkError, ConnectionError) as fault:
        raise has_ended() from fault
    except (Py4JError, AttributeError) as fault:
        if java_runs() or connect.current() is not None:
            raise
        raise has_ended() from fault


@contextmanager
def _stopped_after(query: StreamingQuery) -> Iterator[None]:
    """Stop a query at the end, also when the cell is interrupted; say why if it failed."""
    try:
        yield
    finally:
        if java_runs() or connect.answers():
            query.stop()
    expect_no_fault(query)


def _drawing(title: str) -> Callable[[list[Step]], None]:
    """Return what draws steps in one place under the cell, and nothing where there is no notebook."""
    if shell() is None:
        return lambda taken: None
    handle = show(ProgressView(title, []))
    drawn: list[int] = []

    def draw(taken: list[Step]) -> None:
        if [len(taken)] != drawn:
            drawn[:] = [len(taken)]
            handle.update(ProgressView(title, taken))

    return draw
