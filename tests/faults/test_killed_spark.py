"""Spark is killed between writing a batch and committing it, ten times: what its sinks hold after each."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from threebrokers.cluster import Cluster
from threebrokers.cluster.jars import spark_jars

RUNS, FLIGHTS = 10, 883
# One sink writes a topic, and then three tables in one transaction, at whose end Spark is killed.
PROGRAM = """
import json
import sys
from pyspark.sql import functions as F
from threebrokers import open_lab
from threebrokers.checks.lab15.places import planned
from threebrokers.data import replay_topic
from threebrokers.kafka.log_reader import read_log
from threebrokers.spark import Book, flight_columns, killed, session, started_again

lab = open_lab("15")
trips = replay_topic(lab, "exact-trips", partitions=3)
TABLES = ("plain (part, place)", "keyed (part, place, PRIMARY KEY (part, place))", "numbered (part, place)")

def start(sink, checkpoint):
    reader = session().readStream.format("kafka").option("kafka.bootstrap.servers", lab.bootstrap)
    reader = reader.options(subscribe=trips, startingOffsets="earliest", maxOffsetsPerTrigger=300)
    writer = flight_columns(reader.load(), "partition", "offset").writeStream.foreachBatch(sink)
    return writer.option("checkpointLocation", checkpoint).trigger(availableNow=True).start()

def save(batch, number):
    rows = batch.select(F.concat_ws("-", "partition", "offset").alias("key"), F.lit("").alias("value"))
    writer = rows.write.format("kafka").option("kafka.bootstrap.servers", lab.bootstrap)
    writer.option("topic", copies).save()
    places = [tuple(row) for row in batch.select("partition", "offset").collect()]
    with book.open() as db:
        for table in (*TABLES, "done (batch PRIMARY KEY)"):
            db.execute(f"CREATE TABLE IF NOT EXISTS {table}")
        db.executemany("INSERT INTO plain VALUES (?, ?)", places)
        db.executemany("INSERT OR IGNORE INTO keyed VALUES (?, ?)", places)
        if db.execute("INSERT OR IGNORE INTO done VALUES (?)", (number,)).rowcount:
            db.executemany("INSERT INTO numbered VALUES (?, ?)", places)

for run in range(int(sys.argv[1])):
    copies = lab.fresh_topic("exact-copies", partitions=3, replication_factor=3)
    book = Book("plain")
    kept = killed(start, save, "plain", batch=1 + run % 2, book=book)
    started_again(start, save, "plain")
    before, after = planned(kept, trips)
    again = sorted((part, place) for part, end in after.items() for place in range(before[part], end))
    names = [record.key.decode() for record in read_log(lab.bootstrap, copies)]
    held = {"a topic": [tuple(map(int, name.split("-"))) for name in names]}
    for table in ("plain", "keyed", "numbered"):
        held[table] = book.rows(f"SELECT part, place FROM {table}")
    told = {}
    for name, places in held.items():
        twice = sorted(place for place in set(places) if places.count(place) > 1)
        told[name] = [len(set(places)), len(places) - len(set(places)), twice == again]
    print(json.dumps({"batch": len(again), "held": told}))
lab.close()
"""
HAPPENS = (
    f"{RUNS} of {RUNS} times the same batch comes again, and nothing is lost: a sink that only adds, and a "
    "topic, hold its rows twice and all others once; a sink with keys, or with the batch's number in the "
    "same transaction, holds each row once"
)


@pytest.mark.slow_fault
@pytest.mark.timeout(1800)
@pytest.mark.fault("Spark", "Spark is killed (kill -9) when a batch is written and not yet committed")
def test_spark_is_killed_between_sink_and_commit(cluster: Cluster, home: Path, notes, behaviour) -> None:
    spark_jars()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(RUNS)],
        env={**os.environ, "THREEBROKERS_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=1700,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    runs = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert len(runs) == RUNS
    for run in runs:
        twice = [FLIGHTS, run["batch"], True]  # different rows, copies, and these are the batch's
        once = [FLIGHTS, 0, False]
        assert run["batch"]
        assert run["held"] == {"a topic": twice, "plain": twice, "keyed": once, "numbered": once}
    notes.append(f"Spark killed {RUNS} times: batches of {[run['batch'] for run in runs]} rows came again")
    behaviour(HAPPENS)
