"""Measure how Spark's reading of Kafka grows, and write the curves and what follows into docs/scaling.md.

That is `make scaling`. Numbers hold for the machine on which it ran; the page names it. What a larger
cluster needs is computed from them, and the page says what nobody measured.
"""

import argparse
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TypeAlias

import psutil
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from threebrokers.data.flights import flight_messages
from threebrokers.data.topics import send
from threebrokers.files import write_whole
from threebrokers.lab.lab import Lab
from threebrokers.lab.opening import open_lab
from threebrokers.spark import flight_columns, fresh_folder, gateway, session
from threebrokers.spark.flights import QUICK
from threebrokers.text import counted
from tools import ROOT
from tools.proof import environment

PAGE = ROOT / "docs" / "scaling.md"
LAB, RUNS = "12", 5
PARTITIONS, CORES, LEAST = (1, 2, 4, 8), (1, 2), (1, 2, 4, 8)
WAIT, WAITS = "kafka.fetch.max.wait.ms", (10, 100, 500)
BATCHES = (1_000, 4_000, 16_000, 64_000)  # records in each micro-batch
BATCHES_OF_EACH = 8
STEP, STEPS = 40_000, 6  # records that each batch adds to the state
PROVIDERS = {
    "memory (default)": "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider",
    "RocksDB": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
}
WANTED = 1_000_000  # records per second
HOST_CORES, BROKERS = 16, 3  # what the computation takes for a host, and for a cluster of brokers


Runs: TypeAlias = Sequence[float]  # what each run has given; the median counts


@dataclass
class Curves:
    """What was measured. Rates are records per second, times ms, sizes bytes."""

    record_bytes: float = 0
    by_partitions: dict[int, dict[int, Runs]] = field(default_factory=dict)  # cores: {partitions: rates}
    by_least: dict[int, Runs] = field(default_factory=dict)  # minPartitions, of a topic with one partition
    by_wait: dict[int, Runs] = field(default_factory=dict)  # fetch.max.wait.ms, of the most partitions
    by_batch: dict[int, Runs] = field(default_factory=dict)  # records: times of a batch
    state: dict[str, dict[int, int]] = field(default_factory=dict)  # provider: {rows: bytes}


def measured(lab: Lab, runs: int, say: Callable[[str], None]) -> Curves:
    """Measure every curve, each point `runs` times; the state, which Spark only estimates, once."""
    messages = flight_messages()
    curves = Curves(sum(len(key or b"") + len(value) for key, value in messages) / len(messages))
    topics = {}
    for partitions in PARTITIONS:
        topics[partitions] = lab.fresh_topic(f"scaling-{partitions}", partitions=partitions)
        send(lab, topics[partitions], messages)
    count = len(messages)
    for cores in CORES:
        spark = session(f"local[{cores}]")
        _seconds(spark, lab, topics[1])  # the first query pays for what all share
        curves.by_partitions[cores] = {
            n: _rates(runs, count, partial(_seconds, spark, lab, topic)) for n, topic in topics.items()
        }
        say(f"{counted(cores, 'core')}: {_told(curves.by_partitions[cores], '/s')}")
    for least in LEAST:
        once = partial(_seconds, spark, lab, topics[1], {"minPartitions": str(least)})
        curves.by_least[least] = _rates(runs, count, once)
    say(f"minPartitions: {_told(curves.by_least, '/s')}")
    waits = [{WAIT: str(wait)} for wait in WAITS]
    turns = [
        [count / _seconds(spark, lab, topics[max(PARTITIONS)], wait) for wait in waits] for _ in range(runs)
    ]
    curves.by_wait = dict(zip(WAITS, zip(*turns, strict=True), strict=True))
    say(f"{WAIT}: {_told(curves.by_wait, '/s')}")
    for size in BATCHES:
        topic = lab.fresh_topic("scaling-batches", partitions=4)
        send(lab, topic, messages[: size * BATCHES_OF_EACH])
        curves.by_batch[size] = [_batch(spark, lab, topic, size) for _ in range(runs)]
    say(f"batches: {_told(curves.by_batch, ' ms')}")
    for name, provider in PROVIDERS.items():
        curves.state[name] = _state(spark, lab, topics[1], provider)
        say(f"state, {name}: {curves.state[name]}")
    return curves


