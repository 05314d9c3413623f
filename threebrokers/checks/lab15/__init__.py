"""Checks of lab 15: what if Spark dies?"""

from pyspark.sql.streaming.query import StreamingQuery

from threebrokers.checks.expect import log_of
from threebrokers.checks.expect_spark import by_partition, in_step
from threebrokers.checks.lab15.books import judge_book
from threebrokers.checks.lab15.copies import judge_copies
from threebrokers.checks.lab15.executors import judge_readers_of
from threebrokers.checks.lab15.places import FILES, compare_twice, planned
from threebrokers.checks.lab15.queries import expect_ended, expect_second_run
from threebrokers.checks.lab15.triggers import judge_choice
from threebrokers.checks.lab15.versions import (
    expect_places,
    judge_change,
    judge_new,
    judge_old,
    judge_sent,
    judge_topics,
)
from threebrokers.lab.exercise import NotYet, exercise
from threebrokers.lab.lab import Lab
from threebrokers.spark.crashes import at_death, died_at_commit, forgotten
from threebrokers.spark.spark_session import folder_of
from threebrokers.spark.versions import Day
from threebrokers.spark.workers import driver_process


@exercise("15.1", "What will come twice?")
def what_comes_twice(lab: Lab, twice: dict[int | str, int]) -> str:
    """Compare the learner's numbers with the files of the checkpoint that Spark's death has left."""
    compare_twice(
        by_partition("twice", twice, FILES), *planned(at_death("plain", lab), lab.topic("exact-trips"))
    )
    return (
        f"{sum(twice.values())} records of batch 2 are planned and not committed: the next run reads the "
        "same offsets again, and nothing else twice."
    )


SECOND_TIME = (
    "a second time should change nothing, and be no error",
    "INSERT in your sink: what should it do if the row, or the batch, is there?",
)
OWN_KEY = (
    "each departure should have a key of its own",
    "PRIMARY KEY of your table: a place is one of each partition",
)
# What the database says, in part, of a key that is there already: of one column that cannot be a key alone,
# and of all else. What ends the error's text, or Spark's sentence about it: no other column follows.
ENDS = ("\n", ")", ".)")
KEY = {f"failed: trips.{column}{end}": OWN_KEY for column in ("part", "place", "tailnum") for end in ENDS} | {
    "UNIQUE constraint": SECOND_TIME
}


@exercise("15.2", "Each departure once", errors=KEY)
@in_step()
def each_once(lab: Lab, query: StreamingQuery) -> str:
    """Read the learner's database: each record should be there once.

    Spark has died at a commit, and `until_done` has given the batch once more, as a second death would.
    """
    expect_second_run(query)
    wanted = {(r.partition, r.offset): (r.key or b"").decode() for r in log_of(lab, lab.topic("exact-trips"))}
    judge_book(folder_of(lab, "book-keyed") / "keyed.sqlite", wanted, forgotten("keyed", lab))
    if not died_at_commit("keyed", lab):
        raise NotYet(
            "the rows are right, but Spark died behind the end of `save`, and not at its first commit",
            "`until_done` is given book=keyed, and `save` opens this book with keyed.open()",
            "the function `save`, and until_done(…)",
        )
    return (
        "all 883 departures are in the table once, although batch 1 was written and came again: "
        "the sink decides what a second time does."
    )


@exercise("15.3", "Drop the second copy")
@in_step()
def second_copy_dropped(lab: Lab, query: StreamingQuery) -> str:
    """Compare the learner's table with the keys in the topic of copies, and ask the query for its state."""
    expect_ended(query)
    judge_copies(query, [(r.key or b"").decode() for r in log_of(lab, lab.topic("exact-copies"))])
    return (
        "each departure is in the table once, and what the query remembers of them is in its checkpoint, "
        "for as long as the watermark says."
    )


@exercise("15.4", "Version 2 beside version 1")
def changed_over(lab: Lab, day: Day) -> str:
    """Read both topics of vouchers, where the versions keep their places, and what the office sent."""
    old, new = lab.topic("exact-late-v1"), lab.topic("exact-late-v2")
    live = log_of(lab, lab.topic("exact-live"))
    first = folder_of(lab, "v1")
    expect_places(day, first)
    judge_old(old, log_of(lab, old), live, first)
    judge_topics(day, lab.topic("exact-live"))
    judge_new(new, log_of(lab, new))
    judge_change(day, old, new, live)
    judge_sent(day, live)
    return (
        "both versions ran side by side while departures came in, and the office has sent each of the 155 "
        "vouchers once; the way back is still there."
    )


@exercise("15.5", "A trigger for each")
def trigger_for_each(lab: Lab, choice: dict[str, dict[str, str]]) -> str:
    """Compare each trigger with what its query needs."""
    judge_choice(choice)
    return (
        "an alarm is handed on at once, the board gets a batch for each look, and what keeps state is as "
        "fresh as a batch is quick: nobody pays for more than is of use."
    )


@exercise("15.6", "The same on two workers")
@in_step()
def on_two_workers(lab: Lab, query: StreamingQuery) -> str:
    """Read what the query wrote: each departure once, and the processes that have read them."""
    expect_ended(query)
    wanted = {f"{r.partition}-{r.offset}" for r in log_of(lab, lab.topic("exact-trips"))}
    there = lab.topic("exact-there")
    judge_readers_of(there, log_of(lab, there), wanted, driver_process())
    return (
        "all 883 departures are there once, and each executor has read its partitions from the brokers "
        "itself: the driver has seen none of them."
    )
