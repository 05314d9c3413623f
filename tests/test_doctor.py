"""The doctor: each trouble is made to happen, and named with its cure."""

import json
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from threebrokers import doctor, forgotten, machine, open_labs
from threebrokers.cluster import links
from threebrokers.cluster.bench import Bench
from threebrokers.cluster.network import Fault
from threebrokers.cluster.process import MARK, BrokerProcess, Identity
from threebrokers.forgotten import RunningBench
from threebrokers.machine import Finding
from threebrokers.state import Broker

GONE = 2**22 + 1  # more than any process id of Linux


@pytest.fixture(autouse=True)
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    monkeypatch.delenv("THREEBROKERS_JAVA", raising=False)
    return tmp_path


def remember(bench: Path, pid: int, started: float) -> None:
    """Write the state file of a bench whose broker 2 has this process."""
    told = {"cluster_id": "x", "ports": {}, "brokers": {"2": {"pid": pid, "started": started}}}
    (bench / "bench.json").write_text(json.dumps(told))


def trouble(finding: Finding) -> str:
    """Return what a finding says, which must be a trouble with a cure."""
    assert not finding.ok
    assert finding.cure
    return f"{finding.what} -> {finding.cure}"


class TestJava:
    def test_the_courses_own_java_is_fine(self) -> None:
        assert machine.look_for_java().ok

    def test_one_that_is_not_there(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("THREEBROKERS_JAVA", "/nowhere/java")
        assert "/nowhere/java" in trouble(machine.look_for_java())

    def test_one_that_is_too_old(self, bench: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        old = bench / "java"
        old.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\n")
        old.chmod(old.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("THREEBROKERS_JAVA", str(old))
        assert "11" in trouble(machine.look_for_java())


class TestMachine:
    def test_memory_that_the_brokers_use_already_counts_as_there(self) -> None:
        assert machine.look_at_memory(available=1_500_000_000, used_by_brokers=600_000_000).ok

    def test_too_little_memory(self) -> None:
        found = trouble(machine.look_at_memory(available=700_000_000, used_by_brokers=0))
        assert "0.7 GB" in found
        assert "close other programs" in found

    def test_a_full_disk_names_the_folder(self) -> None:
        free = {Path("/home/a"): 50_000_000_000, Path("/cache"): 20_000_000}
        assert "/cache" in trouble(machine.look_at_disk(free))
        assert machine.look_at_disk({Path("/cache"): 5_000_000_000}).ok

    def test_damaged_jars_are_named(self) -> None:
        assert machine.look_at_jars([]).ok
        found = trouble(machine.look_at_jars(["a.jar", "b.jar", "c.jar", "d.jar"]))
        assert "4 missing or damaged: a.jar, b.jar, c.jar, …" in found


class TestState:
    def test_nothing_was_started_yet(self, bench: Path) -> None:
        assert doctor.look_at_state(bench).ok

    @pytest.mark.parametrize("damage", ["", "{", "[]", "{}", "null"])
    def test_a_damaged_state_file(self, bench: Path, damage: str) -> None:
        (bench / "bench.json").write_text(damage)
        assert "damaged" in trouble(doctor.look_at_state(bench))

    def test_a_broker_that_was_killed_from_outside(self, bench: Path) -> None:
        remember(bench, GONE, 1.0)
        assert f"broker 2 (process {GONE})" in trouble(doctor.look_at_state(bench))

    def test_a_process_number_that_another_program_has_now(self, bench: Path) -> None:
        remember(bench, os.getpid(), psutil.Process().create_time() - 1000)
        assert "broker 2" in trouble(doctor.look_at_state(bench))

    def test_a_process_that_runs(self, bench: Path) -> None:
        remember(bench, os.getpid(), psutil.Process().create_time())
        assert doctor.look_at_state(bench).ok


class TestPorts:
    @pytest.fixture
    def taken(self) -> Iterator[int]:
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            yield other.getsockname()[1]

    def test_another_program_where_a_broker_wants_to_listen(self, taken: int) -> None:
        down = {1: BrokerProcess(1, "down")}
        found = trouble(doctor.look_at_ports({1: {"CLIENT": taken}}, down))
        assert f"{taken} (CLIENT of broker 1)" in found
        if sys.platform == "linux":
            assert f"process {os.getpid()}" in found

    def test_the_broker_itself_is_no_trouble(self, taken: int) -> None:
        up = {1: BrokerProcess(1, "up", os.getpid())}
        assert doctor.look_at_ports({1: {"CLIENT": taken}}, up).ok

    def test_who_listens_may_not_be_known(self, taken: int, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(kind: str) -> None:
            raise psutil.AccessDenied

        monkeypatch.setattr(psutil, "net_connections", refuse)
        found = trouble(doctor.look_at_ports({1: {"CLIENT": taken}}, {1: BrokerProcess(1, "down")}))
        assert "another program" in found


class TestLinks:
    def test_brokers_without_links_need_none(self) -> None:
        assert doctor.look_at_links(Bench()).ok

    def test_a_process_that_died(self) -> None:
        nobody = {1: {"CLIENT": 1}}  # port 10 then takes the orders: nobody listens there
        found = trouble(doctor.look_at_links(Bench(ports=nobody, links=Identity(GONE, 0))))
        assert "carries the links between the brokers has ended" in found
        assert "threebrokers up" in found

    def test_what_is_broken_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        here = Bench(links=Identity(GONE, 0))
        monkeypatch.setattr(links, "faults", lambda ports: [])
        assert doctor.look_at_links(here).what == "all are healthy"
        monkeypatch.setattr(links, "faults", lambda ports: [Fault("cut", 2)])
        found = doctor.look_at_links(here)
        assert found.ok
        assert found.what == "cut at broker 2, from the other brokers and the quorum"
        assert "heal()" in found.cure


class TestAddresses:
    def test_all_agree(self) -> None:
        brokers = (Broker(1, "127.0.0.1", 11092), Broker(2, "127.0.0.1", 12092))
        listening = {1: "127.0.0.1:11092", 2: "127.0.0.1:12092"}
        assert doctor.compare_addresses(brokers, listening, lambda host, port: True).ok

    def test_a_broker_sends_clients_to_another_address(self) -> None:
        brokers = (Broker(1, "127.0.0.1", 11092), Broker(2, "kafka", 9092))
        listening = {1: "127.0.0.1:11092", 2: "127.0.0.1:12092"}
        found = trouble(doctor.compare_addresses(brokers, listening, lambda host, port: True))
        assert "broker 2 advertises kafka:9092 and listens at 127.0.0.1:12092" in found
        assert "advertised.listeners" in found

    def test_nobody_answers_at_the_advertised_address(self) -> None:
        brokers = (Broker(1, "127.0.0.1", 11092),)
        found = trouble(doctor.compare_addresses(brokers, {1: "127.0.0.1:11092"}, lambda host, port: False))
        assert "where nobody answers" in found

    def test_a_paused_broker_is_not_asked(self) -> None:
        assert doctor.compare_addresses((Broker(3, "elsewhere", 1),), {}, lambda host, port: False).ok


class TestForgotten:
    def test_brokers_of_another_bench_where_no_lab_is_open(self, bench: Path) -> None:
        other = RunningBench(Path("/old/home"), (11, 12, 13), 600_000_000, lab_open=False)
        found = trouble(doctor.look_for_forgotten(bench, [other]))
        assert "3 of /old/home (600 MB, process 11, 12, 13)" in found
        assert "THREEBROKERS_HOME=/old/home threebrokers down" in found

    def test_a_bench_where_a_lab_is_open_is_in_use(self, bench: Path) -> None:
        other = RunningBench(Path("/old/home"), (11,), 1, lab_open=True)
        assert doctor.look_for_forgotten(bench, [other]).ok

    def test_ones_own_brokers_are_mentioned_and_no_trouble(self, bench: Path) -> None:
        finding = doctor.look_for_forgotten(bench, [RunningBench(bench, (1,), 1, lab_open=False)])
        assert finding.ok
        assert "threebrokers down" in finding.cure

    def test_they_are_found_by_the_mark_on_their_command_line(self, bench: Path) -> None:
        broker = subprocess.Popen([sys.executable, "-c", "input()", f"{MARK}{bench}"], stdin=subprocess.PIPE)
        try:
            mine = [found for found in forgotten.benches() if found.home == bench]
            assert [found.pids for found in mine] == [(broker.pid,)]
            assert mine[0].rss > 0
            assert not mine[0].lab_open
        finally:
            broker.communicate(b"\n")


def test_an_open_lab_is_seen_and_leaves_no_trace_behind(bench: Path) -> None:
    ended: list[str] = []
    with open_labs.entered(last_out=lambda: ended.append("brokers")):
        assert [lab.command.pid for lab in open_labs.still_open(bench)] == [os.getpid()]
        assert ended == []
    assert ended == ["brokers"]
    assert open_labs.still_open(bench) == []


def test_the_last_lab_out_stops_the_brokers_and_no_other(bench: Path) -> None:
    code = (
        "from threebrokers import open_labs\n"
        "with open_labs.entered(last_out=lambda: print('last')):\n    print('in', flush=True); input()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert other.stdout is not None
        assert other.stdout.readline() == "in\n"
        ended: list[str] = []
        with open_labs.entered(last_out=lambda: ended.append("brokers")):
            pass
        assert ended == []
    finally:
        said, _ = other.communicate("\n")
    assert said == "last\n"


def test_a_lab_that_was_killed_does_not_keep_the_brokers_alive(bench: Path) -> None:
    me = {"pid": os.getpid(), "started": psutil.Process().create_time()}
    killed = {"command": {"pid": GONE, "started": 1.0}, "jupyter": me}
    (bench / "labs.json").write_text(json.dumps([killed]))
    assert [orphan.pid for orphan in open_labs.orphans()] == [os.getpid()]
    ended: list[str] = []
    with open_labs.entered(last_out=lambda: ended.append("brokers")):
        pass
    assert ended == ["brokers"]


@pytest.mark.parametrize("damage", ["", "{}", "[1]", '[{"command": {}}]'])
def test_a_damaged_register_of_labs_is_an_empty_one(bench: Path, damage: str) -> None:
    (bench / "labs.json").write_text(damage)
    assert open_labs.orphans() == []
    with open_labs.entered(last_out=lambda: None):
        assert len(open_labs.still_open(bench)) == 1


def test_a_look_that_fails_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(group: str) -> list[str]:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(doctor.jars, "unsound", fail)
    findings = {finding.about: finding for finding in doctor.examine()}
    assert set(findings) >= {"Java", "memory", "disk", "state", "ports", "addresses", "forgotten brokers"}
    assert "Input/output error" in findings["jars"].what
