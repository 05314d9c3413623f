"""What another program does to the brokers is seen by a panel and a recording of this one."""

from types import SimpleNamespace

import pytest

from tests.states import state
from threebrokers import clock
from threebrokers.cluster import Cluster, engine
from threebrokers.kafka.clients import Clients
from threebrokers.panel import Panels
from threebrokers.recorder import Recorder
from threebrokers.waiting import quiet_wait


class Engine:
    """Stands in for an engine: all brokers are up, whatever is done to them."""

    name, access = "local", None

    def __init__(self, home):
        self.home = home

    def processes(self):
        return {n: SimpleNamespace(state="up") for n in (1, 2, 3)}

    def faults(self):
        return []

    def change_links(self, change):
        return clock.now()

    def kill(self, broker):
        return clock.now()


class Poller:
    """Stands in for what asks the brokers."""

    def poll(self, topics, groups=()):
        return state(clock.now())

    def close(self):
        return None


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    """Returns a Cluster of this home, another object each time, as another program has it."""
    monkeypatch.setattr(engine, "chosen", lambda home, name: Engine(home))
    monkeypatch.setattr(Cluster, "poller", lambda self: Poller())
    return lambda: Cluster(tmp_path)


def told(panel, words):
    return any(words in event["words"] for event in panel.frame["events"])


def test_a_panel_tells_what_another_program_does(cluster):
    here = cluster()
    panels = Panels()
    panel = panels.watch(here, ("failsafe",), ())
    cluster().kill(2)
    assert quiet_wait(lambda: told(panel, "you killed broker 2"), 5)
    cluster().cut(3, "clients")
    assert quiet_wait(lambda: told(panel, "you cut broker 3 off from the clients"), 5)
    panels.end()
    cluster().kill(1)
    assert not told(panel, "you killed broker 1"), "it has ended"


def test_a_recording_holds_what_another_program_does_in_its_block(cluster, tmp_path):
    cluster().kill(1)
    with Recorder(cluster(), Clients("127.0.0.1:1", tmp_path)) as recording:
        cluster().kill(2)
        assert [action.broker for action in recording.actions] == [2]
        cluster().cut(3, "clients")
    cluster().kill(3)
    assert [(a.kind, a.broker, a.more) for a in recording.actions] == [
        ("kill", 2, ""),
        ("cut", 3, "from the clients"),
    ]


def test_what_was_done_since_a_moment_is_asked_of_the_cluster(cluster):
    cluster().kill(1)
    since = clock.now()
    cluster().kill(2)
    assert [action.broker for action in cluster().actions(since)] == [2]
    assert [action.broker for action in cluster().actions()] == [1, 2]
