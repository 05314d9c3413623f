"""Spark for real: it starts quietly, is found again, comes back after its death, and uses a Spark cluster."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pyspark
import pytest

from threebrokers.cluster.jars import spark_jars
from threebrokers.cluster.java import spark_java_home
from threebrokers.data import topics
from threebrokers.lab.lab import Lab
from threebrokers.lab.opening import open_lab
from threebrokers.waiting import quiet_wait, wait_until

pytestmark = pytest.mark.cluster

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
BOUND = """
import time
from threebrokers.checks.expect_spark import rows
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
"""
ELSEWHERE = """
from pyspark.sql.functions import udf
far = session(sys.argv[2])
python = far.range(4).select(udf(lambda x: sys.executable)("id")).distinct().collect()[0][0]
print(far.sparkContext.master == sys.argv[2], count(far, sys.argv[1]), python == sys.executable)
"""


@pytest.fixture(scope="module")
def lab(cluster: object) -> Iterator[Lab]:
    """Lab 12 with the flights of January, and Spark's jars: fetching them for the first time is not quiet."""
    spark_jars()
    lab = open_lab("12")
    topics.month_topic(lab, "spark-january", 1)
    yield lab
    lab.close()


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    text = f"import sys\nfrom threebrokers.spark import session\n{READ}\n{program}"
    command = [sys.executable, "-c", text, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)


def test_a_session_is_one_and_quiet(lab, home):
    done = run(QUIET, lab.bootstrap)
    assert done.stdout.split() == ["27004", "27004", "27004", "AnalysisException"]
    assert done.stderr == ""
    folders = [path.name for path in (home / "spark").iterdir()]
    assert sorted(folders) == ["log4j2.properties", "scratch", "spark.log", "warehouse"]
    assert quiet_wait(lambda: not _javas(home), 20), "Java outlives the program that started it"


def test_it_comes_back_when_java_died(lab):
    done = run(KILLED, lab.bootstrap)
    assert done.stdout.split() == ["27004"], done.stderr


def test_what_a_check_asks_of_spark_is_cancelled_when_its_time_is_over(lab):
    done = run(BOUND)
    assert done.stdout.splitlines() == ["broker 2 is paused", "True 3 4", "cancelled"], done.stderr


def test_a_topic_made_afresh_gets_a_fresh_producer(lab, home):
    log = home / "spark" / "spark.log"
    before = len(log.read_text()) if log.exists() else 0
    done = run(AFRESH)
    assert done.returncode == 0, done.stderr
    # A producer of the topic before would ask its old leaders first.
    assert "NOT_LEADER" not in log.read_text()[before:]


def test_a_spark_cluster_gets_the_jars_and_this_python(lab, tmp_path):
    with spark_cluster(tmp_path) as master:
        done = run(ELSEWHERE, lab.bootstrap, master)
    assert done.stdout.split() == ["True", "27004", "True"], done.stderr
    assert done.stderr == ""


@contextmanager
def spark_cluster(folder: Path) -> Iterator[str]:
    """Run a Spark master and one worker until the block ends."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    script = str(Path(pyspark.__file__).parent / "bin" / "spark-class")
    here = {
        "JAVA_HOME": str(spark_java_home()),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_WORKER_DIR": str(folder),
    }
    common = ["--host", "127.0.0.1", "--webui-port", "0"]
    master = f"spark://127.0.0.1:{port}"
    roles = {
        "master.Master": [*common, "--port", str(port)],
        "worker.Worker": [*common, "--cores", "2", "--memory", "1g", master],
    }
    running = []
    try:
        for role, arguments in roles.items():
            command = [script, f"org.apache.spark.deploy.{role}", *arguments]
            with (folder / f"{role}.log").open("w") as log:
                running.append(
                    subprocess.Popen(
                        command, env={**os.environ, **here}, stdout=log, stderr=subprocess.STDOUT
                    )
                )
        wait_until(lambda: _answers(port), what="Spark's master", within=60, otherwise="see its log")
        yield master
    finally:
        for process in reversed(running):
            process.terminate()
            process.wait(20)


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def _javas(home: Path) -> list[psutil.Process]:
    own = {"SPARK_CONF_DIR": str(home / "spark")}
    return [p for p in psutil.process_iter(["environ"]) if own.items() <= (p.info["environ"] or {}).items()]
