"""What is done to brokers: under the home's lock, and dated when it is done, not when it is asked for."""

from contextlib import contextmanager
from typing import Any

import pytest

from threebrokers import clock
from threebrokers.cluster import (
    Cluster,
    engine,
    link_faults,
    links,
    local,
    ports,
    process,
    registration,
    state_file,
)
from threebrokers.cluster.compose import ComposeEngine
from threebrokers.cluster.containers import Container
from threebrokers.cluster.link_faults import Fault
from threebrokers.cluster.local import LocalEngine
from threebrokers.cluster.process import BrokerProcess
from threebrokers.cluster.state_file import SavedState
from threebrokers.errors import LabError
from threebrokers.kafka import poller

ASKED, DONE = 1000.0, 1008.0  # somebody else holds the lock for 8 s meanwhile
VERBS = ("stop", "kill", "pause", "resume", "start")
WAIT = LocalEngine.wait_for_ports


@pytest.fixture
def late(monkeypatch):
    """A clock that goes on while a lock is waited for, and when something is done."""
    time = [ASKED]

    @contextmanager
    def locked(home):
        time[0] = DONE
        yield

    monkeypatch.setattr(clock, "now", lambda: time[0])
    monkeypatch.setattr(state_file, "locked", locked)

    def taking(*_, **__):
        time[0] += 3
        return True

    return taking


@pytest.fixture
def here(tmp_path, monkeypatch, late):
    """The local engine of a home whose brokers stand only in its state: what is done to them takes 3 s."""
    some: Any = object()
    known = SavedState("id", ports._block(0), dict.fromkeys((1, 2, 3), some), links=some)
    monkeypatch.setattr(state_file, "load", lambda home: known)
    monkeypatch.setattr(state_file, "save", lambda home, bench: None)
    monkeypatch.setattr(LocalEngine, "_found", lambda self: known)
    monkeypatch.setattr(LocalEngine, "_mend_links", lambda self, here: None)
    monkeypatch.setattr(LocalEngine, "wait_for_ports", lambda self, nodes, within: {})
    monkeypatch.setattr(LocalEngine, "processes", lambda self: {})
    monkeypatch.setattr(registration, "wait_registered", lambda *_: None)
    monkeypatch.setattr(registration, "misleading", lambda *_: [])
    monkeypatch.setattr(local, "wait_until", lambda look, **_: True)
    monkeypatch.setattr(local, "java", lambda: "java")
    monkeypatch.setattr(local.prepare, "prepare", lambda say: local.prepare.Prepared([], [], tmp_path))
    monkeypatch.setattr(local.jars, "kafka_jars", list)
    monkeypatch.setattr(local.log_dirs, "complete", lambda home, template, down: "id")
    monkeypatch.setattr(local.log_dirs, "configure", lambda home, saved: None)
    monkeypatch.setattr(ports, "wait_free", late)
    for name in ("send", "end", "launch"):
        monkeypatch.setattr(process, name, late)
    monkeypatch.setattr(links, "faults", lambda home, outside: [])
    monkeypatch.setattr(links, "put", late)
    return known


@pytest.fixture
def looked_at(here, monkeypatch):
    """Tells of the brokers what the home's state says."""
    monkeypatch.setattr(
        LocalEngine,
        "processes",
        lambda self: {n: BrokerProcess(n, "up" if n in here.brokers else "down") for n in (1, 2, 3)},
    )


@pytest.mark.usefixtures("looked_at")
@pytest.mark.parametrize("verb", VERBS)
def test_an_act_is_dated_when_the_signal_is_sent(tmp_path, here, verb):
    cluster = Cluster(tmp_path, "local")
    waited = 3 if verb == "start" else 0  # for its ports
    if verb == "start":
        del here.brokers[2]
    getattr(cluster, verb)(2)
    [action] = cluster.actions()
    assert (action.kind, action.broker, action.at) == (verb, 2, DONE + waited)


