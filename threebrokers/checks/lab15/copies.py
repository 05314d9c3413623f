"""Exercise 15.3: a stream without its second copies, judged by its rows, and by what the query remembers."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from pyspark.sql.streaming.query import StreamingQuery

from threebrokers.checks.expect_spark import delay_in_words, memory_table, plan_of_query
from threebrokers.checks.lab13.queries import deciding, output_mode
from threebrokers.lab.exercise import NotYet
from threebrokers.spark.queries import java_there
from threebrokers.spark.steps import steps, watermark_delay
from threebrokers.text import counted, listed

OTHERS = {"timestamp", "tailnum", "origin", "scheduled"}  # the columns of the stream, without its id
YEAR = 2013  # of the flights' own times
DROP, MARK = "the call that drops duplicates", "withWatermark(…)"
# A copy comes when Spark runs again; a week is what a topic keeps.
AWAY, ENOUGH = timedelta(hours=60), timedelta(days=7)


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
        table = memory_table(query, start='start_query(…, "append", "once")')
        if "id" not in table.columns:
            raise NotYet(
                "the query's table has no column `id`; it has "
                f"{', '.join(f'`{one}`' for one in table.columns)}",
                "the id should be kept: it says which departure a row is",
                "the columns of the query",
            )
        found, mode = [row[0] for row in table.select("id").collect()], output_mode(query)
        columns = deciding(plan_of_query(query))
    judge_clock(step.newest for step in steps(progress))  # it explains departures that are gone
    compare_ids(found, sent)
    judge_columns(columns)
    judge_memory(watermark_delay(steps(progress)))
    operators = {one.get("operatorName") for step in progress for one in step["stateOperators"]}
    if mode == "complete":
        raise NotYet(
            "the rows are right, and the query has a watermark, but the mode complete takes no notice of it: "
            "each batch writes every id that ever came",
            "it should forget an id when no copy can come any more",
            'start_query(…, "append", …)',
        )
    if "dedupe" in operators:  # that of dropDuplicates
        raise NotYet(
            "the rows are right, and the query has a watermark, but dropDuplicates takes no notice of it",
            "it should forget an id when no copy can come any more",
            DROP,
        )


def judge_clock(newest: Iterable[datetime | None]) -> None:
    """Raise NotYet unless the watermark follows Kafka's time; `newest` is the latest time of each batch."""
    seen = max((time for time in newest if time is not None), default=None)
    if seen is not None and seen.year == YEAR:
        raise NotYet(
            "the watermark follows `scheduled`: a flight that leaves too late after its plan is behind "
            "it, and is dropped",
            "two copies are up to 60 hours apart in `timestamp`, when they were written",
            MARK,
        )


def judge_columns(columns: Sequence[str]) -> None:
    """Raise NotYet if columns of the stream decide what a copy is, and the id is none of them."""
    if not columns or not set(columns) <= OTHERS:
        return  # the id is among them, or the query made a column of its own: what stands in it is not known
    named = listed(f"`{name}`" for name in columns)
    decide = "decides" if len(columns) == 1 else "decide"
    raise NotYet(
        f"the rows are right today, but {named} {decide} what a copy is, and not the id",
        "on another day two departures may have all that in common, and the second one would be dropped",
        DROP,
    )


def judge_memory(delay: timedelta | None) -> None:
    """Raise NotYet unless the query remembers as long as copies can be apart; None: it has no watermark."""
    if delay is None:
        raise NotYet(
            "the rows are right, but the query has no watermark and remembers every id for ever",
            "it should forget an id when no copy can come any more",
            f"{MARK}, before the call that drops duplicates",
        )
    if delay == AWAY:
        raise NotYet(
            f"the rows are right today, but {delay_in_words(delay)} are only as long as Spark was away: then "
            "it has to start and read again, and the copies come behind that",
            "an hour more does no harm",
            MARK,
        )
    if delay < AWAY:
        raise NotYet(
            f"the rows are right today, but a watermark of {delay_in_words(delay)} is too short: the copies "
            "come when Spark runs again",
            "Spark was once away for 60 hours",
            MARK,
        )
    if delay > ENOUGH:
        raise NotYet(
            f"the rows are right, but a watermark of {delay_in_words(delay)} keeps ids for which no copy "
            "can come",
            "Spark was never away for longer than 60 hours",
            MARK,
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
            f"{counted(len(twice), 'departure')} {'is' if len(twice) == 1 else 'are'} there twice",
            "two copies differ in the time at which they were written, and not in their id",
            DROP,
        )