def page(curves: Curves, runs: int, versions: Sequence[str], machine: str) -> str:
    """Return the page."""
    rows: dict[str, Sequence[object]] = {
        str(n): [_shown(rates[n]) for rates in curves.by_partitions.values()] for n in PARTITIONS
    }
    cores = [counted(n, "core") for n in curves.by_partitions]
    parts = [
        HEAD.format(
            runs=counted(runs, "run"), machine=machine, versions=", ".join(versions), size=curves.record_bytes
        )
    ]
    parts += [PARTS, _table(["partitions", *cores], rows)]
    parts += [LEAST_TEXT, _table(["`minPartitions`", "records/s"], {
        str(n): [_shown(rates)] for n, rates in curves.by_least.items()
    })]  # fmt: skip
    parts += [WAIT_TEXT.format(partitions=max(PARTITIONS)), _table(["`fetch.max.wait.ms`", "records/s"], {
        str(n): [_shown(rates)] for n, rates in curves.by_wait.items()
    })]  # fmt: skip
    parts += [BATCH_TEXT, _table(["records in a batch", "time of a batch (ms)", "records/s"], {
        f"{n:,}": [_shown(times), f"{n / statistics.median(times) * 1000:,.0f}"]
        for n, times in curves.by_batch.items()
    })]  # fmt: skip
    sizes = next(iter(curves.state.values()))
    parts += [STATE_TEXT, _table(["rows of state", *(f"{name} (MB)" for name in curves.state)], {
        f"{n:,}": [f"{of[n] / 1e6:.1f}" if n in of else "–" for of in curves.state.values()] for n in sizes
    })]  # fmt: skip
    return "\n".join([*parts, _needed(curves)])


