"""Checks of lab 12: what do the topics say?"""

from types import FunctionType

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from threebrokers.checks.expect import expect_topic, log_of, topic_setting
from threebrokers.checks.expect_spark import WHOLE, expect_columns, expect_read_by_spark, rows
from threebrokers.checks.lab12 import offsets
from threebrokers.checks.lab12.delays import compare_delays
from threebrokers.checks.lab12.flights import compare_flights
from threebrokers.checks.lab12.stream import expect_whole
from threebrokers.checks.lab12.summary import compare_summary
from threebrokers.data.flights import flight_messages
from threebrokers.data.topics import send
from threebrokers.kafka.log_reader import end_offsets
from threebrokers.lab.exercise import NotYet, exercise
from threebrokers.lab.lab import Lab
from threebrokers.spark.spark_session import folder

TOPICS = ("spark-january", "spark-new", "spark-delays")
GROUPS = ("spark-positions",)

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
    "mean_delay": ("double",),
}


@exercise("12.1", "From bytes to columns")
def flights_in_columns(lab: Lab, table: DataFrame) -> str:
    """Compare the learner's table with January's flights, column by column."""
    look_at = "the schema and what is selected, in the cell of the exercise"
    expect_read_by_spark("table", table, look_at)
    expect_columns("table", table, FLIGHT, look_at)
    in_micros = table.withColumn("scheduled", F.unix_micros("scheduled"))
    compare_flights(rows("table", in_micros, look_at))
    return (
        "27,004 records became 27,004 rows with real times and numbers, also the 521 flights that never "
        "left; Spark read them itself, so the same lines work on a topic of any size."
    )


@exercise("12.2", "The worst hour")
def worst_hour(lab: Lab, delays: DataFrame) -> str:
    """Compare the learner's groups with those computed from the package's own table."""
    look_at = "groupBy(…) and agg(…) in the cell of the exercise"
    expect_columns("delays", delays, DELAYS, look_at)
    compare_delays(rows("delays", delays, look_at))
    return (
        "EWR at 19 is the worst: 35 minutes on average; the package's own table, which never saw Kafka, "
        "gives the same numbers, so nothing was lost, doubled or shifted on the way."
    )


@exercise("12.3", "Only what is new")
def only_new(lab: Lab, read_new: FunctionType) -> str:
    """Call the learner's function between sends, on a topic made for it."""
    topic = lab.fresh_topic("spark-new", partitions=3, replication_factor=3, config={"retention.ms": "-1"})
    messages = flight_messages(1)
    first: dict[int, int] = {}
    seen, sent = None, 0
    for name, upto in (("The first call", 600), ("The second call", 700), ("A call without news", 700)):
        send(lab, topic, messages[sent:upto])
        ends = end_offsets(lab.bootstrap, topic)
        new, seen = offsets.call(read_new, topic, seen)
        offsets.expect_offsets(seen, topic, ends)
        # A record that arrives now, before Spark reads, belongs to the next call.
        send(lab, topic, messages[upto : upto + 1])
        offsets.expect_rows(name, new, first, ends)
        first, sent = ends, upto + 1
    return (
        "every record was read once, also those that came while Spark was at work; offsets in your own "
        "keeping are what a checkpoint of a stream holds too."
    )


@exercise("12.4", "A reader that misses nothing")
def misses_nothing(lab: Lab, query: StreamingQuery) -> str:
    """Compare what the learner's query read with the log."""
    topic = lab.topic("spark-january")
    ends = end_offsets(lab.bootstrap, topic)
    expect_whole(query, topic, ends, folder("checkpoint"))
    return (
        f"the stream read all {sum(ends.values()):,} records and ended, as many as the batch and the group "
        "read; its position is in its checkpoint, so no reader took anything from another."
    )


@exercise("12.5", "Write the answer back")
def written_back(lab: Lab, topic: str) -> str:
    """Compare the log of the learner's topic with the summary."""
    expect_topic(lab, topic, "spark-delays")
    policy = topic_setting(lab, topic, "cleanup.policy")
    if "compact" not in policy:
        raise NotYet(
            f"cleanup.policy of {topic!r} is {policy!r}",
            "after seven days the answers would be deleted: the last one of each key should stay",
            'config={"cleanup.policy": …}',
        )
    keys = compare_summary([(record.key, record.value) for record in log_of(lab, topic)])
    return (
        f"the topic is now a table of {keys} rows for anybody who reads it: each key has one last value, "
        "and a second run of the job would replace it."
    )
