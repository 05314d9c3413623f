"""What the checks of lab 15 ask of a streaming query."""

from pyspark.sql.streaming.query import StreamingQuery

from threebrokers.checks.expect_spark import first_line
from threebrokers.lab.exercise import NotYet, eventually
from threebrokers.spark.queries import java_there

CELL = "the cell of the exercise"
END_SECONDS = 8.0


def expect_ended(query: StreamingQuery) -> None:
    """Raise NotYet unless the query has ended by itself, and well; one that runs on is stopped."""
    with java_there():
        try:
            eventually(lambda: _expect_inactive(query), what="the query to end", within=END_SECONDS)
        except NotYet:
            query.stop()
            raise
        if (fault := query.exception()) is not None:
            raise NotYet(
                f"the query failed (Spark says: {first_line(fault)})", "it should read to the end", CELL
            )


def expect_second_run(query: StreamingQuery) -> None:
    """Raise NotYet unless the query went on, after Spark's death, with the batch that was not committed."""
    expect_ended(query)
    with java_there():
        # Also of a batch that the sink did not read again: its number told it that all was there.
        batches = [int(step["batchId"]) for step in query.recentProgress]
    if min(batches, default=0) != 1:
        raise NotYet(
            "Spark was not killed in batch 1 of this query",
            "a sink is proved by a batch that comes twice",
            "until_done(…, kill_in=1, book=keyed)",
        )


def _expect_inactive(query: StreamingQuery) -> None:
    if query.isActive:
        raise NotYet(
            "the query still runs (the check has stopped it)",
            "it should end by itself when it has read what was there",
            "watch_query(query), which waits for the end",
        )
