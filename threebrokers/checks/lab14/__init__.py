"""Checks of lab 14: when is a stream a table?"""

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from threebrokers.checks.expect_spark import in_step, plan_of_query
from threebrokers.checks.lab13.queries import deciding, expect_ended
from threebrokers.checks.lab14 import pairs, reports, seats, turns
from threebrokers.checks.lab14.places import judge_held
from threebrokers.checks.lab14.queries import has_watermark, progress_of, rows_of, state_of, steps_of
from threebrokers.checks.lab14.tasks import judge_topics
from threebrokers.lab.exercise import exercise
from threebrokers.lab.lab import Lab
from threebrokers.spark.queries import java_there
from threebrokers.spark.steps import watermark_delay


@exercise("14.1", "How many seats left?")
@in_step()
def seats_that_left(lab: Lab, query: StreamingQuery) -> str:
    """Compare the learner's table with the package's own tables of flights and aircraft."""
    expect_ended(query)
    seats.judge_seats(rows_of(query, seats.COLUMNS))
    empty = int(seats.right_seats()["seats"].isna().sum())
    return (
        f"all 883 departures are there once, {empty} of them without seats: the register does not know the "
        "aircraft, or not any more. An inner join drops the unknown ones without a word."
    )


@exercise("14.2", "Forget what has landed")
@in_step()
def forgets_what_landed(lab: Lab, query: StreamingQuery) -> str:
    """Compare the pairs with the package's own table, and ask the query for its state."""
    expect_ended(query)
    pairs.judge_pairs(rows_of(query, pairs.COLUMNS))
    last = steps_of(query)[-1]
    delay = pairs.delay_of(last) if has_watermark(progress_of(query)) else None
    with java_there():
        plan = plan_of_query(query)
    pairs.judge_state(last.state, delay, pairs.marked(plan), pairs.delays(plan))
    pairs.judge_bound(last.state, pairs.waits(plan))
    pairs.judge_kind(plan)
    return (
        "each of the 873 arrivals has its departure, and rows that can find no partner any more have left "
        "the state: it stays as large as half a day of flights, as long as both streams go on."
    )


@exercise("14.3", "Each departure once")
@in_step()
def each_report_once(lab: Lab, query: StreamingQuery) -> str:
    """Compare the learner's table with the package's flights, and ask the query how long it remembers."""
    expect_ended(query)
    taken = steps_of(query)
    delay = watermark_delay(taken)
    rows = rows_of(query, reports.COLUMNS)
    reports.judge_clock(step.newest for step in taken)  # it explains departures that are gone
    reports.judge_rows(rows, delay)
    reports.judge_memory(delay, max(step.state for step in taken), taken[-1].state)
    with java_there():
        plan = plan_of_query(query)
    reports.judge_columns(deciding(plan))
    return (
        "each of the 883 departures is there once; the query remembers what the sender's promise asks for, "
        "and forgets the rest."
    )


@exercise("14.4", "Only those that are still away")
@in_step()
def still_away(lab: Lab, query: StreamingQuery) -> str:
    """Compare turns and alarms with the package's own table."""
    expect_ended(query)
    rows = rows_of(query, turns.COLUMNS)
    turns.judge_turns(rows)
    if (held := state_of(lab, query, "last")) is not None:
        turns.judge_forgotten(rows, held)
    return (
        "each alarm is for an aircraft that was still away, and no turn is missing: a timer knows nothing of "
        "the state, so it is taken back when that changes, or asked when it rings if it still counts."
    )


@exercise("14.5", "Where are they?")
@in_step()
def state_as_table(lab: Lab, held: DataFrame) -> str:
    """Compare the state that the learner has read with the package's own table."""
    judge_held(held)
    return "682 aircraft, each with its last departure: the query wrote no result, its state is the table."


@exercise("14.6", "Four tasks, and each finds all")
def co_partitioned(lab: Lab, stream: str, table: str) -> str:
    """Read both topics: each record's key should lie in the same partition of both."""
    judge_topics(lab, stream, table)
    return (
        "four tasks find the weather of all 883 departures, each in its own partitions: the same key, the "
        "same number, the same partitioner."
    )
