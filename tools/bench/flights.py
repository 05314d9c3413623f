"""How long all flights take into Kafka and out of it; in a process as fresh as a notebook's."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from threebrokers.cluster import Cluster, topics
from threebrokers.data.flights import flight_messages, load_flights
from threebrokers.data.topics import send as send_messages
from threebrokers.lab.lab import Lab
from tools import ROOT

TOPIC = "bench-flights"


def in_own_process(home: Path) -> dict[str, float]:
    """Return the seconds of "send" and "spark", measured in a new Python process."""
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
    topics.delete(cluster, [TOPIC])
    topics.create(cluster, TOPIC, 6, 3, {"retention.ms": "-1"})
    lab = Lab("02", cluster, lambda: sys.modules[__name__], "bench")
    began = time.monotonic()
    send_messages(lab, TOPIC, flight_messages())
    return time.monotonic() - began


def read(cluster: Cluster) -> float:
    """Return how long Spark takes to read and aggregate them, in a session that has done nothing yet."""
    from pyspark.sql import functions as f

    from threebrokers.spark import session as spark_session

    session = spark_session()
    try:
        began = time.monotonic()
        records = (
            session.read.format("kafka")
            .option("kafka.bootstrap.servers", cluster.bootstrap)
            .option("subscribe", TOPIC)
            .load()
        )
        columns = f.from_json(f.col("value").cast("string"), "origin string, dep_delay int")
        answer = (
            records.select(columns.alias("flight"))
            .groupBy("flight.origin")
            .agg(f.count("*").alias("flights"), f.sum("flight.dep_delay").alias("minutes"))
            .collect()
        )
        took = time.monotonic() - began
    finally:
        session.stop()
    table = load_flights().groupby("origin")["dep_delay"].agg(["size", "sum"])
    expected = {origin: (row["size"], row["sum"]) for origin, row in table.iterrows()}
    found = {row.origin: (row.flights, row.minutes) for row in answer}
    assert found == expected, f"Spark found {found}; the package's own table says {expected}"
    return took


if __name__ == "__main__":
    here = Cluster()
    print(json.dumps({"send": send(here), "spark": read(here)}))
