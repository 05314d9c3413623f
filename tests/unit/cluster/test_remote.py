"""A cluster that is not the learner's, without any: what is refused, and how faults are told."""

import socket
from pathlib import Path

import pytest

from threebrokers.app.cli import app
from threebrokers.cluster import Cluster
from threebrokers.errors import LabError, NotYoursError
from threebrokers.kafka import access

REFUSED = {
    "start": lambda cluster: cluster.start(2),
    "stop": lambda cluster: cluster.stop(2),
    "kill": lambda cluster: cluster.kill(2, force=True),
    "pause": lambda cluster: cluster.pause(2),
    "resume": lambda cluster: cluster.resume(2),
    "cut": lambda cluster: cluster.cut(2),
    "stall": lambda cluster: cluster.stall(2, "clients"),
    "slow": lambda cluster: cluster.slow(2, 100),
    "up": lambda cluster: cluster.up(),
    "down": lambda cluster: cluster.down(),
    "reset": lambda cluster: cluster.reset(),
    "erase": lambda cluster: cluster.erase(),
    "recover": lambda cluster: cluster.recover(),
    "actions": lambda cluster: cluster.actions(),
    "log": lambda cluster: cluster.log(2),
    "configuration": lambda cluster: cluster.configuration(2),
    "segments": lambda cluster: cluster.segments("a", 0, 2),
}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    for name in (access.CLIENT, "THREEBROKERS_CLUSTER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv(access.BOOTSTRAP, f"127.0.0.1:{closed_port()}")
    monkeypatch.setenv(access.PREFIX, "anna-")
    return tmp_path / "home"


def closed_port() -> int:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return made.getsockname()[1]


def test_an_address_chooses_it():
    assert Cluster().engine == "remote"


@pytest.mark.parametrize("what", REFUSED)
def test_what_needs_power_over_brokers_is_refused_in_one_sentence(what):
    with pytest.raises(NotYoursError, match=r"is not yours, so .*: without THREEBROKERS_BOOTSTRAP"):
        REFUSED[what](Cluster())


@pytest.mark.parametrize("command", ["up", "down", "reset"])
def test_the_commands_refuse_and_touch_nothing(command, capsys, home):
    assert app([command]) == 1
    told = capsys.readouterr()
    assert "is not yours" in told.err
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert not home.exists() or not list(home.iterdir())


def test_nobody_there_is_one_sentence(capsys):
    assert app(["status"]) == 1
    told = capsys.readouterr().err
    assert "Nobody answers at 127.0.0.1:" in told
    assert told.count("\n") == 1


def test_two_wishes_at_once_are_one_sentence(monkeypatch):
    monkeypatch.setenv("THREEBROKERS_CLUSTER", "local")
    with pytest.raises(LabError, match="unset THREEBROKERS_BOOTSTRAP"):
        Cluster()


def test_the_engine_without_an_address_is_one_sentence(monkeypatch):
    monkeypatch.delenv(access.BOOTSTRAP)
    with pytest.raises(LabError, match="set THREEBROKERS_BOOTSTRAP"):
        Cluster(engine_name="remote")


def test_later_commands_do_not_remember_it(monkeypatch, home: Path):
    Cluster()
    monkeypatch.delenv(access.BOOTSTRAP)
    assert Cluster().engine == "local"
