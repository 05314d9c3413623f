"""The flights in Spark: the course's own answers to lab 12, for the cells that go on from them."""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from threebrokers.spark.spark_session import fresh_folder

FLIGHT = (
    "scheduled TIMESTAMP, carrier STRING, flight INT, tailnum STRING, origin STRING, dest STRING, "
    "dep_delay INT, arr_delay INT, distance INT"
)

# After each fetch Spark's consumer asks for the partition's end, and at the end of the log a broker answers
# that only after the fetch that was sent before, which waits for records: 500 ms for each partition.
QUICK = {"kafka.fetch.max.wait.ms": "10"}


def flight_columns(records: DataFrame, *keep: str) -> DataFrame:
    """Return one row of typed columns for each record that Spark's Kafka reader gives.

    The columns are those of `data.flights`, behind those of the reader that `keep` names; what the JSON does
    not have is null.
    """
    text = F.col("value").cast("string")
    return records.select(*keep, F.from_json(text, FLIGHT).alias("flight")).select(*keep, "flight.*")


def start_board(spark: SparkSession, bootstrap: str, topic: str) -> StreamingQuery:
    """Start a query that reads a topic of flights from its start and counts departures by airport.

    It ends at the topic's present end; the counts are the table `board`. Its position is in
    the folder "board", as `fresh_folder` gives it out.
    """
    records = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .options(**QUICK)
        .load()
    )
    checkpoint = fresh_folder("board")  # first: it ends an earlier query of this name
    return (
        flight_columns(records)
        .groupBy("origin")
        .count()
        .writeStream.format("memory")
        .queryName("board")
        .outputMode("complete")
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .start()
    )
