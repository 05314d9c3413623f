"""The flights in Spark: the course's own answers to lab 12, for the cells that go on from them."""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from threebrokers.data.flights import NEW_YORK
from threebrokers.spark.spark_session import fresh_folder

FLIGHT = (
    "scheduled TIMESTAMP, carrier STRING, flight INT, tailnum STRING, origin STRING, dest STRING, "
    "dep_delay INT, arr_delay INT, distance INT"
)


def flight_columns(records: DataFrame) -> DataFrame:
    """Return one row of typed columns for each record that Spark's Kafka reader gives.

    The columns are those of `data.flights`; what the JSON does not have is null.
    """
    text = F.col("value").cast("string")
    return records.select(F.from_json(text, FLIGHT).alias("flight")).select("flight.*")


def delays_by_hour(flights: DataFrame, fewest: int) -> DataFrame:
    """Return flights and mean departure delay (minutes) by airport and New York hour, worst first.

    Hours with less than `fewest` flights are left out.
    """
    hour = F.hour(F.convert_timezone(None, F.lit(NEW_YORK), F.col("scheduled")))
    groups = flights.groupBy("origin", hour.alias("hour"))
    means = groups.agg(F.count("*").alias("flights"), F.mean("dep_delay").alias("mean_delay"))
    return means.where(F.col("flights") >= fewest).orderBy(F.desc("mean_delay"))


def start_board(spark: SparkSession, bootstrap: str, topic: str) -> StreamingQuery:
    """Start a query that reads a topic of flights from its start and counts departures by airport.

    It ends at the topic's present end; the counts are the table `board`. Its position is in
    the folder "board", as `fresh_folder` gives it out.
    """
    for earlier in spark.streams.active:
        if earlier.name == "board":
            earlier.stop()
    records = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .load()
    )
    return (
        flight_columns(records)
        .groupBy("origin")
        .count()
        .writeStream.format("memory")
        .queryName("board")
        .outputMode("complete")
        .option("checkpointLocation", fresh_folder("board"))
        .trigger(availableNow=True)
        .start()
    )