@pytest.mark.usefixtures("looked_at")
def test_who_starts_a_broker_that_runs_has_done_nothing_to_it(tmp_path, here):
    cluster = Cluster(tmp_path, "local")
    cluster.start(2)
    assert cluster.actions() == []
    del here.brokers[2]
    cluster.start(2)
    assert [action.words for action in cluster.actions()] == ["start broker 2"]


def test_brokers_that_are_started_together_are_dated_one_by_one(tmp_path, here, monkeypatch):
    cluster = Cluster(tmp_path, "local")
    here.brokers = {1: here.brokers[1]}
    # The one that runs is resumed first; each launch waits for its ports, and takes its time.
    assert cluster.up() == [2, 3]
    assert [(action.broker, action.at) for action in cluster.actions()] == [(2, DONE + 6), (3, DONE + 12)]


def test_a_start_that_breaks_is_remembered_once_a_broker_may_run(tmp_path, here, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    engine.remember(tmp_path, "compose")
    monkeypatch.setattr(engine, "refuse_second", lambda engine: None)
    monkeypatch.setattr(LocalEngine, "_end_all", lambda self, here, patience: None)
    monkeypatch.setattr(ports, "claim", interrupted)
    brokers, here.brokers = here.brokers, {}
    with pytest.raises(KeyboardInterrupt):
        Cluster(tmp_path, "local").up()
    assert Cluster(tmp_path).engine == "compose"

    here.brokers = {1: brokers[1]}
    monkeypatch.setattr(process, "launch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Cluster(tmp_path, "local").up()
    assert Cluster(tmp_path).engine == "local"


def test_who_was_paused_is_told_to_go_on(tmp_path, here, monkeypatch):
    cluster = Cluster(tmp_path, "local")
    states = {1: "up", 2: "paused", 3: "down"}
    here.brokers.pop(3)
    monkeypatch.setattr(
        LocalEngine, "processes", lambda self: {n: BrokerProcess(n, state) for n, state in states.items()}
    )
    assert cluster.up() == [3]
    told = [(action.kind, action.broker) for action in cluster.actions()]
    assert told == [("resume", 2), ("start", 3)]
    first, second = cluster.actions()
    assert first.at == second.at >= DONE


def test_what_is_left_of_a_brokers_faults_is_told_once_more_when_others_are_healed(tmp_path, monkeypatch):
    faults = [Fault("cut", 1, (2,)), Fault("cut", 1, (3,)), Fault("slow", 3, ("clients",), 5)]

    def change(self, how):
        faults[:] = how(list(faults))
        return DONE

    monkeypatch.setattr(LocalEngine, "faults", lambda self: list(faults))
    monkeypatch.setattr(LocalEngine, "change_links", change)
    cluster = Cluster(tmp_path, "local")
    monkeypatch.setattr(Cluster, "_known", lambda self, broker: None)
    cluster.heal(2)
    told = [(action.kind, action.broker, action.more) for action in cluster.actions()]
    assert told == [("heal", 1, ""), ("cut", 1, "from broker 3")]
    assert link_faults.broken(cluster.actions(), DONE + 1) == [Fault("cut", 1, (3,))]
    cluster.heal()
    assert [(action.kind, action.broker) for action in cluster.actions()[2:]] == [("heal", 1), ("heal", 3)]


def test_a_broker_that_was_about_to_end_is_told_as_started(tmp_path, here, monkeypatch):
    cluster = Cluster(tmp_path, "local")
    here.brokers.pop(3)
    monkeypatch.setattr(
        LocalEngine, "wait_for_ports", lambda self, nodes, within: {2: DONE + 50, 3: DONE + 60}
    )
    assert cluster.up() == [2, 3]
    # That of broker 3 was told when it was started first.
    assert [(a.kind, a.broker, a.at) for a in cluster.actions() if a.at >= DONE + 50] == [
        ("start", 2, DONE + 50)
    ]


def test_who_is_started_again_while_its_port_is_waited_for_is_told_with_the_moment(
    tmp_path, here, monkeypatch
):
    engine = LocalEngine(tmp_path)
    waits = iter([local._DeathError(2, "Broker 2 ended", "start it")])

    def wait(self, nodes, within):
        for death in waits:
            here.brokers.pop(2)
            raise death

    monkeypatch.setattr(LocalEngine, "_wait_for_ports", wait)
    assert WAIT(engine, [1, 2, 3], 1) == {2: DONE + 3}  # until its own port is free
    assert WAIT(engine, [1, 2, 3], 1) == {}


def test_what_one_object_does_another_of_the_same_home_is_told(tmp_path, here):
    here.brokers.pop(2)
    told = Cluster(tmp_path, "local").action_reader()
    other = Cluster(tmp_path, "local")
    other.kill(3)
    other.cut(1, "clients")
    other.heal()
    assert [(action.kind, action.broker) for action in told.read()] == [("kill", 3), ("cut", 1)]
    assert [action.kind for action in other.actions(since=DONE + 1)] == []
    told.close()


def test_so_is_a_change_of_links(tmp_path, here):
    cluster = Cluster(tmp_path, "local")
    cluster.cut(2, "clients")
    assert [action.at for action in cluster.actions()] == [DONE]


@pytest.mark.parametrize("verb", VERBS)
def test_containers_are_no_exception(tmp_path, monkeypatch, late, verb):
    engine = ComposeEngine(tmp_path)
    state = {"start": "down", "resume": "paused"}.get(verb, "up")
    monkeypatch.setattr(engine.containers, "look", lambda: {2: Container("id", "name", state)})
    monkeypatch.setattr(engine, "_wait_gone", lambda node: None)
    monkeypatch.setattr(ComposeEngine, "addresses", lambda self: {2: {}})
    monkeypatch.setattr(state_file, "load", lambda home: SavedState(ports=ports._block(0)))
    monkeypatch.setattr(ports, "wait_free", lambda node, wanted: None)
    monkeypatch.setattr(engine.containers, verb, late)
    assert getattr(engine, verb)(2) == DONE
    assert clock.now() == DONE + 3, "it was done"


def test_who_waits_for_containers_in_vain_is_told_which_are_silent(tmp_path, monkeypatch):

    engine = ComposeEngine(tmp_path)
    monkeypatch.setattr(engine, "addresses", lambda: {n: {"CLIENT": f"h:{n}"} for n in (1, 2, 3)})
    monkeypatch.setattr(engine, "processes", lambda: {})
    monkeypatch.setattr(engine, "log", lambda node: tmp_path / f"broker-{node}.log")
    monkeypatch.setattr(poller, "answering", lambda addresses: {1, 3} & set(addresses))
    with pytest.raises(LabError, match=r"0\.1 s for an answer of broker 2: .*broker-2\.log"):
        engine.wait_for_ports([1, 2, 3], 0.1)
    engine.wait_for_ports([1, 3], 0.1)


@pytest.mark.parametrize("made", [LocalEngine, ComposeEngine])
@pytest.mark.parametrize("verb", ["stop", "kill", "pause", "resume"])
def test_nothing_is_done_to_a_broker_while_somebody_else_holds_the_lock(tmp_path, monkeypatch, made, verb):
    kept = tmp_path / "compose" if made is ComposeEngine else tmp_path
    kept.mkdir(exist_ok=True)
    monkeypatch.setattr(state_file, "LOCK_SECONDS", 0.1)
    monkeypatch.setattr(process, "send", lambda *_: pytest.fail("a signal was sent"))
    monkeypatch.setattr(state_file, "load", lambda home: SavedState(brokers={2: object()}))
    engine = made(tmp_path)
    if made is ComposeEngine:
        state = "paused" if verb == "resume" else "up"
        monkeypatch.setattr(engine.containers, "look", lambda: {2: Container("id", "name", state)})
        monkeypatch.setattr(engine.containers, verb, lambda *_: pytest.fail("a container was changed"))
    with (
        state_file.locked(kept),
        pytest.raises(LabError, match="Another command has been changing this cluster"),
    ):
        getattr(engine, verb)(2)


def test_a_broker_that_runs_is_not_started_and_dated_now(tmp_path, here):
    assert LocalEngine(tmp_path).start(2) == DONE
