"""No network at a fetch: each of the course's fetches ends within half a minute, and says where it looked."""

import hashlib
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.silent import silent
from threebrokers.cluster import download, jars, prefetch
from threebrokers.cluster.compose import ComposeEngine
from threebrokers.cluster.lockfile import Jar
from threebrokers.data.flights import flights_file
from threebrokers.errors import LabError

LOCKED = [Jar(f"org.test:part-{n}:1.0", 3, hashlib.sha256(b"jar").hexdigest()) for n in range(1)]
DOCKER = """\
#!/bin/sh
[ "$2" = version ] && echo 2.30.0 && exit 0
case "$*" in *pull*) echo 'Error: dial tcp: lookup registry-1.docker.io: no such host' >&2; exit 1 ;; esac
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("THREEBROKERS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("THREEBROKERS_CLUSTER", raising=False)
    monkeypatch.setattr(jars, "locked", lambda group: LOCKED)
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    return tmp_path / "cache"


def refused(cache: Path, fetch: Callable[[], object]) -> str:
    """Fetch, and return the sentence with which that ends."""
    began = time.monotonic()
    with pytest.raises(LabError) as raised:
        fetch()
    assert time.monotonic() - began < 30
    assert [path for path in (cache / "jars").iterdir() if path.name != ".lock"] == []
    return str(raised.value)


@pytest.mark.fault("Network", "Kafka's or Spark's jars are to be fetched, and there is no network")
@pytest.mark.parametrize("fetch", [jars.kafka_jars, jars.spark_jars])
def test_no_network(cache, monkeypatch, fetch, behaviour):
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(-3, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    said = refused(cache, fetch)
    assert "look at your network or proxy" in said
    behaviour("nothing half fetched stays; what has arrived is kept", says=said)


@pytest.mark.fault("Network", "jars are to be fetched, and the proxy is at a port where nobody listens")
def test_a_closed_proxy(cache, monkeypatch, behaviour):
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    behaviour("nothing half fetched stays; what has arrived is kept", says=refused(cache, jars.kafka_jars))


@pytest.mark.slow_fault
@pytest.mark.fault("Network", "jars are to be fetched, and the server takes the connection and says nothing")
def test_a_silent_server(cache, monkeypatch, behaviour):
    with silent() as server:
        monkeypatch.setenv("THREEBROKERS_MAVEN", server)
        said = refused(cache, jars.kafka_jars)
    behaviour("after three tries it ends, within 30 s", says=said)


@pytest.mark.fault("Network", "set-up prepares the first start, and there is no network")
def test_the_prefetch(cache, monkeypatch, capsys, behaviour):
    def broken(*_: object) -> None:
        raise LabError("a.jar could not be fetched from Maven Central", "look at your network or proxy")

    monkeypatch.setattr(download, "fetch", broken)
    said = str(prefetch.main())
    assert said.startswith("✗ a.jar could not be fetched")
    behaviour("the packages stay, and the next command goes on there", says=said.strip("✗ "))


@pytest.mark.fault("Network", "Docker's image is to be fetched, and there is no network")
def test_no_image(tmp_path, monkeypatch, behaviour):
    docker = tmp_path / "docker"
    docker.write_text(DOCKER)
    docker.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    made = ComposeEngine(tmp_path / "home")
    monkeypatch.setattr(made.containers, "look", dict)
    monkeypatch.setattr(made.containers, "has_image", lambda image: False)
    with pytest.raises(LabError, match=r"could not be fetched.*look at your network or proxy") as raised:
        made.up(lambda text: None)
    behaviour("no container is made", says=raised.value)


@pytest.mark.fault("Network", "the flights are read, and there is no network")
def test_the_flights_are_here(monkeypatch, behaviour):
    monkeypatch.setattr(socket, "getaddrinfo", None)
    assert flights_file().is_file()
    behaviour("they are in an installed package: nothing is fetched")