def _needed(curves: Curves) -> str:
    """Return what a million records per second take, computed from the curves."""
    few, many = min(curves.by_partitions), max(curves.by_partitions)
    middle = {cores: _medians(rates) for cores, rates in curves.by_partitions.items()}
    best = {cores: max(rates.values()) for cores, rates in middle.items()}
    worst = min(middle[few].values())
    cores, most = (-(-WANTED // int(rate)) for rate in (best[few], worst))
    fixed, each = _line(_medians(curves.by_batch))
    # The size of the heap goes up and down with what was collected: the point with the most for a row counts.
    row = max(size / rows for rows, size in curves.state[next(iter(curves.state))].items())
    return NEEDED.format(
        best=best[few], worst=worst, cores=cores, most=most, many=many, grown=best[many] / best[few],
        hosts=-(-most // HOST_CORES) + 1, host=HOST_CORES,
        partitions=2 * most, alone=middle[few][min(PARTITIONS)],
        fixed=fixed, full=_wait(fixed, each * many / most * WANTED),
        slow=_wait(fixed, 1000 * WANTED / (most * worst)),
        traffic=curves.record_bytes, followers=2 * curves.record_bytes,
        written=3 * curves.record_bytes, each=curves.record_bytes * 3 / BROKERS, brokers=BROKERS,
        row=row, rows=1_000_000_000 / max(row, 1) / 1e6,
    )  # fmt: skip


def _line(points: Mapping[int, float]) -> tuple[float, float]:
    """Return the height at 0 and the slope of the line through the first and the last of the points."""
    first, last = min(points), max(points)
    slope = (points[last] - points[first]) / (last - first) if last > first else 0.0
    return max(points[first] - slope * first, 0.0), slope


def _wait(fixed: float, second: float) -> str:
    """Say how long batches become that take in all records of their own time.

    A batch costs `fixed` ms, and `second` ms for the records of one second.
    """
    if second >= 1000:
        return "batches would grow without an end: that many cores do not keep up"
    # The lengths are estimates: to 100 ms.
    return f"batches would settle at {round(fixed / (1 - second / 1000), -2):,.0f} ms"


def _seconds(spark: SparkSession, lab: Lab, topic: str, options: Mapping[str, str] | None = None) -> float:
    """Return how long it takes to read a topic and sum it up by airport and hour."""
    began = time.monotonic()
    _hours(flight_columns(_read(spark, lab, topic, options or {}))).toPandas()
    return time.monotonic() - began


def _read(spark: SparkSession, lab: Lab, topic: str, options: Mapping[str, str]) -> DataFrame:
    reader = spark.read.format("kafka").option("kafka.bootstrap.servers", lab.bootstrap)
    return reader.option("subscribe", topic).options(**{**QUICK, **options}).load()


def _hours(flights: DataFrame) -> DataFrame:
    hour = F.date_trunc("hour", "scheduled").alias("hour")
    return flights.groupBy("origin", hour).agg(F.count("*").alias("flights"), F.mean("dep_delay"))


def _stream(spark: SparkSession, lab: Lab, topic: str, size: int) -> DataFrame:
    reader = spark.readStream.format("kafka").option("kafka.bootstrap.servers", lab.bootstrap)
    reader = reader.options(subscribe=topic, startingOffsets="earliest", **QUICK)
    return reader.option("maxOffsetsPerTrigger", str(size)).load()


def _batch(spark: SparkSession, lab: Lab, topic: str, size: int) -> float:
    """Return the median time (ms) of full micro-batches of so many records, of one run of the query."""
    day = F.window("scheduled", "1 day")
    counts = flight_columns(_stream(spark, lab, topic, size)).withWatermark("scheduled", "1 day")
    query = (
        counts.groupBy("origin", day).count().writeStream.format("noop").outputMode("update")
        .option("checkpointLocation", fresh_folder("scaling")).trigger(availableNow=True).start()
    )  # fmt: skip
    query.awaitTermination()
    full = [step for step in query.recentProgress if int(step["numInputRows"]) >= size * 0.9]
    return statistics.median(float(step["durationMs"]["triggerExecution"]) for step in full[1:] or full)


def _state(spark: SparkSession, lab: Lab, topic: str, provider: str) -> dict[int, int]:
    """Return the memory (bytes) that the state takes at each number of rows: each flight is remembered."""
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", provider)
    flights = flight_columns(_stream(spark, lab, topic, STEP)).select("carrier", "flight", "scheduled")
    found: dict[int, int] = {}
    query = (
        flights.dropDuplicates(["carrier", "flight", "scheduled"]).writeStream.format("noop")
        .option("checkpointLocation", fresh_folder("scaling")).trigger(availableNow=True).start()
    )  # fmt: skip
    try:
        query.awaitTermination()
        for step in query.recentProgress:
            for operator in step["stateOperators"]:
                if int(step["numInputRows"]) > 0:
                    found[int(operator["numRowsTotal"])] = int(operator["memoryUsedBytes"])
    finally:
        spark.conf.unset("spark.sql.streaming.stateStore.providerClass")
    return dict(sorted(found.items())[:STEPS])


def _rates(runs: int, count: int, once: Callable[[], float]) -> Runs:
    """Return the rate of each run; `once` makes one, and returns its seconds for so many records."""
    return [count / once() for _ in range(runs)]


def _medians(found: Mapping[int, Runs]) -> dict[int, float]:
    return {n: statistics.median(values) for n, values in found.items()}


def _told(found: Mapping[int, Runs], unit: str) -> str:
    return ", ".join(f"{n}: {_shown(values)}{unit}" for n, values in found.items())


def _shown(values: Runs) -> str:
    """Return the median, and behind it the least and the most if there are several."""
    lowest, highest = min(values), max(values)
    range_ = f" ({lowest:,.0f} to {highest:,.0f})" if len(values) > 1 else ""
    return f"{statistics.median(values):,.0f}{range_}"


def _table(columns: Sequence[str], rows: Mapping[str, Sequence[object]]) -> str:
    lines = [f"| {' | '.join(columns)} |", f"|{'--:|' * len(columns)}"]
    lines += [f"| {name} | {' | '.join(map(str, cells))} |" for name, cells in rows.items()]
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None, path: Path = PAGE) -> int:
    """Run the command line; return 0 if the page was written."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS, metavar="N", help=f"how often each point ({RUNS})")
    runs = parser.parse_args(arguments).runs
    with environment.bench():
        lab = open_lab(LAB)
        try:
            curves = measured(lab, max(runs, 1), lambda text: print(text, flush=True))
        finally:
            gateway.end()
            lab.close()
            lab.cluster.down()
    versions = [f"Spark {version('pyspark')}"]
    memory = psutil.virtual_memory().total / 1e9
    machine = f"{os.cpu_count()} cores, {memory:.0f} GB, {platform.system()}"
    write_whole(path, page(curves, max(runs, 1), versions, machine).encode())
    print(f"{path.name} was written.")
    return 0


HEAD = """\
<!-- Written by `make scaling`: do not edit. -->

# Past one machine

How reading Kafka with Spark grows, measured, and what a million records per second would take, computed.

Rates and times of batches are the median of {runs}, with the lowest and the highest behind it in brackets;
state was measured once. All on one machine ({machine}), with {versions}. Brokers, Spark
and the measuring program share it: read how the numbers change, not how large they are. Spark's Java runs
as in the labs, with its quick compiler only and one thread for garbage: in production it begins more slowly,
and may then do more. The records are
the course's flights, {size:.0f} bytes each, in topics with one replica. Tables were measured one after the
other, and a machine is not always equally quick: compare inside a table.
"""
PARTS = """\
## Partitions and cores

All 336,776 flights are read, parsed from JSON and summed up by airport and hour. Spark makes one task of
each partition, and a core runs one task at a time: more cores than partitions get no more tasks. (They still
help a little: Java's own threads, the brokers and the measuring program share the machine.)
"""
LEAST_TEXT = """\
## `minPartitions`

One partition, two cores. With `minPartitions` Spark cuts the offsets of a partition into ranges, and reads
them in tasks of their own: the cores get work, and the topic stays as it is. Order inside the partition is
then no longer the order of work.
"""
WAIT_TEXT = """\
## The wait at a partition's end

{partitions} partitions, two cores. After each fetch Spark's consumer asks for the first and the last offset
of its partition. A broker answers the requests of a connection one after the other, and by then the consumer
has sent its next fetch. At the end of the log that fetch waits for records, `fetch.max.wait.ms` long, and the
answer waits behind it: once for each partition, in batches and in streams. Kafka's default is 500. The labs,
and the other tables of this page, set 10, with the option `kafka.fetch.max.wait.ms` of Spark's reader.
"""
BATCH_TEXT = """\
## The size of a micro-batch

A stream counts flights by airport and day. `maxOffsetsPerTrigger` sets how many records a batch takes. Each
batch pays the same again for its plan, its offsets and its checkpoint: small batches answer sooner, large
ones do more in the same time. A record is in the result when its batch has ended.
"""
STATE_TEXT = """\
## State

A stream without a watermark remembers each flight (`dropDuplicates`). This is the memory that Spark reports
for it. By default the state lives in the executors' heap; RocksDB keeps it in files beside, and holds in
memory only what it caches. What Spark reports of the heap is an estimate: it need not grow with each step.
"""
NEEDED = """\
## A million records per second

Computed from the tables above, for records of this size and this query:

- **Cores**: one core did {worst:,.0f} to {best:,.0f} records per second, by the number of partitions,
  so one million takes {cores} to {most} cores; with {many} cores here the rate was {grown:.1f} times that of
  one. Cores that are just enough never catch up after a stop. The next points count with {most} cores.
- **Hosts**: with {host} cores each, {hosts} hosts are the least, one of them for the case that another fails.
- **Partitions**: at least one for each core that reads, or `minPartitions`; {partitions} let twice as many
  cores work after a stop. One partition with one core gave {alone:,.0f} records per second. More partitions
  cannot be taken back, and adding some moves keys (lab 07).
- **Latency**: a batch costs {fixed:,.0f} ms before its first record, whatever its size. With {most} cores,
  each as quick as in the table of batches, {full}; each as slow as the slowest
  in the first table, {slow}. So near the limit a little less speed is much
  more time. A record waits for the batch before its own, then for its own: up to twice that time.
- **Brokers**: how much one of them can was not measured. {traffic:.0f} MB per second go in,
  {written:.0f} MB per second are written with three replicas, {followers:.0f} MB per second go from
  leaders to followers, and {traffic:.0f} MB per second go out to each reader. Each of {brokers} brokers
  writes {each:.0f} MB per second; whether its disk and its network can, also while one of them is down,
  is to be measured there.
- **State**: up to {row:.0f} bytes for each row in the heap, so 1 GB holds about {rows:.1f} million rows.
  Beyond that RocksDB, and a watermark that lets rows go.

What has to change besides numbers, and what no number here says:

- **Checkpoints** on storage that all hosts reach (an object store, HDFS): an executor on another host
  cannot read this machine's folder.
- **Addresses**: brokers must advertise names that executors on other hosts can reach
  (`advertised.listeners`, lab 03); here everything is 127.0.0.1.
- **Failure domains**: replicas in different racks, at least three hosts for the brokers.
- **Not measured**: a network between machines, disks that are really full, keys of very unequal weight,
  more than {many} cores, several queries on one topic, a checkpoint that is not on a disk of this machine.
"""
