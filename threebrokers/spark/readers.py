"""Three readers of one topic of flights: a Spark batch, a Spark stream and a Python consumer group."""

import json

import pandas as pd
from confluent_kafka import Consumer
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from threebrokers.errors import LabError
from threebrokers.spark.flights import flight_columns, start_board
from threebrokers.spark.plain import to_the_end
from threebrokers.spark.queries import ended_within, expect_no_fault, java_there
from threebrokers.spark.steps import rows_read
from threebrokers.waiting import shown

SECONDS = 120


def report(records: DataFrame) -> pd.DataFrame:
    """Return flights and mean departure delay (minutes) by airport: a batch."""
    groups = flight_columns(records).groupBy("origin")
    return groups.agg(F.count("*").alias("flights"), F.mean("dep_delay").alias("mean_delay")).toPandas()


def board(spark: SparkSession, bootstrap: str, topic: str) -> tuple[int, pd.DataFrame]:
    """Return how many records a stream has read until it ended, and its table: departures by airport.

    Raises LabError if it fails, and after two minutes.
    """
    with java_there(), shown("the query `board` to end", SECONDS):
        query = start_board(spark, bootstrap, topic)
        try:
            if not ended_within(query, SECONDS):
                raise LabError(f"The query `board` did not end within {SECONDS} s", "run the cell again")
        finally:
            query.stop()
        expect_no_fault(query, "The query `board` failed")
        read = sum(map(rows_read, query.recentProgress))
        return read, spark.table("board").toPandas()


def positions(consumer: Consumer, topic: str) -> tuple[int, dict[str, str]]:
    """Return how many records a consumer has read, and the airport to which each aircraft flew last."""
    count, last = 0, {}
    for message in to_the_end(consumer, topic):
        key, value = message.key(), message.value()
        count += 1
        if key is not None and value is not None:
            last[str(key, "utf-8")] = json.loads(value)["dest"]
    return count, last
