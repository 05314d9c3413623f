"""How long all flights take into Kafka and out of it; in a process as fresh as a notebook's.

Spark's session starts quickly from its third time on: the first one notes which classes it uses, the second
one stores them.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from threebrokers.cluster import Cluster, topics
from threebrokers.data.flights import flight_messages, load_flights
from threebrokers.data.topics import send as send_messages
from threebrokers.lab.lab import Lab
from tools import ROOT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

TOPIC, SENT, ARRIVED = "bench-flights", "bench-sent", "bench-arrived"
PARTITIONS = {TOPIC: 6, SENT: 2, ARRIVED: 1}
WARM_UPS = 2
REAL_TIME = {"realTime": "5 seconds"}


def in_own_process(home: Path) -> dict[str, float]:
    """Return the seconds of what `measured` measures, in a new Python process; "real time" is in ms."""
    done = subprocess.run(
        [sys.executable, "-m", "tools.bench.flights"],
        cwd=ROOT,
        env={**os.environ, "THREEBROKERS_HOME": str(home)},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    told: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return told


def send(cluster: Cluster) -> float:
    """Return how long one producer takes to send all flights, from the package's files to the last report."""
    topics.delete(cluster, [*PARTITIONS])
    for name, partitions in PARTITIONS.items():
        topics.create(cluster, name, partitions, 3, {"retention.ms": "-1"})
    lab = _lab(cluster)
    began = time.monotonic()
    send_messages(lab, TOPIC, flight_messages())
    return time.monotonic() - began


def measured(cluster: Cluster) -> dict[str, float]:
    """Return how long each of it takes, in a Python process that has done nothing yet."""
    took = {"send": send(cluster)}
    from threebrokers.spark import gateway, session

    before = time.process_time()
    began = time.monotonic()
    spark = session()
    took["session"] = time.monotonic() - began
    took["processor"] = time.process_time() - before + _of_java()
    try:
        took["spark"] = read(spark, cluster)
        took["windows"] = count_windows(spark, cluster)
        took["real time"] = real_time(spark, cluster)
    finally:
        gateway.end()
    return took


def _of_java() -> float:
    """Return how much processor time the Java processes of this one have used (s)."""
    times = [process.cpu_times() for process in psutil.Process().children(recursive=True)]
    return sum((float(of.user + of.system) for of in times), 0.0)


def read(spark: "SparkSession", cluster: Cluster) -> float:
    """Return how long Spark takes to read and aggregate all flights, in a session that did nothing yet."""
    from pyspark.sql import functions as f

    from threebrokers.spark.flights import QUICK

    began = time.monotonic()
    reader = spark.read.format("kafka").option("kafka.bootstrap.servers", cluster.bootstrap)
    # After each poll Spark asks for the partition's first and last offset: 500 records, the default, are few.
    reader = reader.options(**QUICK).option("kafka.max.poll.records", "5000")
    columns = f.from_json(f.col("value").cast("string"), "origin string, dep_delay int")
    flights = reader.option("subscribe", TOPIC).load().select(columns.alias("flight"))
    airports = flights.groupBy("flight.origin")
    answer = airports.agg(f.count("*").alias("flights"), f.sum("flight.dep_delay").alias("minutes")).collect()
    took = time.monotonic() - began
    table = load_flights().groupby("origin")["dep_delay"].agg(["size", "sum"])
    expected = {origin: (row["size"], row["sum"]) for origin, row in table.iterrows()}
    found = {row.origin: (row.flights, row.minutes) for row in answer}
    assert found == expected, f"Spark found {found}; the package's own table says {expected}"
    return took


def count_windows(spark: "SparkSession", cluster: Cluster) -> float:
    """Return how long a stream takes to count all flights by airport and hour, to the present end."""
    from pyspark.sql import functions as f

    from threebrokers.spark import flight_columns, fresh_folder

    began = time.monotonic()
    windows = flight_columns(_stream(spark, cluster, TOPIC, "earliest")).groupBy(
        "origin", f.window("scheduled", "1 hour")
    )
    writer = windows.count().writeStream.format("memory").queryName("bench").outputMode("complete")
    writer = writer.option("checkpointLocation", fresh_folder("bench"))
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    counted = spark.table("bench").agg(f.sum("count")).collect()[0][0]
    took = time.monotonic() - began
    assert counted == len(load_flights()), f"The stream counted {counted} flights"
    return took


def real_time(spark: "SparkSession", cluster: Cluster) -> float:
    """Return in how many ms half of the records got through a real-time query, from producer to consumer."""
    from threebrokers.spark import flight_columns, measure_latency

    def start(trigger: Mapping[str, str], checkpoint: str) -> "StreamingQuery":
        flights = flight_columns(_stream(spark, cluster, SENT, "latest"), "key")
        rows = flights.selectExpr("key", "CAST(dep_delay AS STRING) AS value")
        writer = rows.writeStream.format("kafka").option("kafka.bootstrap.servers", cluster.bootstrap)
        writer = writer.option("topic", ARRIVED).option("checkpointLocation", checkpoint).outputMode("update")
        return writer.trigger(**trigger).start()

    found = measure_latency(_lab(cluster), (SENT, ARRIVED), start, {"real time": REAL_TIME})
    return found.at("real time", 50)


def _stream(spark: "SparkSession", cluster: Cluster, topic: str, begin: str) -> "DataFrame":
    from threebrokers.spark.flights import QUICK

    reader = spark.readStream.format("kafka").option("kafka.bootstrap.servers", cluster.bootstrap)
    return reader.options(subscribe=topic, startingOffsets=begin, **QUICK).load()


def _lab(cluster: Cluster) -> Lab:
    return Lab("02", cluster, lambda: sys.modules[__name__], "bench")


if __name__ == "__main__":
    print(json.dumps(measured(Cluster())))
