"""Other users and other homes on this machine: nothing of theirs is used, named, stopped or overwritten."""

import json
import os
import random
import socket
import subprocess
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import NewTopic

from tests.faults.stand_ins import Clone, clone
from threebrokers import paths
from threebrokers.cluster import Cluster, ports
from threebrokers.cluster.process import MARK, NODE
from threebrokers.doctor import processes, report
from threebrokers.doctor.processes import RunningHome, look_for_forgotten, running_homes
from threebrokers.errors import LabError
from threebrokers.waiting import quiet_wait

__all__ = ["clone"]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The machine's temporary folder, and no login session."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    return tmp_path


@pytest.mark.fault(
    "Shared machine", "another user has made the runtime folder, with links to your files in it"
)
def test_a_runtime_folder_of_another_user(machine, monkeypatch, behaviour):
    precious = machine / "precious"
    precious.write_text("mine")
    theirs = machine / f"threebrokers-{os.getuid()}"
    theirs.mkdir(mode=0o700)
    for name in ("ports.json", "ports.lock"):
        (theirs / name).symlink_to(precious)
    real = paths._is_private
    monkeypatch.setattr(paths, "_is_private", lambda folder: folder != theirs and real(folder))
    ports.claim(machine)
    assert precious.read_text() == "mine"
    assert (machine / f"threebrokers-{os.getuid()}-2" / "ports.json").is_file()
    behaviour("it is passed over, and another one is made")


@pytest.mark.parametrize("name", ["ports.json", "ports.lock"])
@pytest.mark.fault("Shared machine", "a file of the runtime folder is a link to another file")
def test_a_link_in_the_runtime_folder(machine, name, behaviour):
    precious = machine / "precious"
    precious.write_text('{"mine": 1}')
    folder = paths.runtime()
    (folder / name).symlink_to(precious)
    with suppress(LabError):
        ports.claim(machine)
    assert precious.read_text() == '{"mine": 1}'
    behaviour("the other file is neither read nor changed")


@pytest.mark.fault("Shared machine", "a path with a comma has got a link of another home as its other name")
def test_a_link_that_leads_elsewhere(machine, monkeypatch, behaviour):
    home, other = machine / "a,b", machine / "other"
    other.mkdir()
    monkeypatch.setenv("THREEBROKERS_HOME", str(home))
    name = paths.home()
    name.unlink()
    name.symlink_to(other)
    assert paths.home().samefile(home)
    behaviour("the link is made anew")


@pytest.mark.fault("Shared machine", "brokers of another home run")
def test_brokers_of_another_home(clone: Clone, monkeypatch, behaviour):
    other = RunningHome(Path("/home/alice/.cache/threebrokers/x"), (11, 12, 13), 600_000_000, False)
    from threebrokers.doctor import checks

    monkeypatch.setattr(checks, "running_homes", lambda: [other])
    done = clone.run("doctor", "--json")
    assert done.exit_code == 0, done
    assert "alice" not in done.output
    found = [one for one in json.loads(done.output)["findings"] if one["about"] == "forgotten brokers"]
    assert found[0]["ok"]
    assert found[0]["cure"] == ""
    assert "alice" not in report([look_for_forgotten(clone.home, [other])])
    assert "Stopped" not in clone.run("down").output
    behaviour("`doctor` counts them, names no other home, and its exit code stays 0", says=found[0]["what"])


@pytest.mark.fault("Shared machine", "brokers of another user run")
def test_brokers_of_another_user(clone: Clone, monkeypatch, behaviour):
    words = [f"{MARK}/home/bob/x", f"{NODE}1"]
    ours = subprocess.Popen([sys.executable, "-c", "input()", *words], stdin=subprocess.PIPE)
    try:
        # Its command line is there a moment after its start.
        assert quiet_wait(lambda: any(home.pids == (ours.pid,) for home in running_homes()), 5)
        monkeypatch.setattr(processes, "os", SimpleNamespace(getuid=lambda: os.getuid() + 1))
        assert [home for home in running_homes() if home.pids == (ours.pid,)] == []
    finally:
        ours.communicate(b"\n")
    behaviour("they are not looked at")


@pytest.mark.fault("Shared machine", "an earlier version has made the home readable for everybody")
def test_an_older_home(tmp_path, monkeypatch, behaviour):
    monkeypatch.delenv("THREEBROKERS_HOME", raising=False)
    monkeypatch.setenv("THREEBROKERS_CACHE", str(tmp_path))
    paths.home().chmod(0o755)
    assert paths.home().stat().st_mode & 0o777 == 0o700
    given = tmp_path / "given"
    given.mkdir(mode=0o755)
    given.chmod(0o755)
    monkeypatch.setenv("THREEBROKERS_HOME", str(given))
    assert paths.home().stat().st_mode & 0o777 == 0o755, "a folder that you have made keeps its rights"
    behaviour(
        "the next command takes that right away; a folder of your own (THREEBROKERS_HOME) is left as it is"
    )


STRANGERS = 1200


@pytest.mark.fault(
    "Shared machine", "1,200 connections to a broker send what is not Kafka's protocol, and stay open"
)
def test_a_broker_outlives_strangers(cluster: Cluster, behaviour):
    process = cluster.processes()[2].pid
    host, _, port = cluster.bootstrap.split(",")[1].partition(":")
    rubbish = random.Random(12)  # noqa: S311
    with ExitStack() as open_ones:
        for _ in range(STRANGERS):
            with suppress(OSError):  # the broker has closed it
                stranger = open_ones.enter_context(socket.create_connection((host, int(port)), 5))
                stranger.sendall(rubbish.randbytes(64))
        topic = "strangers"
        admin = cluster.admin()
        admin.create_topics([NewTopic(topic, 1, 3)])[topic].result(20)
        producer = Producer({"bootstrap.servers": cluster.bootstrap})
        producer.produce(topic, b"still here")
        assert producer.flush(20) == 0
        assert cluster.processes()[2].pid == process
    behaviour("they are turned away, and the broker serves clients as before")
