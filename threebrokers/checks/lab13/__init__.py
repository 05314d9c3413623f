"""Checks of lab 13: what time is it in a stream?"""

from datetime import timedelta

from pyspark.sql.streaming.query import StreamingQuery

from threebrokers.checks.expect import log_of
from threebrokers.checks.expect_spark import by_partition, in_step
from threebrokers.checks.lab13.behind import LOOK_AT, compare_waiting
from threebrokers.checks.lab13.queries import expect_ended, table_of
from threebrokers.checks.lab13.recipients import judge_board, judge_invoices, judge_ranking
from threebrokers.checks.lab13.runs import expect_place, judge_results
from threebrokers.checks.lab13.watermark import judge_waiting
from threebrokers.checks.lab13.windows import judge_hours, judge_sliding
from threebrokers.kafka.log_reader import end_offsets
from threebrokers.lab.exercise import exercise
from threebrokers.lab.lab import Lab
from threebrokers.spark.delivering import Delivered
from threebrokers.spark.spark_session import folder
from threebrokers.spark.steps import offsets, steps

# What Spark says, in part, of a checkpoint whose offsets are those of another topic.
OTHER_TOPIC = {
    "Some data may have been": (
        "a checkpoint belongs to one topic: it holds that topic's offsets",
        "the table that send_hours(…) is given: departures(…) of the same topic as in the first run",
    )
}


@exercise("13.1", "Hours of the plan")
@in_step()
def hours_of_the_plan(lab: Lab, query: StreamingQuery) -> str:
    """Compare the windows of the learner's query with those of the package's own table."""
    expect_ended(query)
    judge_hours(table_of(query, ("window", "origin", "count")), query)
    return (
        "53 windows hold the 883 departures, as many in each as the package's own table says; the order "
        "in which they came, and the hour in which Spark read them, made no difference."
    )


@exercise("13.2", "Wait, but not too long")
@in_step()
def wait_long_enough(lab: Lab, query: StreamingQuery) -> str:
    """Measure what the learner's query dropped, and how long it waited, from its own progress."""
    expect_ended(query)
    table = table_of(query, ("window", "origin", "count"))
    return judge_waiting(query, steps(query.recentProgress), table)


@exercise("13.3", "Three readers, three modes")
def three_modes(lab: Lab, delivered: dict[str, Delivered]) -> str:
    """Judge what each reader got, not the word that was chosen."""
    judge_invoices(delivered)
    judge_board(delivered)
    judge_ranking(delivered)
    return (
        "the invoice office gets each finished hour once and never again, the board gets what has changed "
        "and nothing else, and the ranking is whole each time: the reader's question decides, not the query."
    )


@exercise("13.4", "The second run", errors=OTHER_TOPIC)
@in_step()
def second_run(lab: Lab, query: StreamingQuery) -> str:
    """Read the topic of results: each finished hour should be there once, with the package's number."""
    expect_ended(query)
    found = [(record.key, record.value) for record in log_of(lab, lab.topic("stream-hours"))]
    judge_results(found, query, folder("runs"))
    expect_place(query, folder("runs"))
    return (
        "each hour was written once, also those that were open at noon: the checkpoint "
        "keeps the offsets, the watermark and the counts together."
    )


@exercise("13.5", "How far behind?")
@in_step()
def how_far_behind(lab: Lab, query: StreamingQuery, waiting: dict[int | str, int]) -> str:
    """Compare the learner's numbers with the topic's end now and the place of the query."""
    expect_ended(query)
    topic = lab.topic("stream-behind")
    told = query.recentProgress[-1]["sources"][0]
    place = offsets(told["endOffset"]).get(topic, {})
    compare_waiting(by_partition("waiting", waiting, LOOK_AT), place, end_offsets(lab.bootstrap, topic))
    return (
        f"{sum(waiting.values())} departures wait, and the query's own progress says 0: it speaks of the "
        "moment of its last batch, so an alarm must ask the brokers."
    )


@exercise("13.6", "Hours that begin every ten minutes")
@in_step()
def busiest_hour(lab: Lab, query: StreamingQuery) -> str:
    """Compare the windows of the learner's query with those of the package's own table."""
    expect_ended(query)
    table = table_of(query, ("window", "origin", "count"))
    judge_sliding(table, query, timedelta(hours=1), timedelta(minutes=10))
    return (
        "each departure is in six windows, so the busiest hour is found wherever it begins: JFK's has 33 "
        "departures and begins at 11:30 UTC; but the counts must not be added up."
    )
