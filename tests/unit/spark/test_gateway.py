"""The Spark session's settings, faults and environment, without starting Java."""

import os
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.core.context import SparkContext
from pyspark.errors import PySparkRuntimeError

from threebrokers.errors import LabError
from threebrokers.spark import gateway, spark_session


@pytest.fixture(autouse=True)
def _own_home(monkeypatch, tmp_path):
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    monkeypatch.setattr(spark_session, "spark_jars", lambda: [Path("/jars/one.jar"), Path("/jars/two.jar")])


def test_settings_stay_on_this_machine_and_in_this_home(tmp_path):
    settings = spark_session._settings(spark_session.LOCAL)
    assert settings["spark.driver.host"] == settings["spark.driver.bindAddress"] == "127.0.0.1"
    assert settings["spark.ui.enabled"] == "false"
    assert "spark.jars" not in settings
    assert settings["spark.authenticate"] == "true"  # without a secret: Spark makes one up
    assert "spark.authenticate.secret" not in settings
    far = spark_session._settings("spark://127.0.0.1:7077")
    assert far["spark.jars"] == "file:///jars/one.jar,file:///jars/two.jar"
    assert settings["spark.sql.session.timeZone"] == "UTC"
    assert Path(settings["spark.local.dir"]).is_relative_to(tmp_path)
    assert Path(settings["spark.sql.warehouse.dir"]).is_relative_to(tmp_path)


@pytest.mark.parametrize(
    ("stored", "given"),
    [
        (("/jars/a.jar:/jars/b.jar", ["-XX:SharedArchiveFile=/made/spark.jsa"]), True),
        (("/jars/a.jar:/jars/b.jar", ["-XX:SharedArchiveFile=/with space/spark.jsa"]), False),
        (None, False),
    ],
)
def test_executors_start_with_the_stored_classes_if_there_are_any(monkeypatch, stored, given):
    monkeypatch.setattr(spark_session.spark_java, "stored", lambda: stored)
    far = spark_session._settings("spark://127.0.0.1:7077")
    assert (far.get("spark.executor.extraClassPath") == "/jars/a.jar:/jars/b.jar") == given
    assert ("-XX:SharedArchiveFile" in far["spark.executor.extraJavaOptions"]) == given
    assert "-XX:+UseSerialGC" in far["spark.executor.extraJavaOptions"]
    assert "spark.executor.extraClassPath" not in spark_session._settings(spark_session.LOCAL)


@pytest.mark.parametrize(
    "master", ["", "x", "local[x]", "spark://nowhere", "sc://nowhere", "sc://:5", "yarn", 5, ["local"], True]
)
def test_what_is_no_master_is_one_sentence(master):
    with pytest.raises(LabError, match=r"is no Spark master: give 'spark://host:port'"):
        spark_session.session(master)


@pytest.mark.parametrize("master", ["local", "local[4]", "local[*]"])
def test_local_masters_need_no_answer(master):
    assert spark_session._checked(master) == master


def test_a_master_must_answer():
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        assert spark_session._checked(f"spark://{address}") == f"spark://{address}"
    with pytest.raises(LabError, match=rf"^No Spark master answers at {address} .*session\(\)"):
        spark_session.session(f"spark://{address}")


def test_an_address_of_ipv6_is_asked_without_its_brackets(monkeypatch):
    asked = []

    def connect(address, timeout):
        asked.append(address)
        return SimpleNamespace(close=lambda: None)

    monkeypatch.setattr(socket, "create_connection", connect)
    assert spark_session._checked("spark://[::1]:7077") == "spark://[::1]:7077"
    assert asked == [("::1", 7077)]


def _dead_java() -> Py4JError:
    """A fault of Java's whose message nobody can be asked for: Java died after it."""

    def refused() -> str:
        raise ConnectionRefusedError(111, "Connection refused")

    fault = Py4JError("An error occurred")
    fault.java_exception = SimpleNamespace(getMessage=refused)
    return fault


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (PySparkRuntimeError(errorClass="JAVA_GATEWAY_EXITED", messageParameters={}), "JAVA_GATEWAY_EXITED"),
        (OSError("no such file\nand more"), r"\(no such file\)"),
        (OSError(), "OSError"),
        (_dead_java(), "its Java process has ended"),
    ],
)
def test_java_that_does_not_start_is_one_sentence(monkeypatch, fault, told):
    def fails(settings, log, secret):
        raise fault

    monkeypatch.setattr(gateway, "start", fails)
    with pytest.raises(LabError, match=rf"^Spark did not start .*{told}.*spark\.log\.$"):
        spark_session.session()


