"""The secret of a home's Spark cluster: its file, who is told it, and how a stranger's Spark is known."""

import os
import re
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest

from threebrokers.cluster import process, spark_cluster, spark_secret
from threebrokers.cluster.process import Identity


def test_it_is_made_once_and_only_this_user_can_read_it(tmp_path):
    assert spark_secret.kept(tmp_path) is None
    made = spark_secret.made(tmp_path)
    assert re.fullmatch("[0-9a-f]{64}", made)
    assert (tmp_path / spark_secret.FILE).stat().st_mode & 0o777 == 0o600
    assert spark_secret.made(tmp_path) == spark_secret.kept(tmp_path) == made
    other = tmp_path / "other"
    other.mkdir()
    assert spark_secret.made(other) != made


@pytest.mark.parametrize("damaged", [b"", b"secret", b"\xff" * 64, b"0" * 65])
def test_a_damaged_file_is_no_secret_and_is_made_anew(tmp_path, damaged):
    (tmp_path / spark_secret.FILE).write_bytes(damaged)
    assert spark_secret.kept(tmp_path) is None
    assert len(spark_secret.made(tmp_path)) == 64


@pytest.mark.parametrize("name", spark_cluster.NAMES)
def test_each_process_has_it_in_its_environment_and_not_in_its_command(tmp_path, monkeypatch, name):
    launched = []

    def launch(command, log, environment, mark):
        launched.append((command, environment))
        return Identity(os.getpid(), "now", mark)

    monkeypatch.setattr(process, "launch", launch)
    monkeypatch.setattr(spark_cluster, "spark_jars", lambda: [Path("/jars/one.jar")])
    monkeypatch.setattr(spark_cluster.ports, "is_free", lambda port: True)
    saved = spark_cluster._Saved(dict(spark_cluster.FIXED))
    secret = spark_secret.made(tmp_path)
    spark_cluster._launch(tmp_path, saved, name, secret)
    ((command, environment),) = launched
    assert environment["_SPARK_AUTH_SECRET"] == environment["SPARK_CONNECT_AUTHENTICATE_TOKEN"] == secret
    assert secret not in " ".join(command)
    assert "-Dspark.authenticate=true" in command
    assert "-Dspark.ui.killEnabled=false" in command


def test_one_that_is_alone_in_a_container_asks_for_none(tmp_path, monkeypatch):
    monkeypatch.setenv("_SPARK_AUTH_SECRET", "of another Spark")
    command, environment = spark_cluster.alone(tmp_path, "master")
    assert "-Dspark.authenticate=true" not in command
    assert not {"_SPARK_AUTH_SECRET", "SPARK_CONNECT_AUTHENTICATE_TOKEN"} & {*environment}
    assert spark_secret.kept(tmp_path) is None


@pytest.mark.programs
def test_a_process_that_was_started_with_another_secret_or_none_is_known(tmp_path):
    secret = spark_secret.made(tmp_path)
    mark = f"{spark_cluster.MARK}{tmp_path}"
    command = [sys.executable, "-c", "input()", mark]
    for given, known in ((secret, True), ("0" * 64, False), (None, False)):
        told = {} if given is None else spark_secret.variables(given)
        with subprocess.Popen(command, stdin=subprocess.PIPE, env=os.environ | told) as running:
            master = process.identify(running.pid, mark)
            assert spark_secret.is_known_to(master, secret) is known
            saved = spark_cluster._Saved(dict(spark_cluster.FIXED), {"master": master})
            spark_cluster._file(tmp_path).write(saved)
            assert spark_cluster.secret(tmp_path) == (secret if known else None)
            running.communicate(b"\n")
        assert not spark_secret.is_known_to(master, secret)


@pytest.mark.parametrize(
    ("said", "asks"),
    [
        (b"\0\0\x0b\xf4java.lang.IllegalStateException: Expected SaslMessage, received something else", True),
        (b"\0\0\x0b\x52java.io.EOFException", False),
        (b"", False),  # it closes the connection
    ],
)
def test_a_spark_that_asks_for_a_secret_is_known_by_its_answer(said, asks):
    heard = []

    def answer(server):
        with closing(server.accept()[0]) as line:
            heard.append(line.recv(100))
            line.sendall(said)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = Thread(target=answer, args=(server,))
        thread.start()
        assert spark_secret.is_asked(f"127.0.0.1:{server.getsockname()[1]}") is asks
        thread.join()
    assert heard == [spark_secret.EMPTY_CALL]
    assert int.from_bytes(heard[0][:8], "big") == len(heard[0]) == 22


def test_who_says_nothing_asks_for_none(monkeypatch):
    monkeypatch.setattr(spark_secret, "ANSWER_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert not spark_secret.is_asked(f"127.0.0.1:{server.getsockname()[1]}")
    assert not spark_secret.is_asked("127.0.0.1:1")
