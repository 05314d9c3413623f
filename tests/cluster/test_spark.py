"""Spark for real: it starts quietly, is found again, comes back after its death, and uses a Spark cluster."""

import json
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.spark_program import PROGRAM_SECONDS, run_program
from threebrokers.cluster import ports, spark_cluster, state_file
from threebrokers.cluster.jars import spark_jars
from threebrokers.data import topics
from threebrokers.errors import LabError
from threebrokers.lab.lab import Lab
from threebrokers.lab.opening import open_lab
from threebrokers.waiting import quiet_wait, wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(PROGRAM_SECONDS + 300)]

READ = """
def count(spark, bootstrap):
    reader = spark.read.format("kafka").option("kafka.bootstrap.servers", bootstrap)
    return reader.option("subscribe", "spark-january").load().count()
"""
QUIET = """
first = session()
assert session() is first
print(count(first, sys.argv[1]), count(first.newSession(), sys.argv[1]))
first.stop()
second = session()
assert second is not first
print(count(second, sys.argv[1]))
try:
    second.range(1).select("nothing")
except Exception as fault:
    print(type(fault).__name__)
"""
KILLED = """
first = session()
first.sparkContext._gateway.proc.kill()
first.sparkContext._gateway.proc.wait()
print(count(session(), sys.argv[1]))
"""
AFRESH = """
from threebrokers.lab.opening import join_lab
lab = join_lab("12", "afresh")
rows = session().range(50).selectExpr("CAST(id AS STRING) AS key", "CAST(id AS STRING) AS value")
for _ in range(4):
    topic = lab.fresh_topic("spark-afresh", partitions=3, replication_factor=3)
    writer = rows.write.format("kafka").option("kafka.bootstrap.servers", lab.bootstrap)
    writer.option("topic", topic).save()
lab.close()
"""
WAITS = """
from time import monotonic


def read(wait):
    begun = monotonic()
    reader = session().read.format("kafka").option("kafka.bootstrap.servers", sys.argv[1])
    reader = reader.option("subscribe", "spark-january").option("kafka.fetch.max.wait.ms", wait)
    reader.load().count()
    return monotonic() - begun


read(10)
quick, slow = zip(*[(read(10), read(3_000)) for _ in range(3)], strict=True)  # in turns
print(f"{min(quick):.2f} {min(slow):.2f}")
"""
BOUND = """
import time
from threading import Event
from threebrokers.checks.expect_spark import computed, rows
from threebrokers.errors import LabError
from threebrokers.lab import bound
bound.ANSWER_SECONDS = 5.0
spark = session()
asleep = spark.range(1).selectExpr("reflect('java.lang.Thread', 'sleep', CAST(600000 AS BIGINT)) AS x")
began = time.monotonic()
try:
    with bound.bounded(lambda: LabError("broker 2 is paused")):
        rows("asleep", asleep, "")
except LabError as told:
    print(told)
print(time.monotonic() - began < 60, spark.range(3).count(), spark.range(4).count())
while spark.sparkContext.statusTracker().getActiveJobsIds():
    time.sleep(0.1)
print("cancelled")
too_late, ended = Event(), Event()
def begins_late():
    too_late.wait(60)
    try:
        asleep.collect()
    finally:
        ended.set()
try:
    with bound.bounded(lambda: LabError("broker 2 is paused")):
        computed(begins_late)
except LabError:
    too_late.set()
print(ended.wait(60))
"""
ELSEWHERE = """
from pyspark.sql.functions import udf
from threebrokers.spark import start_query, watch_query
def kafka(reader):
    reader = reader.format("kafka").option("kafka.bootstrap.servers", sys.argv[1])
    reader = reader.option("subscribe", "spark-january").option("startingOffsets", "earliest")
    return reader.load().select("partition", "offset", "key", "value")
def rows(table):
    return sorted(tuple(row) for row in table.collect())
def read(spark):
    watch_query(start_query(kafka(spark.readStream), "append", "streamed"))
    return rows(kafka(spark.read)), rows(spark.table("streamed"))
here = read(session("local[*]"))
far = session(sys.argv[2])
there = read(far)
python = far.range(4).select(udf(lambda x: sys.executable)("id")).distinct().collect()[0][0]
print(far.sparkContext.master == sys.argv[2], python == sys.executable)
print(len(there[0]), there[0] == there[1], there == here)
"""
EXECUTORS = """
from threebrokers.spark import who_read
def records(spark):
    reader = spark.read.format("kafka").option("kafka.bootstrap.servers", sys.argv[1])
    return reader.option("subscribe", "spark-january").load()
far = who_read(records(session(sys.argv[2])))
here = who_read(records(session()))
for read in (far, here):
    print(read["records"].sum(), read["process"].nunique(), read["partition"].is_unique)
"""
CONNECTED = """
from pyspark.sql.functions import col, udf
from threebrokers.checks import expect_spark
from threebrokers.checks.lab12.stream import _trigger
from threebrokers.checks.lab13.queries import output_mode
from threebrokers.spark import fresh_folder, watch_query
def rows(spark):
    reader = spark.read.format("kafka").option("kafka.bootstrap.servers", sys.argv[1])
    table = reader.option("subscribe", "spark-january").load().select("partition", "offset", "key", "value")
    return [tuple(row) for row in table.orderBy("partition", "offset").collect()]
here = rows(session("local[*]"))
far = session(sys.argv[2])
assert session(sys.argv[2]) is far
print(far.conf.get("spark.sql.session.timeZone"), far.conf.get("spark.sql.shuffle.partitions"))
there = rows(far)
python = far.range(1).select(udf(lambda x: sys.executable)("id")).collect()[0][0]
stream = far.readStream.format("kafka").option("kafka.bootstrap.servers", sys.argv[1])
stream = stream.option("subscribe", "spark-january").option("startingOffsets", "earliest").load()
writer = stream.groupBy("partition").count().writeStream.format("memory").queryName("connected")
writer = writer.outputMode("complete").option("checkpointLocation", fresh_folder("connected"))
query = writer.trigger(availableNow=True).start()
watch_query(query)
judged = expect_spark.rows("table", expect_spark.memory_table(query), "")["count"].sum()
stateful = "StateStoreSave" in expect_spark.plan_of_query(query)
print(judged, _trigger(query), output_mode(query), stateful)
streamed = sum(row["count"] for row in far.table("connected").collect())
print(len(there), there == here, python == sys.executable, streamed, session().sparkContext.master)
"""
ENDLESS = """
from threebrokers.spark import fresh_folder
writer = session(sys.argv[2]).readStream.format("rate").load().writeStream.format("noop")
query = writer.option("checkpointLocation", fresh_folder("endless")).start()
print("runs", flush=True)
sys.stdin.read()
"""
NO_SERVER = """
from threebrokers.errors import LabError
from threebrokers.spark.queries import java_there
far = session(sys.argv[2])
print(far.range(3).count(), flush=True)
from threebrokers.cluster import spark_cluster
from threebrokers.paths import home
spark_cluster.kill(home(), "connect")
try:
    with java_there():
        far.range(3).count()
except LabError as told:
    print(told)
print(session().range(3).count())
"""
STARTED_ANEW = """
from threebrokers.cluster import spark_cluster
from threebrokers.paths import home
first = session(sys.argv[2])
assert session(sys.argv[2]) is first
print(first.range(3).count(), flush=True)
spark_cluster.down(home())
print(session(spark_cluster.up(home(), lambda _: None)).range(4).count())
"""
WITH_WORKERS = """
from threebrokers.spark import who_read, workers_down, workers_up
reader = session(workers_up()).read.format("kafka").option("kafka.bootstrap.servers", sys.argv[1])
read = who_read(reader.option("subscribe", "spark-january").load())
print(read["records"].sum(), read["process"].nunique(), file=sys.stderr)
"""


