"""Which secret a session tells to which Spark, and what is said of one that asks for another."""

import socket
import sys
from types import SimpleNamespace

import pytest
from pyspark.errors import PySparkException

from threebrokers.cluster import spark_cluster, spark_secret
from threebrokers.errors import LabError
from threebrokers.spark import connect, gateway, spark_session

MASTER, SERVER = "spark://127.0.0.1:14092", "sc://127.0.0.1:14098"
TELLS = """
import os, struct, sys
path = os.environ["_PYSPARK_DRIVER_CONN_INFO_PATH"]
with open(path + "-part", "wb") as file:
    file.write(struct.pack(">ii", 4711, 1) + b"x")
os.rename(path + "-part", path)
print(os.environ.get("_SPARK_AUTH_SECRET"))
"""


@pytest.fixture
def secret(monkeypatch, tmp_path):
    """The secret of a home whose master and server of Spark Connect run, and know it."""
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    monkeypatch.setattr(spark_session, "spark_jars", list)
    made = spark_secret.made(tmp_path)
    monkeypatch.setattr(spark_cluster, "address", lambda home: MASTER)
    monkeypatch.setattr(spark_cluster, "connect_address", lambda home: SERVER)
    monkeypatch.setattr(spark_cluster, "secret", lambda home, name: made)
    return made


@pytest.fixture
def asks(monkeypatch):
    """The places of which was asked whether they want a secret: all do."""
    places = []

    def is_asked(place):
        places.append(place)
        return True

    monkeypatch.setattr(spark_secret, "is_asked", is_asked)
    return places


@pytest.mark.parametrize("address", [MASTER, "spark://localhost:14092"])
def test_a_driver_has_the_secret_for_its_home_s_master(secret, asks, address):
    assert spark_session._secret(address) == secret
    assert asks == []


def test_a_driver_on_this_machine_needs_none(secret, asks):
    assert spark_session._secret(spark_session.LOCAL) is None
    assert asks == []


def test_the_settings_of_a_session_have_no_secret(secret, monkeypatch):
    started = []
    monkeypatch.setattr(spark_session, "_checked", lambda master: master)
    monkeypatch.setattr(gateway, "start", lambda *given: started.append(given))
    spark_session.session(MASTER)
    ((settings, _, told),) = started
    assert told == secret
    assert settings["spark.authenticate"] == "true"
    assert secret not in str(settings)


def test_a_master_that_was_started_without_the_secret_is_one_sentence(secret, monkeypatch):
    monkeypatch.setattr(spark_cluster, "secret", lambda home, name: None)
    with pytest.raises(LabError, match=r"127\.0\.0\.1:14092 was not started with the secret .*spark down`"):
        spark_session._secret(MASTER)


def test_so_is_a_server_of_spark_connect_that_an_older_version_has_started(secret, monkeypatch):
    monkeypatch.setattr(spark_session, "_expect_answer", lambda what, address: None)
    known = {spark_cluster.MASTER: secret}
    monkeypatch.setattr(spark_cluster, "secret", lambda home, name: known.get(name))
    with pytest.raises(LabError, match=r"127\.0\.0\.1:14098 was not started with the secret .*spark down`"):
        spark_session.session(SERVER)


def test_who_has_a_session_already_asks_nobody(secret, asks, monkeypatch):
    monkeypatch.setattr(spark_session, "_checked", lambda master: master)
    monkeypatch.setattr(gateway, "runs", lambda settings: True)
    kept = SimpleNamespace(streams=SimpleNamespace(active=[]))
    made = SimpleNamespace(builder=SimpleNamespace(getOrCreate=lambda: kept))
    monkeypatch.setattr(spark_session, "SparkSession", made)
    assert spark_session.session("spark://127.0.0.1:14112") is kept
    assert asks == []


@pytest.mark.parametrize("address", ["spark://127.0.0.1:14112", "spark://one:7077,two:7077"])
def test_a_master_of_others_that_asks_for_its_secret_is_one_sentence(secret, asks, address):
    with pytest.raises(LabError, match=r"asks for the secret of its home, .*: `threebrokers spark status`"):
        spark_session._secret(address)
    assert asks == [address.removeprefix("spark://").split(",")[0]]


def test_a_master_of_others_that_asks_for_none_is_told_none(secret, monkeypatch):
    monkeypatch.setattr(spark_secret, "is_asked", lambda place: False)
    assert spark_session._secret("spark://127.0.0.1:7077") is None


def test_java_is_told_the_secret_by_its_environment(tmp_path, monkeypatch):
    monkeypatch.delenv("_SPARK_AUTH_SECRET", raising=False)
    for told in ("0" * 64, None):
        with (tmp_path / "log").open("wb") as log:
            java, _ = gateway._launched([sys.executable, "-c", TELLS], log, told)
        java.communicate()
        assert (tmp_path / "log").read_text().strip() == str(told)


@pytest.mark.parametrize(
    ("address", "told"),
    [
        (SERVER, True),
        ("sc://localhost:14098", True),
        (f"{SERVER}/;session_id=01234567-89ab-4def-8123-456789abcdef", True),
        ("sc://127.0.0.1:4098", False),
        ("sc://127.0.0.1:15002", False),
        ("sc://elsewhere:14098", False),
    ],
)
def test_only_the_home_s_own_server_of_spark_connect_is_told_it(secret, address, told):
    sent = dict(connect.channel(address).metadata())
    assert sent == ({"authorization": f"Bearer {secret}"} if told else {})


def test_a_server_that_does_not_run_is_told_none(secret, monkeypatch):
    monkeypatch.setattr(spark_cluster, "connect_address", lambda home: None)
    assert not dict(connect.channel(SERVER).metadata())


def test_a_server_of_others_that_refuses_is_one_sentence(secret, monkeypatch):
    def refuses(address):
        raise PySparkException(message='status = StatusCode.UNAUTHENTICATED\ndetails = "No token"')

    monkeypatch.setattr(connect, "start", refuses)
    monkeypatch.setattr(gateway, "end", lambda: None)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(LabError, match=rf"at {address} asks for the secret of its home, .*status`"):
            spark_session.session(f"sc://{address}")
