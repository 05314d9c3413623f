"""Streaming queries for real: none outlives its lab or its kernel, and a dead Java is one sentence."""

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from tests.spark_program import PROGRAM_SECONDS, run_program
from threebrokers.cluster.jars import spark_jars
from threebrokers.grading.kernel import Kernel
from threebrokers.waiting import quiet_wait

# Spark alone: no test here starts brokers.
pytestmark = [pytest.mark.cluster, pytest.mark.timeout(PROGRAM_SECONDS + 300)]

START = """
import sys
from threebrokers.spark import fresh_folder, session, watch_query
spark = session()

def endless():
    checkpoint = fresh_folder("endless")
    writer = spark.readStream.format("rate").load().writeStream.format("noop")
    return writer.option("checkpointLocation", checkpoint).start()

query = endless()
"""
AGAIN = """
second = endless()
print(query.isActive, second.isActive)
session()
print(second.isActive)
third = endless()
watch_query(third, batches=1)
print(third.isActive, len(spark.streams.active))
"""
DEAD = """
from threebrokers.errors import LabError
spark.sparkContext._gateway.proc.kill()
spark.sparkContext._gateway.proc.wait()
try:
    watch_query(query)
except LabError as fault:
    print(fault)
"""
WAITS = """
print("runs", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def _jars(home: object) -> None:
    spark_jars()


@pytest.mark.usefixtures("_jars")
def test_a_query_ends_with_its_cell_and_with_its_lab():
    done = run_program(START + AGAIN)
    assert done.stdout.split() == ["False", "True", "False", "False", "0"], done.stderr
    assert done.stderr == ""


@pytest.mark.usefixtures("_jars")
def test_a_dead_java_is_one_sentence():
    done = run_program(START + DEAD)
    assert done.stdout.startswith("Spark's Java process has ended: run the cell with `spark = session()`")


KILLED = """
from threebrokers.lab.outcomes import show_in_boxes
from threebrokers.spark import gateway, session

show_in_boxes()
rows = session().range(3)
gateway.kill()
"""


@pytest.mark.usefixtures("_jars")
def test_a_dead_java_is_one_sentence_in_a_cell_that_knows_nothing_of_it(tmp_path):
    with closing(Kernel(tmp_path)) as kernel:
        assert not kernel.run(KILLED, "killed").error
        reply = kernel.run("rows.count()", "count")
        assert reply.error == "LabError"
        [line] = reply.traceback
        assert "Spark's Java process has ended: run the cell with `spark = session()` again" in line
        reply = kernel.run("session().range(3).count()", "again")
        assert (reply.error, reply.result) == ("", "3")
        assert kernel.run("raise ConnectionError('mine')", "mine").error == "ConnectionError"


@pytest.mark.usefixtures("_jars")
def test_no_query_outlives_a_killed_kernel(home):
    with subprocess.Popen(
        [sys.executable, "-c", START + WAITS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as kernel:
        assert kernel.stdout is not None
        assert kernel.stdout.readline() == "runs\n"
        assert _javas(home)
        kernel.kill()
    assert quiet_wait(lambda: not _javas(home), 30), "a query runs on without its kernel"


def _javas(home: Path) -> list[psutil.Process]:
    own = {"SPARK_CONF_DIR": str(home / "spark")}
    return [p for p in psutil.process_iter(["environ"]) if own.items() <= (p.info["environ"] or {}).items()]
