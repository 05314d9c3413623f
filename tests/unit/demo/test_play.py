"""Which brokers a demo stops at its end; no broker is started here."""

from contextlib import suppress

import pytest

from threebrokers.cluster.process import BrokerProcess
from threebrokers.demo import play
from threebrokers.errors import LabError


class Cluster:
    """Some brokers run already; a start brings the first of the others, and then its fault, or all."""

    access = None

    def __init__(self, running, fault=None):
        self.running, self.fault, self.told = set(running), fault, []

    def __call__(self):
        return self

    def processes(self):
        return {n: BrokerProcess(n, "up" if n in self.running else "down") for n in (1, 2, 3)}

    def up(self, say):
        missing = sorted({1, 2, 3} - self.running)
        if self.fault:
            self.running.add(missing[0])
            raise self.fault
        self.running |= set(missing)
        return missing

    def down(self):
        self.told.append("down")
        self.running.clear()

    def stop(self, broker, *, force=False):
        self.told.append(broker)
        self.running.remove(broker)


@pytest.fixture
def played(monkeypatch):
    def played(cluster, **how):
        monkeypatch.setattr(play, "Cluster", cluster)
        monkeypatch.setattr(play, "Stage", lambda number, known: play.Player(play.load(play.path_of(number))))
        with suppress(KeyboardInterrupt), play.playing("04", lambda text: None, **how):
            pass
        return cluster

    return played


def test_a_start_that_ctrl_c_breaks_off_leaves_no_broker(played):
    assert played(Cluster([], KeyboardInterrupt())).told == ["down"]


def test_a_start_that_fails_leaves_no_broker(played):
    assert played(Cluster([], LabError("No port is free"))).told == ["down"]


@pytest.mark.parametrize("fault", [None, KeyboardInterrupt()])
def test_brokers_that_ran_before_go_on(played, fault):
    cluster = played(Cluster([1, 2], fault))
    assert (cluster.told, cluster.running) == ([3], {1, 2})


def test_a_broken_start_stops_none_that_others_use(played):
    assert played(Cluster([], KeyboardInterrupt()), alone=lambda: False).running == {1}


def test_a_cluster_elsewhere_is_never_stopped(played):
    elsewhere = Cluster([1, 2, 3], LabError("no broker of it is started here"))
    elsewhere.access = object()
    elsewhere.up = lambda say: (_ for _ in ()).throw(elsewhere.fault)
    assert played(elsewhere).told == []
