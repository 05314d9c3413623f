"""Exercise 15.3: a stream without its second copies, judged by its rows, and by what the query remembers."""

from collections import Counter
from collections.abc import Iterable, Sequence

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from threebrokers.lab.exercise import NotYet
from threebrokers.spark.queries import java_there

DROP = "the call that drops duplicates"


def judge_copies(query: StreamingQuery, sent: Sequence[str]) -> None:
    """Raise NotYet unless the query's table holds each of the ids that were sent once, by state that ends."""
    with java_there():
        progress = query.recentProgress
        if not any(step["stateOperators"] for step in progress):
            raise NotYet(
                "the query keeps no state: what it knows of earlier batches is in no checkpoint",
                "what Python remembers dies with its process, and the copies come after that",
                DROP,
            )
        try:
            table = SparkSession.builder.getOrCreate().table(str(query.name))
            found = [row[0] for row in table.select("id").collect()]
        except PySparkException as fault:
            raise NotYet(
                "the query has left no table with the column `id`",
                "its rows should be a table that others can look at",
                'start_query(…, "append", "once")',
            ) from fault
        has_watermark = any("watermark" in (step["eventTime"] or {}) for step in progress)
    compare_ids(found, sent)
    if not has_watermark:
        raise NotYet(
            "the rows are right, but the query has no watermark and remembers every id for ever",
            "ten minutes are enough",
            "withWatermark(…), before the call that drops duplicates",
        )


def compare_ids(found: Iterable[str], sent: Iterable[str]) -> None:
    """Raise NotYet unless each id that was sent was found once."""
    times, wanted = Counter(found), set(sent)
    if missing := wanted - times.keys():
        raise NotYet(
            f"{len(missing)} of {len(wanted)} departures are gone",
            "only second copies should be dropped: two departures may have all but the id in common",
            DROP,
        )
    if twice := [name for name, count in times.items() if count > 1]:
        raise NotYet(
            f"{len(twice)} departures are there twice",
            "two copies differ in the time at which they were written, and not in their id",
            DROP,
        )
