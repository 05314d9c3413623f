"""Scenarios of groups, as far as they need no brokers: who stopped, and the jobs that are shared."""

from collections import Counter
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, consistent, murmur2

from threebrokers.errors import LabError
from threebrokers.kafka.clients import Clients
from threebrokers.lab.scenarios import Team, jobs, shifts, who_stopped
from threebrokers.lab.scenarios.joining import _felt
from threebrokers.lab.scenarios.members import _expect_not_named
from threebrokers.lab.scenarios.sharing import _wait_with, work_together
from threebrokers.recorder import Recording
from threebrokers.recorder.data import Burst, Flow, Holding, Mark, RecordingData


def test_a_worker_that_the_ledger_does_not_know_is_told():
    here: Any = SimpleNamespace()
    with pytest.raises(LabError, match=r"A worker is 'one': it should be a consumer of the ledger"):
        work_together(here, "jobs", here, ["one"])  # type: ignore[list-item]


def hold(at: float, client: str, what: str, *partitions: int) -> Holding:
    return Holding(at, client, "g", what, tuple(("calls", p) for p in partitions))


def test_who_stopped_is_the_longer_pause_of_a_and_b_and_how_long_d_waited():
    holdings = (
        *(hold(0, f"eager {name}", "assigned", number) for number, name in enumerate("ABC")),
        *(hold(2, f"eager {name}", "revoked", number) for number, name in enumerate("AB")),
        hold(3.0, "eager A", "assigned", 0),
        hold(3.1, "eager B", "assigned", 1),
    )
    flows = tuple(
        Flow("eager D", "delivered", "calls", p, (Burst(at, at, 1),)) for p, at in ((0, 3.6), (1, 3.4))
    )
    marks = (Mark(1.9, "D joins"), Mark(3.1, "C is free again"))
    recording = Recording(RecordingData(0, 5, marks=marks, flows=flows, holdings=holdings))
    found = who_stopped(recording, "eager")
    assert found["A and B stop for"] == pytest.approx(1.1)
    assert found["D gets its first record after"] == pytest.approx(1.5)
    assert found["C is free after"] == pytest.approx(1.2)


def test_a_newcomer_without_a_record_waited_to_the_end():
    marks = (Mark(2.0, "D joins"), Mark(4.0, "C is free again"))
    found = who_stopped(Recording(RecordingData(0, 5, marks=marks)))
    assert list(found.values()) == [0, 3.0, 2.0]


@pytest.mark.parametrize("function", [consistent, murmur2])
def test_jobs_are_even_by_customer_and_not_by_country(function):
    def shares(key: str) -> list[int]:
        places = Counter(function(getattr(job, key).encode(), 6) for job in jobs())
        return [places[p] + places[p + 1] for p in (0, 2, 4)]

    assert sum(shares("customer")) == 300
    assert min(shares("customer")) > 70  # an exercise asks for 60
    assert max(shares("country")) > 250


@pytest.mark.parametrize(
    ("config", "call"),
    [
        ({}, "assign"),
        ({"partition.assignment.strategy": "roundrobin"}, "assign"),
        ({"partition.assignment.strategy": "cooperative-sticky"}, "incremental_assign"),
        ({"group.protocol": "consumer"}, "incremental_assign"),
        ({"group.protocol": "CONSUMER"}, "incremental_assign"),
    ],
)
def test_a_member_takes_its_partitions_as_its_protocol_wants_and_waits(config, call):
    called: list[str] = []
    consumer: Any = SimpleNamespace(
        config=config,
        assign=lambda places: called.append("assign"),
        incremental_assign=lambda places: called.append("incremental_assign"),
        pause=lambda places: called.append("pause"),
    )
    _wait_with(consumer, [])
    assert called == [call, "pause"]


@pytest.mark.parametrize(
    ("way", "held", "handled", "felt"),
    [
        ("eager", {1}, 0, False),
        ("eager", set(), 0, True),
        ("cooperative", {1}, 0, True),
        ("consumer", {1}, 0, False),
        ("consumer", {1}, 5, True),
    ],
)
def test_a_busy_member_stays_so_until_the_group_has_felt_the_newcomer(way, held, handled, felt):
    members = {name: SimpleNamespace(held=held, handled=handled) for name in "ABD"}
    team: Any = type("Team", (dict,), {"members": members, "way": way})(members)
    assert _felt(team) is felt


def test_the_protocol_may_be_written_in_capitals(tmp_path):
    team = object.__new__(Team)
    team._settings = {"group.protocol": "CONSUMER"}
    assert team.way == "consumer"
    clients = Clients("127.0.0.1:1", tmp_path)
    clients.consumer({"group.id": "g", "group.protocol": "CONSUMER"})
    clients.close()


