"""Spark's master or a worker that has a container for itself: the same programs, at fixed ports."""

import sys

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


@pytest.mark.parametrize("name", spark_cluster.NAMES)
def test_each_listens_on_loopback_at_its_ports(monkeypatch, became, name, tmp_path):
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


@pytest.mark.parametrize("words", [[], ["worker-3"], ["master", "worker-1"]])
def test_another_name_is_one_sentence(monkeypatch, became, words):
    assert run(monkeypatch, *words) == "✗ Name one of master, worker-1, worker-2."
    assert became == []
