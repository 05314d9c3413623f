"""A recording takes away what it has begun, whatever happens, and says what it has missed."""

import threading

import pytest

from tests.states import state
from threebrokers.errors import LabError
from threebrokers.kafka.clients import Clients
from threebrokers.recorder import Recorder, recorder
from threebrokers.waiting import quiet_wait

SILENCE = "Docker does not answer: start it."


class Bench:
    """Stands in for a cluster, whose looks may fail."""

    def __init__(self):
        self.hearers, self.fault, self.looks = [], None, 0

    def poller(self):
        return self

    def poll(self, topics, groups):
        if self.fault:
            raise self.fault
        self.looks += 1
        return state(float(self.looks))

    def close(self):
        return None

    def on_action(self, hear):
        self.hearers.append(hear)
        return lambda: self.hearers.remove(hear)


@pytest.fixture
def bench():
    return Bench()


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
    assert (bench.hearers, clients._listeners, watchers()) == ([], [], [])
    assert recording.data is recording.data, "it is over"


def test_an_end_that_fails_hinders_no_other(bench, clients, recording):
    with pytest.raises(ValueError, match="not in list"), recording:
        bench.hearers.clear()
    assert (clients._listeners, watchers()) == ([], [])
    assert recording.data is recording.data, "it is over"


def test_looks_that_fail_are_on_the_tape_and_it_goes_on(bench, recording):
    with recording:
        seen = len(recording.states)
        bench.fault = LabError(SILENCE)
        assert quiet_wait(lambda: recording.data.missed, 5)
        first = recording.data.missed[0].end
        assert quiet_wait(lambda: recording.data.missed[0].end > first, 5)
        bench.fault = None
        seen = len(recording.states)
        assert quiet_wait(lambda: len(recording.states) > seen, 5)
    [missed] = recording.data.missed
    assert missed.words == SILENCE
    assert missed.start == recording.states[seen - 1].at
    assert f"s the brokers were not seen: {SILENCE}" in recording.show().words
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
