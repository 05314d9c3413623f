"""Spark for real, and strangers: a program, a worker and a session that do not know the home's secret."""

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.spark_program import PROGRAM_SECONDS, run_program
from threebrokers.cluster import spark_cluster, spark_java, spark_secret
from threebrokers.cluster.java import environment, java, spark_java_home
from threebrokers.waiting import quiet_wait

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(PROGRAM_SECONDS + 300)]

# As anybody would write them: with nothing of the course.
PLAIN = """
import sys
from pyspark.sql import SparkSession
settings = {"spark.driver.host": "127.0.0.1", "spark.executor.memory": "512m", "spark.ui.enabled": "false"}
builder = SparkSession.builder.master(sys.argv[1]).appName("stranger")
print(builder.config(map=settings).getOrCreate().range(3).count())
"""
PLAIN_CONNECT = """
import sys
from pyspark.sql import SparkSession
print(SparkSession.builder.remote(sys.argv[1]).getOrCreate().range(3).count())
"""
OURS = """
import sys
from threebrokers.spark import session
for address in sys.argv[1:]:
    print(session(address).range(3).count())
spark = session(sys.argv[1])
print(*[value for name, value in spark.sparkContext.getConf().getAll() if "authenticate" in name])
"""
OF_ANOTHER_HOME = """
import os, sys
os.environ["THREEBROKERS_HOME"] = sys.argv[3]
from threebrokers.errors import LabError
from threebrokers.spark import session
for address in sys.argv[1:3]:
    try:
        print(session(address).range(3).count())
    except LabError as told:
        print(told)
"""


def test_a_program_a_session_and_a_worker_without_the_secret_are_refused(home, master, tmp_path):
    server = spark_cluster.connect_address(home)
    stranger = os.environ | {"JAVA_HOME": str(spark_java_home()), "SPARK_LOCAL_IP": "127.0.0.1"}
    command = [sys.executable, "-c", PLAIN, master]
    log, output = tmp_path / "worker.log", subprocess.PIPE
    with log.open("wb") as said:
        worker = subprocess.Popen(_worker(master, tmp_path), stdout=said, stderr=said, env=environment())
    # It takes a minute: Spark tries three times.
    program = subprocess.Popen(command, stdout=output, stderr=output, text=True, env=stranger)
    try:
        refused = run_program(PLAIN_CONNECT, server)
        assert (refused.stdout, refused.returncode) == ("", 1)
        assert "UNAUTHENTICATED" in refused.stderr
        done, complaint = program.communicate(timeout=PROGRAM_SECONDS)
        assert (done, program.returncode) == ("", 1), complaint
        assert "Expected SaslMessage" in complaint
        assert quiet_wait(lambda: "Failed to connect to master" in log.read_text(), 60)
    finally:
        for one in (worker, program):
            one.kill()
            one.communicate()
    found = _state(home)
    assert found["aliveworkers"] == len(found["workers"]) == 2
    assert {app["name"] for app in found["activeapps"] + found["completedapps"]} == {"threebrokers-connect"}


def test_the_home_s_own_sessions_are_let_in_and_no_command_line_has_the_secret(home, master):
    done = subprocess.Popen(
        [sys.executable, "-c", OURS, master, spark_cluster.connect_address(home)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    secret = spark_secret.kept(home)
    assert secret
    seen = set()
    while done.poll() is None:
        for running in psutil.process_iter(["cmdline"]):
            words = running.info["cmdline"] or []
            assert secret not in " ".join(words)
            seen |= {word for word in words if word.startswith("org.apache.spark.")}
        time.sleep(0.5)
    said, complaint = done.communicate()
    assert said.splitlines() == ["3", "3", "true in-the-environment"], complaint
    assert "org.apache.spark.executor.CoarseGrainedExecutorBackend" in seen
    places = "*", "logs/*", "spark/*.log", "spark/cluster/worker-?/*/*/std*"
    files = [path for place in places for path in home.glob(place) if path.is_file()]
    assert any(path.name == "stderr" for path in files)
    assert [path for path in files if secret.encode() in path.read_bytes()] == [home / spark_secret.FILE]


def test_another_home_hears_at_once_that_the_secret_is_not_its_own(home, master, tmp_path):
    done = run_program(OF_ANOTHER_HOME, master, spark_cluster.connect_address(home), str(tmp_path))
    at_master, at_server = done.stdout.splitlines()
    assert at_master.startswith(f"The Spark master at {master.removeprefix('spark://')} asks for the secret")
    assert at_server.startswith("The server of Spark Connect at 127.0.0.1:")
    assert "asks for the secret of its home" in at_server


def test_what_runs_without_the_home_s_secret_is_started_anew(home, master):
    before = {node.name: node.pid for node in spark_cluster.nodes(home)}
    (home / spark_secret.FILE).unlink()
    assert spark_cluster.secret(home) is None
    assert spark_cluster.up(home, lambda _: None) == master
    after = {node.name: node.pid for node in spark_cluster.nodes(home)}
    assert not {*before.values()} & {*after.values()}
    assert spark_cluster.secret(home) == spark_secret.kept(home) is not None


@pytest.fixture(scope="module")
def master(home: Path) -> Iterator[str]:
    """The address of the home's own Spark cluster, with its server of Spark Connect."""
    yield spark_cluster.up(home, lambda _: None)
    spark_cluster.down(home)


def _worker(master: str, folder: Path) -> list[str]:
    jars = spark_cluster._pyspark() / "jars" / "*"
    listens = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0", "--work-dir", str(folder)]
    begin = [str(java()), *spark_java.FLAGS, "-cp", str(jars), "org.apache.spark.deploy.worker.Worker"]
    return [*begin, *listens, *spark_cluster.OFFER, master]


def _state(home: Path) -> dict[str, Any]:
    """Return what the master's page tells of its workers and programs."""
    with urllib.request.urlopen(f"{spark_cluster.nodes(home)[0].page}/json/", timeout=10) as told:
        return dict(json.load(told))