def test_spark_gets_its_environment_and_it_is_put_back(monkeypatch, tmp_path):
    monkeypatch.setenv("SPARK_REMOTE", "sc://elsewhere")
    monkeypatch.delenv("SPARK_CONF_DIR", raising=False)
    before = dict(os.environ)
    with gateway._environment(tmp_path):
        assert os.environ["PYSPARK_PYTHON"] == sys.executable
        assert os.environ["SPARK_CONF_DIR"] == str(tmp_path)
        assert "SPARK_REMOTE" not in os.environ
    assert dict(os.environ) == before


def _context(process, executors=1, stopped=False, **settings):
    known = SimpleNamespace(size=lambda: executors)  # the driver counts as one
    driver = SimpleNamespace(isStopped=lambda: stopped, getExecutorMemoryStatus=lambda: known)
    context = SimpleNamespace(getConf=lambda: settings, _jsc=SimpleNamespace(sc=lambda: driver))
    return context, SimpleNamespace(proc=process)


def test_a_session_counts_only_if_java_lives_and_the_settings_are_ours(monkeypatch):
    wanted = {"spark.master": "local[2]", "spark.jars": "file:///one.jar"}
    alive, dead = SimpleNamespace(poll=lambda: None), SimpleNamespace(poll=lambda: 137)
    cases = [
        (alive, wanted, True),
        (dead, wanted, False),
        (alive, {**wanted, "spark.app.name": "mine"}, False),
        (alive, {**wanted, "spark.master": "spark://other:7077"}, False),
        (alive, {"spark.master": "local[2]"}, False),
    ]
    for process, settings, expected in cases:
        context, connected = _context(process, **settings)
        monkeypatch.setattr(SparkContext, "_active_spark_context", context)
        monkeypatch.setattr(SparkContext, "_gateway", connected)
        assert gateway.runs(wanted) is expected
    monkeypatch.setattr(SparkContext, "_active_spark_context", None)
    assert not gateway.runs(wanted)


@pytest.mark.parametrize(
    ("master", "executors", "stopped", "expected"),
    [
        ("local[2]", 1, False, True),
        ("local[2]", 1, True, False),
        ("spark://here:7077", 3, False, True),
        ("spark://here:7077", 1, False, False),
    ],
)
def test_a_session_whose_executors_are_gone_counts_no_more(monkeypatch, master, executors, stopped, expected):
    wanted = {"spark.master": master}
    context, connected = _context(SimpleNamespace(poll=lambda: None), executors, stopped, **wanted)
    monkeypatch.setattr(SparkContext, "_active_spark_context", context)
    monkeypatch.setattr(SparkContext, "_gateway", connected)
    assert gateway.runs(wanted) is expected


TELLS = """
import os, struct, sys
path = os.environ["_PYSPARK_DRIVER_CONN_INFO_PATH"]
with open(path + "-part", "wb") as file:
    file.write(struct.pack(">ii", 4711, 6) + b"secret")
os.rename(path + "-part", path)
print(os.getpgid(0) == os.getpid(), "JAVA_TOOL_OPTIONS" in os.environ, flush=True)
sys.stdin.read()
"""


