"""Checks of lab 12: what do the topics say?"""

from collections.abc import Callable
from functools import partial
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from threebrokers.checks.expect import TopicName, expect_topic, log_of, setting_of
from threebrokers.checks.expect_clients import expect_flushed
from threebrokers.checks.expect_spark import (
    WHOLE,
    expect_columns,
    expect_read_by_spark,
    in_step,
    plan_of,
    rows,
)
from threebrokers.checks.lab12 import offsets
from threebrokers.checks.lab12.audit import COUNTS, compare_audit
from threebrokers.checks.lab12.delays import compare_delays, expect_limit
from threebrokers.checks.lab12.flights import MOST_ROWS, compare_flights
from threebrokers.checks.lab12.levels import (
    Levels,
    compare_aborted,
    compare_marks,
    compare_turnover,
    expect_places,
)
from threebrokers.checks.lab12.stream import expect_copy, expect_kept, expect_whole, once_more
from threebrokers.checks.lab12.summary import compare_summary, expect_compacted, expect_once, expect_shape
from threebrokers.data.topics import send
from threebrokers.kafka.log_reader import end_offsets
from threebrokers.lab.exercise import attempt, exercise
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.tills import Audited
from threebrokers.spark.spark_session import folder

FLIGHT = {
    "scheduled": ("timestamp",),
    "carrier": ("string",),
    "flight": WHOLE,
    "tailnum": ("string",),
    "origin": ("string",),
    "dest": ("string",),
    "dep_delay": WHOLE,
    "arr_delay": WHOLE,
    "distance": WHOLE,
}
DELAYS = {
    "origin": ("string",),
    "hour": WHOLE,
    "flights": ("bigint", *WHOLE),
    "mean_delay": ("double", "decimal"),
}
AUDIT = {"till": ("string",)} | dict.fromkeys(COUNTS, ("bigint", *WHOLE))


@exercise("12.1", "From bytes to columns", every_broker=True)
@in_step()
def flights_in_columns(lab: Lab, table: DataFrame) -> str:
    """Compare the learner's table with January's flights, column by column."""
    look_at = "the schema and what is selected, in the cell of the exercise"
    expect_read_by_spark("table", table, look_at)
    expect_columns("table", table, FLIGHT, look_at)
    in_micros = table.withColumn("scheduled", F.unix_micros("scheduled"))
    # One row too many says enough: the whole year would take a minute.
    compare_flights(rows("table", in_micros.limit(MOST_ROWS), look_at))
    return (
        "27,004 records became 27,004 rows with real times and numbers, also the 521 flights that never "
        "left; Spark read them itself, so the same lines work on a topic of any size."
    )


@exercise("12.2", "The worst hour", every_broker=True)
@in_step()
def worst_hour(lab: Lab, delays: DataFrame) -> str:
    """Compare the learner's groups with those computed from the package's own table."""
    look_at = "groupBy(…) and agg(…) in the cell of the exercise"
    expect_read_by_spark("delays", delays, look_at)
    expect_columns("delays", delays, DELAYS, look_at)
    compare_delays(rows("delays", delays, look_at))
    expect_limit(plan_of("delays", delays, look_at))
    return (
        "EWR at 19 is the worst: 35 minutes on average; the package's own table, which never saw Kafka, "
        "gives the same numbers, so nothing was lost, doubled or shifted on the way."
    )


@exercise("12.3", "Only what is new", every_broker=True)
@in_step()
def only_new(lab: Lab, read_new: Callable[..., Any]) -> str:
    """Call the learner's function between sends, on a topic made for it."""
    topic = lab.fresh_topic("spark-new", partitions=3, replication_factor=3)
    messages = [(f"key {n}".encode(), f"record {n}".encode()) for n in range(100)]
    ends: list[dict[int, int]] = [{}]
    kept: list[str | None] = [None]
    sent = 0
    # What arrives after a call, before Spark reads, belongs to the next call: the third has nothing else.
    for name, upto in (("The first call", 60), ("The second call", 90), ("The third call", 91)):
        send(lab, topic, messages[sent:upto])
        ends.append(end_offsets(lab.bootstrap, topic))
        new, seen = offsets.call(read_new, topic, kept[-1])
        offsets.expect_offsets(seen, topic, ends[-1], partial(offsets.places, name, new))
        kept.append(seen)
        send(lab, topic, messages[upto : upto + 1])
        offsets.expect_rows(name, new, ends[-2], ends[-1])
        sent = upto + 1
    with offsets.arriving(lab, topic):
        again, seen = offsets.call(read_new, topic, kept[1])
    offsets.expect_again(again, ends[1], seen, topic)
    return (
        "every record was fetched once, also those that came while Spark was at work; offsets in your own "
        "keeping are what a checkpoint of a stream holds too."
    )


@exercise("12.4", "A reader that misses nothing")
@in_step()
def misses_nothing(lab: Lab, query: StreamingQuery) -> str:
    """Compare what the learner's query has copied with the records of January; asks no broker."""
    expect_kept(folder("checkpoint"), lab.opened_at)
    expect_whole(query, lab.topic("spark-january"), folder("checkpoint"))
    expect_copy(query, folder("copy"))
    return (
        "the stream copied all 27,004 records and ended, as many as the batch and the group read; its "
        "position is in its checkpoint, so no reader took anything from another." + once_more(query)
    )


@exercise("12.5", "Write the answer back")
def written_back(lab: Lab, topic: TopicName) -> str:
    """Compare the settings and the log of the learner's topic with the summary."""
    state = expect_topic(lab, topic, "spark-delays")
    expect_shape(topic, [len(partition.replicas) for partition in state.partitions])
    expect_compacted(topic, setting_of(lab, topic, "cleanup.policy").value)
    expect_flushed(lab, topic)
    records = log_of(lab, topic)
    keys = compare_summary([(record.key, record.value) for record in records])
    run = attempt()
    expect_once([record.key for record in records if run and record.timestamp >= run.began * 1000])
    return (
        f"the topic is now a table of {keys} rows for anybody who reads it: each key has one last value, "
        "and a second run of the job would replace it."
    )


@exercise("12.6", "An audit in SQL", every_broker=True)
@in_step()
def orders_audited(lab: Lab, shop: Audited, audit: DataFrame) -> str:
    """Compare the learner's counts with the ledgers of the tills, which read the log now."""
    look_at = "the query in the cell of the exercise"
    expect_read_by_spark("audit", audit, look_at)
    expect_columns("audit", audit, AUDIT, look_at)
    compare_audit(rows("audit", audit, look_at), shop.balances())
    return (
        "each order was followed from its till to the log, so what is lost and what is doubled cannot hide "
        "each other, as they do in two sums."
    )


@exercise("12.7", "What was taken back", every_broker=True)
@in_step()
def taken_back(lab: Lab, payments: TopicName, aborted: DataFrame, marks: int, turnover: int) -> str:
    """Compare the learner's rows and numbers with what readers of both levels get of the topic now."""
    look_at = "the columns of `aborted`"
    expect_topic(lab, payments, "spark-payments")
    log = Levels.of(lab, payments)
    expect_read_by_spark("aborted", aborted, look_at)
    expect_places(aborted.columns, look_at)
    places = rows("aborted", aborted.select("partition", "offset"), look_at)
    compare_aborted([(int(part), int(offset)) for part, offset in places.to_numpy()], log, turnover)
    compare_marks(marks, log)
    compare_turnover(turnover, log)
    return (
        "every offset has its reason: a committed record, an aborted one, or a mark; a report that says "
        "nothing of the isolation level counts money that nobody has paid."
    )
