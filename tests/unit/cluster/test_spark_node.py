"""A process of Spark that has a container for itself: the same programs, at fixed ports."""

import sys
from pathlib import Path

import pytest

from threebrokers.cluster import spark_cluster, spark_node


@pytest.fixture
def became(monkeypatch, tmp_path):
    """What the process became: its command and its environment."""
    found = []
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    monkeypatch.setenv("SPARK_CONF_DIR", "/elsewhere")

    def execve(program, command, environment):
        assert program == command[0]
        found.append((command, environment))
        raise SystemExit

    monkeypatch.setattr(spark_node.os, "execve", execve)
    return found


def run(monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["spark_node", *words])
    with pytest.raises(SystemExit) as ended:
        spark_node.main()
    return ended.value.code


@pytest.mark.parametrize("name", [spark_cluster.MASTER, *spark_cluster.WORKERS])
def test_master_and_workers_listen_on_loopback_at_their_ports(monkeypatch, became, name, tmp_path):
    assert run(monkeypatch, name) is None
    ((command, environment),) = became
    port, page = spark_cluster.FIXED[name]
    place = command.index("--host")
    assert command[place : place + 6] == [
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--webui-port",
        str(page),
    ]
    assert (command[-1] == "spark://127.0.0.1:7077") == (name != spark_cluster.MASTER)
    assert "SPARK_CONF_DIR" not in environment
    assert environment["SPARK_LOCAL_DIRS"].startswith(str(tmp_path))


def test_spark_connect_listens_on_loopback_and_drives_the_master_s_workers(monkeypatch, became):
    monkeypatch.setattr(spark_cluster, "spark_jars", lambda: [Path("/jars/one.jar"), Path("/jars/two.jar")])
    assert run(monkeypatch, spark_cluster.CONNECT) is None
    ((command, environment),) = became
    assert {
        "-Dspark.master=spark://127.0.0.1:7077",
        "-Dspark.connect.grpc.binding.address=127.0.0.1",
        "-Dspark.connect.grpc.binding.port=15002",
        "-Dspark.driver.bindAddress=127.0.0.1",
        "-Dspark.ui.port=4040",
        "-Dspark.sql.session.timeZone=UTC",
        "-Dspark.dynamicAllocation.enabled=true",
        "-Dspark.executor.extraClassPath=/jars/one.jar:/jars/two.jar",
    } < {*command}
    assert command[command.index("-cp") + 1].endswith("/pyspark/jars/*:/jars/one.jar:/jars/two.jar")
    assert environment["PYSPARK_PYTHON"] == sys.executable


@pytest.mark.parametrize("words", [[], ["worker-3"], ["master", "worker-1"]])
def test_another_name_is_one_sentence(monkeypatch, became, words):
    assert run(monkeypatch, *words) == "✗ Name one of master, worker-1, worker-2, connect."
    assert became == []