def test_java_tells_where_it_listens_and_ends_with_its_input(monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Xint")
    with (tmp_path / "log").open("wb") as log:
        java, where = gateway._launched([sys.executable, "-c", TELLS], log)
    assert where == {"PYSPARK_GATEWAY_PORT": "4711", "PYSPARK_GATEWAY_SECRET": "secret"}
    java.stdin.close()
    assert java.wait() == 0
    assert (tmp_path / "log").read_text().split() == ["True", "False"]


def test_java_that_ends_at_once_is_pysparks_error(tmp_path):
    with (
        (tmp_path / "log").open("wb") as log,
        pytest.raises(PySparkRuntimeError, match="JAVA_GATEWAY_EXITED"),
    ):
        gateway._launched([sys.executable, "-c", ""], log)


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        ([sys.executable, "-c", "import time; time.sleep(60)"], LabError),
        (["/nowhere/java"], FileNotFoundError),
    ],
)
def test_java_that_says_nothing_is_not_waited_for_for_ever_and_leaves_no_folder(
    monkeypatch, tmp_path, command, fault
):
    monkeypatch.setattr(gateway, "START_SECONDS", 0.1)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with (tmp_path / "log").open("wb") as log, pytest.raises(fault) as told:
        gateway._launched(command, log)
    assert [path.name for path in tmp_path.iterdir()] == ["log"]
    if fault is LabError:
        assert (
            f"where it listens, and it did not come: run the cell again, or read the end of {log.name}"
            in (str(told.value))
        )


def test_end_forgets_a_dead_java_and_does_not_talk_to_it(monkeypatch):
    class Context:
        _jsc = "there"

        def stop(self):
            assert self._jsc is None

    process = subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.PIPE)
    process.wait()
    monkeypatch.setattr(SparkContext, "_active_spark_context", Context())
    client = SimpleNamespace(is_connected=True)
    monkeypatch.setattr(SparkContext, "_gateway", SimpleNamespace(proc=process, _gateway_client=client))
    gateway.end()
    assert SparkContext._gateway is None
    assert SparkContext._jvm is None


def test_end_ends_java_by_closing_its_input(monkeypatch):
    process = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    monkeypatch.setattr(SparkContext, "_active_spark_context", None)
    client = SimpleNamespace(is_connected=True)
    monkeypatch.setattr(SparkContext, "_gateway", SimpleNamespace(proc=process, _gateway_client=client))
    gateway.end()
    assert process.poll() == 0


def test_scratch_of_kernels_that_are_gone_is_dropped(tmp_path):
    scratch = tmp_path / "spark" / "scratch"
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    for name in (str(os.getpid()), str(gone.pid), "odd"):
        (scratch / name).mkdir(parents=True)
    spark_session._drop_old_scratch()
    assert [path.name for path in scratch.iterdir()] == [str(os.getpid())]


def test_a_fresh_folder_is_empty_and_found_again(tmp_path):
    first = Path(spark_session.fresh_folder("checkpoint"))
    (first / "metadata").write_text("old")
    again = Path(spark_session.fresh_folder("checkpoint"))
    assert again == first == spark_session.folder("checkpoint")
    assert again.is_relative_to(tmp_path)
    assert list(again.iterdir()) == []


def test_java_that_was_ended_hears_nothing_of_what_python_forgets(monkeypatch):
    java = subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    client = SimpleNamespace(is_connected=True)
    monkeypatch.setattr(SparkContext, "_gateway", SimpleNamespace(proc=java, _gateway_client=client))
    monkeypatch.setattr(SparkContext, "_active_spark_context", None)
    gateway.end()
    assert java.poll() is not None
    assert not client.is_connected
    assert SparkContext._gateway is None


def test_java_that_is_killed_is_told_nothing_while_it_dies(monkeypatch):
    told = list[bool]()
    client = SimpleNamespace(is_connected=True)

    def kill() -> None:
        told.append(client.is_connected)

    java = SimpleNamespace(kill=kill, wait=lambda: 0)
    monkeypatch.setattr(SparkContext, "_gateway", SimpleNamespace(proc=java, _gateway_client=client))
    gateway.kill()
    assert told == [False]


@pytest.mark.programs
def test_an_error_is_said_to_be_of_a_java_that_has_ended_only_if_it_has(monkeypatch):
    monkeypatch.setattr(SparkContext, "_gateway", None)
    assert gateway.gone(ConnectionRefusedError()) is None
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as java:
        monkeypatch.setattr(SparkContext, "_gateway", SimpleNamespace(proc=java))
        assert gateway.gone(ConnectionRefusedError()) is None
        assert "has ended" in str(gateway.gone(Py4JNetworkError("x")))
        java.kill()
        assert "has ended" in str(gateway.gone(ConnectionResetError()))
