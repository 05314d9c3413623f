"""Spark Connect without a server: which session this kernel has, and what is one sentence."""

import os
import socket
from types import SimpleNamespace
from typing import ClassVar

import pytest
from pyspark.errors import PySparkException
from pyspark.sql.connect.proto import ExecutePlanRequest
from pyspark.sql.connect.session import SparkSession as Connected

from threebrokers.errors import LabError
from threebrokers.spark import connect, crashes, queries, spark_session, tasks

NOBODY = "sc://127.0.0.1:1"


class Session:
    """A session of Spark Connect whose server may be gone."""

    is_stopped = False

    def stop(self):
        Connected._default_session = None


@pytest.fixture(autouse=True)
def _own_home(monkeypatch, tmp_path):
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    monkeypatch.delenv(connect.MODE, raising=False)
    monkeypatch.delenv(connect.URL, raising=False)
    monkeypatch.setattr(spark_session.gateway, "end", lambda: None)


@pytest.fixture
def session(monkeypatch) -> Session:
    made = Session()
    monkeypatch.setattr(Connected, "_default_session", made)
    monkeypatch.setenv(connect.MODE, "1")
    monkeypatch.setenv(connect.URL, NOBODY)
    return made


def test_there_is_no_session_of_it_at_first():
    assert connect.current() is None
    assert not connect.answers()
    assert connect.not_here("Killing Spark") is None
    connect.end()


def test_a_server_must_answer():
    with pytest.raises(
        LabError, match=r"^No server of Spark Connect answers at 127\.0\.0\.1:1 .*session\(\)"
    ):
        spark_session.session(NOBODY)
    assert connect.MODE not in os.environ


def test_it_does_not_get_into_a_cluster_of_others(monkeypatch):
    started = []
    monkeypatch.setattr(connect, "start", started.append)
    way = spark_session.access.Access("kafka:9092", "", {"security.protocol": "SSL"})
    monkeypatch.setattr(spark_session.access, "chosen", lambda: way)
    with socket.create_server(("127.0.0.1", 0)) as server:
        with pytest.raises(LabError, match=r"cannot get into a cluster that is not yours.*`session\(\)`"):
            spark_session.session(f"sc://127.0.0.1:{server.getsockname()[1]}")
        assert not started
        way = spark_session.access.Access("kafka:9092", "")  # which lets everybody in
        spark_session.session(f"sc://127.0.0.1:{server.getsockname()[1]}")
    assert len(started) == 1


def test_a_port_of_something_else_is_one_sentence_and_leaves_no_mode(monkeypatch):
    def refuses(connection, hook_factories):
        raise PySparkException(message="no gRPC here\nand a long trace")

    monkeypatch.setattr("pyspark.sql.connect.session.SparkSession", refuses, raising=True)
    monkeypatch.setattr(connect, "current", lambda: None)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(LabError, match=rf"answers at {address} \(no gRPC here\): .*spark status"):
            spark_session.session(f"sc://{address}")
    assert connect.MODE not in os.environ
    assert connect.URL not in os.environ


def test_its_end_asks_nothing_of_a_server_that_is_gone(session):
    assert connect.current() is session
    assert not connect.answers()
    connect.end()
    assert vars(session) == {"release_session_on_close": False}
    assert connect.current() is None
    assert not {connect.MODE, connect.URL} & {*os.environ}


def test_what_needs_the_driver_in_the_notebook_is_one_sentence(session):
    with pytest.raises(LabError, match=r"^Killing Spark needs .* server: run `spark = session\(\)`"):
        crashes.killed(lambda sink, folder: None, lambda batch, number: None, "x", batch=1)
    with pytest.raises(LabError, match=r"^Counting tasks needs"):
        tasks.last_tasks(SimpleNamespace())


def test_a_request_for_rows_counts_as_a_job_and_another_one_does_not(session):
    rows, view = ExecutePlanRequest(), ExecutePlanRequest()
    rows.plan.root.range.end = 3
    view.plan.command.create_dataframe_view.name = "log"
    assert tasks.jobs_so_far(session) == 0
    noting = connect._noting(session)
    for request in (rows, view, rows):
        assert noting.on_execute_plan(request) is request
    assert tasks.jobs_so_far(session) == 2


def test_a_server_that_is_gone_is_one_sentence(session):
    with (
        pytest.raises(LabError, match=r"^The server of Spark Connect has ended, or was started again: .*"),
        queries.java_there(),
    ):
        raise PySparkException(message="failed to connect to all addresses")


def test_a_server_that_knows_no_such_session_is_lost_too(session):
    with socket.create_server(("127.0.0.1", 0)) as server:
        os.environ[connect.URL] = f"sc://127.0.0.1:{server.getsockname()[1]}"
        assert connect.is_lost(PySparkException(message="[INVALID_HANDLE.SESSION_NOT_FOUND] no such session"))
        fault = PySparkException(message="[TABLE_OR_VIEW_NOT_FOUND] it is not there")
        assert not connect.is_lost(fault)
        with pytest.raises(PySparkException, match="TABLE_OR_VIEW"), queries.java_there():
            raise fault


def test_the_reason_of_a_failed_task_is_its_first_line(session):
    def count():
        raise PySparkException(message="(org.apache.spark.SparkException) Job aborted;\nmore")

    assert tasks.count_or_reason(SimpleNamespace(count=count)) == "Job aborted"


class Half:
    """A new session of Spark Connect: the cell is interrupted, so many times, while it is made and ended."""

    is_stopped, interrupts = False, 1
    made: ClassVar[list["Half"]] = []

    def __init__(self, connection, hook_factories):
        Half.made.append(self)
        self.client = SimpleNamespace(set_retry_policies=lambda policies: None)
        self.conf = SimpleNamespace(_set_all=lambda settings, silent: self.interrupt())
        self.streams = SimpleNamespace(active=[])

    def interrupt(self):
        if Half.interrupts:
            Half.interrupts -= 1
            raise KeyboardInterrupt

    def stop(self):
        self.interrupt()
        Half.current = None

    current: ClassVar["Half | None"] = None

    @classmethod
    def _get_default_session(cls):
        return cls.current

    @classmethod
    def _set_default_and_active_session(cls, session):
        cls.current = cls.current or session


@pytest.fixture
def half(monkeypatch):
    monkeypatch.setattr("pyspark.sql.connect.session.SparkSession", Half)
    monkeypatch.setattr(connect, "_end_with_kernel", lambda made, address: None)
    monkeypatch.setattr(Half, "current", None)
    monkeypatch.setattr(Half, "made", [])
    monkeypatch.setattr(Half, "interrupts", 1)
    return Half


def test_a_start_that_is_interrupted_leaves_no_session(half):
    with pytest.raises(KeyboardInterrupt):
        connect.start(NOBODY)
    assert (half.current, {connect.MODE, connect.URL} & {*os.environ}) == (None, set())


def test_a_session_that_is_half_made_is_not_used_again(half):
    half.interrupts = 2  # the second one while it is let go of
    with pytest.raises(KeyboardInterrupt):
        connect.start(NOBODY)
    whole = connect.start(NOBODY)
    assert len(half.made) == 2
    assert connect.start(NOBODY) is whole is half.current is half.made[1]
    connect.end()


def test_only_a_server_that_is_there_is_asked_again():
    policy = connect.policy(NOBODY)
    assert not policy.can_retry(ConnectionError())
    assert policy.max_retries == connect.TRIES
