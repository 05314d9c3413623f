"""A query that runs twice a day: it ran at noon, and the departures since then are in the topic."""

from collections.abc import Callable

import pandas as pd
from pyspark.sql.streaming.query import StreamingQuery

from threebrokers.data.replay import empty_replay, late_departures, replay_messages
from threebrokers.data.topics import send
from threebrokers.errors import LabError
from threebrokers.lab.lab import Lab
from threebrokers.spark.queries import ended_within, expect_no_fault, java_there
from threebrokers.spark.spark_session import fresh_folder
from threebrokers.waiting import shown

SECONDS = 90.0


def first_run(
    lab: Lab, topic: str, start: Callable[[str, str], StreamingQuery], *, checkpoint: str
) -> tuple[str, StreamingQuery]:
    """Return the full name of a fresh topic, and a query that has read it up to noon and ended.

    `start(topic, folder)` starts the query; `folder` is a fresh one with the name `checkpoint`. When it has
    ended, the flights that left in the afternoon come into the topic. Raises LabError.
    """
    full = empty_replay(lab, topic, partitions=3)
    flights = late_departures()
    first = flights["left"] < noon(flights)
    with java_there(), shown("the first run to end", SECONDS):
        send(lab, full, replay_messages(flights[first]))
        query = start(full, fresh_folder(checkpoint))
        try:
            if not ended_within(query, SECONDS):
                raise LabError(f"The first run did not end within {SECONDS:g} s: run the cell again.")
        finally:  # also when the cell is interrupted
            query.stop()
        expect_no_fault(query, "The first run failed")
        send(lab, full, replay_messages(flights[~first]))
    return full, query


def noon(flights: pd.DataFrame) -> pd.Timestamp:
    """Return noon, in New York, of the day for which the first of these flights was planned."""
    return flights["scheduled"].min().normalize() + pd.Timedelta(12, "h")
