"""A query that runs every night: the first night is over, and the next day's departures are in the topic."""

from collections.abc import Callable

from pyspark.sql.streaming.query import StreamingQuery

from threebrokers.data.replay import LATE_DAYS, empty_replay, late_departures, replay_messages
from threebrokers.data.topics import send
from threebrokers.errors import LabError
from threebrokers.lab.lab import Lab
from threebrokers.spark.queries import java_there
from threebrokers.spark.spark_session import fresh_folder
from threebrokers.waiting import shown

SECONDS = 60.0


def first_night(
    lab: Lab, topic: str, start: Callable[[str, str], StreamingQuery], *, checkpoint: str
) -> tuple[str, StreamingQuery]:
    """Return the full name of a fresh topic, and a query that has read its first day and ended.

    `start(topic, folder)` starts the query; `folder` is a fresh one with the name `checkpoint`. When it has
    ended, the flights that left on the second day come into the topic. Raises LabError.
    """
    full = empty_replay(lab, topic)
    flights = late_departures()
    first = flights["left"].dt.date <= LATE_DAYS[0]
    with java_there(), shown("the first night to end", SECONDS):
        send(lab, full, replay_messages(flights[first]))
        query = start(full, fresh_folder(checkpoint))
        if not query.awaitTermination(SECONDS):  # type: ignore[arg-type]
            query.stop()
            raise LabError(f"The first night did not end within {SECONDS:g} s: run the cell again.")
        send(lab, full, replay_messages(flights[~first]))
    return full, query