@pytest.fixture(scope="module")
def lab(cluster: object, home: Path) -> Iterator[Lab]:
    """Lab 12 with the flights of January, and Spark's jars: fetching them for the first time is not quiet."""
    spark_jars()
    lab = open_lab("12")
    topics.month_topic(lab, "spark-january", 1)
    yield lab
    lab.close()
    quiet_wait(lambda: not _javas(home), 20)  # that of the last program ends a moment after it


def program(text: str) -> str:
    return f"import sys\nfrom threebrokers.spark import session\n{READ}\n{text}"


def run(text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run_program(program(text), *arguments)


def test_a_session_is_one_and_quiet(lab, home):
    done = run(QUIET, lab.bootstrap)
    assert done.stdout.split() == ["27004", "27004", "27004", "AnalysisException"]
    assert done.stderr == ""
    folders = [path.name for path in (home / "spark").iterdir()]
    assert sorted(folders) == ["scratch", "spark.log", "warehouse"]
    assert quiet_wait(lambda: not _javas(home), 20), "Java outlives the program that started it"


def test_it_comes_back_when_java_died(lab):
    done = run(KILLED, lab.bootstrap)
    assert done.stdout.split() == ["27004"], done.stderr


def test_what_a_check_asks_of_spark_is_cancelled_when_its_time_is_over(lab):
    done = run(BOUND)
    assert done.stdout.splitlines() == ["broker 2 is paused", "True 3 4", "cancelled", "True"], done.stderr


def test_a_read_waits_at_the_end_of_each_partition_as_long_as_a_fetch_does(lab):
    """There are three partitions and two tasks at a time: two waits of 3 s, one after the other."""
    # The difference may be less than 6 s: while a fetch waits, a busy machine makes rows of the one before.
    # With one wait it would be 3 s at most.
    quick, slow = map(float, run(WAITS, lab.bootstrap).stdout.split())
    assert slow > 5.9
    assert slow - quick > 3.5


def test_a_topic_made_afresh_gets_a_fresh_producer(lab, home):
    log = home / "spark" / "spark.log"

    def is_told_of_no_other_leader() -> bool:
        before = len(log.read_text()) if log.exists() else 0
        done = run(AFRESH)
        assert done.returncode == 0, done.stderr
        return "NOT_LEADER" not in log.read_text()[before:]

    # A producer of the topic before would ask its old leaders first. On a busy machine one may be replaced.
    assert any(is_told_of_no_other_leader() for _ in range(3))


def test_a_spark_cluster_gives_the_same_rows_as_spark_here_and_has_this_python(lab, spark_master):
    done = run(ELSEWHERE, lab.bootstrap, spark_master)
    assert done.stdout.splitlines() == ["True True", "27004 True True"], done.stderr
    assert done.stderr == ""


def test_both_workers_read_partitions_and_each_partition_has_one_reader(lab, spark_master):
    done = run(EXECUTORS, lab.bootstrap, spark_master)
    assert done.stdout.splitlines() == ["27004 2 True", "27004 1 True"], done.stderr


def test_a_spark_cluster_that_was_started_anew_gets_a_session_of_its_own(lab, spark_master):
    done = run(STARTED_ANEW, lab.bootstrap, spark_master)
    assert done.stdout.split() == ["3", "4"], done.stderr


def test_spark_connect_gives_the_same_rows_as_spark_here(lab, connect_server):
    done = run(CONNECTED, lab.bootstrap, connect_server.replace("127.0.0.1", "localhost"))
    judged = "27004 AvailableNow complete True"  # what checks ask of a query
    assert done.stdout.splitlines() == ["UTC 2", judged, "27004 True True 27004 local[2]"], done.stderr
    assert done.stderr == ""


def test_no_query_of_spark_connect_outlives_a_killed_kernel(lab, home, connect_server):
    with subprocess.Popen(
        [sys.executable, "-c", program(ENDLESS), lab.bootstrap, connect_server],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as kernel:
        assert kernel.stdout is not None
        assert kernel.stdout.readline() == "runs\n"
        commits = home / "spark" / "folders" / "no-lab" / "endless" / "commits"
        assert quiet_wait(lambda: len([*commits.glob("[0-9]*")]) > 1, 60)
        assert _cores_in_use(home)
        kernel.kill()
    # A query of the server has tasks each second; without any for 5 s the server lets its executors go.
    assert quiet_wait(lambda: not _cores_in_use(home), 60), "a query runs on without its kernel"


def test_a_server_of_spark_connect_that_died_is_one_sentence_and_comes_back(lab, home, connect_server):
    done = run(NO_SERVER, lab.bootstrap, connect_server)
    three, told, again = done.stdout.splitlines()
    assert (three, again) == ("3", "3"), done.stderr
    assert told.startswith("The server of Spark Connect has ended, or was started again: run the cell with")
    assert spark_cluster.connect_address(home) is None
    spark_cluster.up(home, lambda _: None)
    assert spark_cluster.connect_address(home) == connect_server


def test_its_processes_are_found_again_and_only_the_missing_one_is_started(home, spark_master):
    before = {node.name: node.pid for node in spark_cluster.nodes(home)}
    assert None not in before.values()
    psutil.Process(before["worker-1"]).kill()
    wait_until(lambda: spark_cluster.nodes(home)[1].state == "down", what="it", within=10, otherwise="")
    (home / "spark-cluster.json").write_text("[]")  # who runs is found anew, and ended: its ports are lost
    assert spark_cluster.up(home, lambda _: None) == spark_master
    after = {node.name: node.pid for node in spark_cluster.nodes(home)}
    assert not {*before.values()} & {*after.values()}
    psutil.Process(after["worker-2"]).kill()
    wait_until(lambda: spark_cluster.nodes(home)[2].state == "down", what="it", within=10, otherwise="")
    assert spark_cluster.up(home, lambda _: None) == spark_master
    again = {node.name: node.pid for node in spark_cluster.nodes(home)}
    assert {name for name in again if again[name] != after[name]} == {"worker-2"}


def test_nothing_of_it_is_left_after_its_end_and_all_listened_on_loopback(home, spark_master):
    pids = [node.pid for node in spark_cluster.nodes(home)]
    listening = [
        c.laddr for pid in pids for c in psutil.Process(pid).net_connections() if c.status == "LISTEN"
    ]
    assert len(listening) >= 8  # the server of Spark Connect has two more, of its driver
    assert {address.ip.removeprefix("::ffff:") for address in listening} == {"127.0.0.1"}
    assert spark_cluster.down(home) == ["master", "worker-1", "worker-2", "connect"]
    assert spark_cluster.address(home) is None
    assert spark_cluster.connect_address(home) is None
    assert spark_cluster.down(home) == []
    left = {"SPARK_LOCAL_DIRS": str(home / "spark" / "cluster" / "local")}  # executors too
    assert quiet_wait(lambda: not _with_environment(left), 10)


def test_a_lab_s_own_cluster_has_two_readers_and_ends_with_its_kernel(lab, home):
    assert spark_cluster.address(home) is None
    done = run(WITH_WORKERS, lab.bootstrap)
    assert done.stderr.split() == ["27004", "2"], done.stderr
    assert {node.state for node in spark_cluster.nodes(home)} == {"down"}
    left = {"SPARK_LOCAL_DIRS": str(home / "spark" / "cluster" / "local")}
    assert quiet_wait(lambda: not _with_environment(left), 10)


def test_a_port_that_another_program_has_is_named(home):
    wanted = ports.spark(state_file.load(home).ports) + 1
    with socket.create_server(("127.0.0.1", wanted)), pytest.raises(LabError, match=f"{wanted}.*master"):
        spark_cluster.up(home, lambda _: None)
    assert spark_cluster.down(home) == []


@pytest.fixture
def spark_master(lab: Lab, home: Path) -> Iterator[str]:
    """The address of the home's own Spark cluster; it goes on through the tests of this module."""
    return spark_cluster.up(home, lambda _: None)


@pytest.fixture
def connect_server(home: Path, spark_master: str) -> str:
    """The address of the server of Spark Connect on that cluster."""
    return spark_cluster.connect_address(home)


@pytest.fixture(scope="module", autouse=True)
def _ended(home: Path) -> Iterator[None]:
    yield
    spark_cluster.down(home)


def _with_environment(wanted: dict[str, str]) -> list[psutil.Process]:
    running = psutil.process_iter(["environ"])
    return [p for p in running if wanted.items() <= (p.info["environ"] or {}).items()]


def _cores_in_use(home: Path) -> int:
    """Return how many cores of the workers have been given to a driver, as the master says."""
    master = spark_cluster.nodes(home)[0]
    with urllib.request.urlopen(f"{master.page}/json/", timeout=10) as told:
        return int(json.load(told)["coresused"])


def _javas(home: Path) -> list[psutil.Process]:
    return _with_environment({"SPARK_CONF_DIR": str(home / "spark")})