def test_settings_that_name_the_group_or_the_member_are_told_at_once():
    names = {"group.id": "calls-1", "client.id": "A"}
    _expect_not_named(names, {"client.id": "A", "group.protocol": "consumer"})
    for setting in names:
        with pytest.raises(LabError, match=f"have '{setting}', which they have already"):
            _expect_not_named(names, {setting: "mine"})


def test_a_function_that_returns_no_settings_is_told(monkeypatch):
    monkeypatch.setattr(shifts, "Stream", lambda lab, topic: nullcontext())
    monkeypatch.setattr(shifts, "Team", lambda lab, topic, group, settings: settings("A"))
    lab: Any = SimpleNamespace(fresh_topic=lambda name, partitions: name, group=lambda name: name)
    with pytest.raises(LabError, match=r"For member 'A' your function returned None: let it return"):
        shifts.deploy(lab, lambda name: None)  # type: ignore[arg-type, return-value]


@pytest.fixture
def clinic(monkeypatch):
    """A clinic without brokers; the clock goes on only when somebody sleeps."""
    clock: Any = SimpleNamespace(now=0.0, time_ns=lambda: 7)
    clock.monotonic = lambda: clock.now
    clock.sleep = lambda seconds: setattr(clock, "now", clock.now + seconds)
    monkeypatch.setattr(shifts, "time", clock)
    producer = SimpleNamespace(produce=lambda topic, value: None, flush=lambda: 0)
    state = SimpleNamespace(groups=[SimpleNamespace(members=["worker"], committed=[], coordinator=1)])
    lab: Any = SimpleNamespace(
        group=lambda name: name,
        fresh_topic=lambda name: name,
        ledger=lambda name: SimpleNamespace(producer=lambda: producer, processed=lambda message: None),
        cluster=SimpleNamespace(state=lambda topics, groups: state),
        sleep=clock.sleep,
    )
    return shifts.Clinic(lab)


def scan(offset: int) -> Any:
    return SimpleNamespace(error=lambda: None, offset=lambda: offset)


def test_a_clinic_stays_open_for_a_slow_worker_that_gets_on(clinic):
    for number in range(24):
        assert clinic.open
        clinic.examine(scan(number))
        clinic.lab.sleep(0.5)  # the brokers are asked, and a commit waits
    assert clinic.examined == list(range(24))
    assert clinic.open
    clinic.lab.sleep(5)
    assert not clinic.open


def test_a_worker_is_thrown_out_only_if_the_coordinator_says_so(clinic):
    assert clinic.open
    [group] = clinic.lab.cluster.state([], []).groups
    group.members, group.coordinator = [], None
    assert clinic.open
    assert not clinic.thrown_out
    group.coordinator = 2
    assert clinic.open
    assert clinic.thrown_out


def test_a_clinic_closes_for_who_begins_again(clinic):
    for number in range(40):
        clinic.examine(scan(number % 24))
    assert len(clinic.examined) == 36
    assert not clinic.open


def test_a_clinic_to_which_nobody_comes_closes(clinic):
    assert clinic.open
    clinic.lab.sleep(8.1)
    assert not clinic.open


def test_a_clinic_waits_for_the_first_question(clinic):
    clinic.lab.sleep(60)
    assert clinic.open
    clinic.lab.sleep(7)
    assert clinic.open


def test_a_clinic_that_has_closed_does_not_look_at_its_group_again(clinic):
    assert clinic.open
    [group] = clinic.lab.cluster.state([], []).groups
    group.committed = [(clinic.scans, 0, 24)]
    assert not clinic.open
    group.members = []  # the worker has left
    assert not clinic.open
    assert not clinic.thrown_out


@pytest.fixture
def make_worker():
    """Make a worker of a hand-over whose function raises an error of this code."""

    def make(code: int) -> shifts._Worker:
        def on_revoke(consumer, partitions):
            raise KafkaException(KafkaError(code))

        consumer = SimpleNamespace(commit=lambda asynchronous: None)
        ledger: Any = SimpleNamespace(consumer=lambda settings: consumer)
        return shifts._Worker("B", ledger, {"group.id": "g"}, on_revoke)

    return make


def test_a_function_that_does_not_expect_that_nothing_is_new_is_told(make_worker):
    worker = make_worker(KafkaError._NO_OFFSET)
    with pytest.raises(LabError, match="raised _NO_OFFSET: B had nothing new to commit"):
        worker._revoked(worker.consumer, [])


def test_other_errors_of_a_function_are_raised_as_they_are(make_worker):
    worker = make_worker(KafkaError._NO_OFFSET)
    worker.uncommitted = 20  # so there was something to commit, and the function did not
    with pytest.raises(KafkaException):
        worker._revoked(worker.consumer, [])
    worker.commit()
    other = make_worker(KafkaError._ASSIGNMENT_LOST)
    with pytest.raises(KafkaException):
        other._revoked(other.consumer, [])
    assert (worker.uncommitted, worker.revoked) == (0, 0)
