"""A recording takes away what it has begun, whatever happens, and says what it has missed."""

import threading

import pytest

from tests.states import state
from tests.unit.logged_bench import LoggedBench
from threebrokers import clock
from threebrokers.cluster import action_log
from threebrokers.cluster.actions import Action
from threebrokers.errors import LabError
from threebrokers.kafka.clients import Clients
from threebrokers.recorder import Recorder, recorder
from threebrokers.waiting import quiet_wait

SILENCE = "Docker does not answer: start it."


class Bench(LoggedBench):
    """Stands in for a cluster, whose looks may fail."""

    def __init__(self, home):
        super().__init__(home)
        self.fault, self.looks = None, 0

    def poll(self, topics, groups):
        if self.fault:
            raise self.fault
        self.looks += 1
        return state(float(self.looks), asked_at=clock.now())

    def close(self):
        return None

    def act(self, kind, broker, at=None):
        action_log.write(self.home, Action(at or clock.now(), kind, broker))


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


@pytest.fixture
def clients(tmp_path):
    return Clients("127.0.0.1:1", tmp_path)


@pytest.fixture
def recording(bench, clients):
    return Recorder(bench, clients)


def watchers():
    return [thread for thread in threading.enumerate() if thread.name == "threebrokers-poller"]


def test_ctrl_c_while_it_waits_for_its_first_look_leaves_nothing(bench, clients, recording, monkeypatch):
    def interrupt(look, within):
        raise KeyboardInterrupt

    monkeypatch.setattr(recorder, "quiet_wait", interrupt)
    with pytest.raises(KeyboardInterrupt), recording:
        pytest.fail("the block was entered")
    assert (clients._listeners, watchers()) == ([], [])
    bench.act("kill", 2)
    assert bench.readers[0].read() == [], "it holds the log no longer"
    assert recording.data is recording.data, "it is over"


def test_what_was_done_last_is_seen(bench, recording, monkeypatch):
    monkeypatch.setattr(recorder, "LAST_LOOK_SECONDS", 60)
    with recording:
        looks = bench.looks
    assert bench.looks > looks


def test_an_end_that_fails_hinders_no_other(clients, recording):
    with pytest.raises(ValueError, match="not in list"), recording:
        clients._listeners.clear()
    assert watchers() == []
    assert recording.data is recording.data, "it is over"


def test_it_holds_what_any_program_did_in_its_block_and_nothing_else(bench, recording):
    bench.act("stop", 1)
    with recording:
        bench.act("resume", 2, at=recording.data.began - 1)  # begun before, written down after
        bench.act("kill", 2)
        assert [action.kind for action in recording.actions] == ["kill"], "at once, not at the next look"
        bench.act("start", 2)
    bench.act("pause", 3)
    assert [action.kind for action in recording.actions] == ["kill", "start"]


def test_a_log_that_is_set_aside_or_deleted_meanwhile_costs_no_action(bench, recording, monkeypatch):
    monkeypatch.setattr(action_log, "MOST_BYTES", 0)
    bench.act("start", 1)
    with recording:
        bench.act("kill", 1)
        action_log.trim(bench.home)
        bench.act("kill", 2)
        assert quiet_wait(lambda: len(recording._actions) == 2, 5)
        (bench.home / "actions.jsonl").unlink()
        bench.act("kill", 3)
    assert [action.broker for action in recording.actions] == [1, 2, 3]


def test_looks_that_fail_are_on_the_tape_and_it_goes_on(bench, recording):
    with recording:
        seen = len(recording.states)
        bench.fault = LabError(SILENCE)
        assert quiet_wait(lambda: recording.data.missed, 5)
        first = recording.data.missed[0].end
        assert quiet_wait(lambda: recording.data.missed[0].end > first, 5)
        seen = len(recording.states)
        bench.fault = None
        assert quiet_wait(lambda: len(recording.states) > seen, 5)
    [missed] = recording.data.missed
    assert missed.words == SILENCE
    assert missed.start == recording.states[seen - 1].at
    assert f"s the brokers were not seen: {SILENCE}" in recording.show().words
    assert repr(recording).startswith("Recording of ")
    assert "brokers not seen for" in repr(recording)


def test_a_recording_that_saw_no_broker_says_why_at_its_end(bench, recording, monkeypatch):
    monkeypatch.setattr(recorder, "FIRST_LOOK_SECONDS", 0.2)
    bench.fault = LabError(SILENCE)
    with pytest.raises(LabError, match="has not seen the brokers: Docker does not answer"), recording:
        assert quiet_wait(lambda: recording.data.missed, 5)
    assert recording.data.states == ()


def test_what_the_block_raises_is_not_hidden_by_that(bench, recording, monkeypatch):
    monkeypatch.setattr(recorder, "FIRST_LOOK_SECONDS", 0)
    bench.fault = LabError(SILENCE)

    def block():
        assert quiet_wait(lambda: recording.data.missed, 5)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), recording:
        block()


def test_ctrl_c_while_the_last_look_is_waited_for_ends_the_recording_too(recording, bench, monkeypatch):
    with pytest.raises(KeyboardInterrupt), recording:
        monkeypatch.setattr(recorder, "quiet_wait", _interrupted)
    looks = bench.looks
    assert not watchers()
    assert recording.data.ended
    assert bench.looks == looks


def _interrupted(*_: object) -> bool:
    raise KeyboardInterrupt
