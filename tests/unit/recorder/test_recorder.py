"""A recording takes away what it has begun, whatever happens, and says what it has missed."""

import threading

import pytest

from tests.sights import sight
from threebrokers.errors import BenchError
from threebrokers.kafka.clients import Clients
from threebrokers.recorder import Recording, recorder
from threebrokers.waiting import quiet_wait

SILENCE = "Docker does not answer: start it."


class Bench:
    """Stands in for a cluster, whose looks may fail."""

    def __init__(self):
        self.hearers, self.fault, self.looks = [], None, 0

    def looker(self):
        return self

    def look(self, topics, groups):
        if self.fault:
            raise self.fault
        self.looks += 1
        return sight(float(self.looks))

    def close(self):
        return None

    def on_act(self, hear):
        self.hearers.append(hear)
        return lambda: self.hearers.remove(hear)


@pytest.fixture
def bench():
    return Bench()


@pytest.fixture
def clients(tmp_path):
    return Clients("127.0.0.1:1", tmp_path)


@pytest.fixture
def tape(bench, clients):
    return Recording(bench, clients)


def watchers():
    return [thread for thread in threading.enumerate() if thread.name == "threebrokers-observer"]


def test_ctrl_c_while_it_waits_for_its_first_look_leaves_nothing(bench, clients, tape, monkeypatch):
    def interrupt(look, within):
        raise KeyboardInterrupt

    monkeypatch.setattr(recorder, "quiet_wait", interrupt)
    with pytest.raises(KeyboardInterrupt), tape:
        pytest.fail("the block was entered")
    assert (bench.hearers, clients._listeners, watchers()) == ([], [], [])
    assert tape.data is tape.data, "it is over"


def test_an_end_that_fails_hinders_no_other(bench, clients, tape):
    with pytest.raises(ValueError, match="not in list"), tape:
        bench.hearers.clear()
    assert (clients._listeners, watchers()) == ([], [])
    assert tape.data is tape.data, "it is over"


def test_looks_that_fail_are_on_the_tape_and_it_goes_on(bench, tape):
    with tape:
        seen = len(tape.sights)
        bench.fault = BenchError(SILENCE)
        assert quiet_wait(lambda: tape.data.missed, 5)
        first = tape.data.missed[0].end
        assert quiet_wait(lambda: tape.data.missed[0].end > first, 5)
        bench.fault = None
        seen = len(tape.sights)
        assert quiet_wait(lambda: len(tape.sights) > seen, 5)
    [missed] = tape.data.missed
    assert missed.words == SILENCE
    assert missed.start == tape.sights[seen - 1].at
    assert f"s the brokers were not seen: {SILENCE}" in tape.show().words
    assert "brokers not seen for" in repr(tape)


def test_a_recording_that_saw_no_broker_says_why_at_its_end(bench, tape, monkeypatch):
    monkeypatch.setattr(recorder, "FIRST_LOOK_SECONDS", 0.2)
    bench.fault = BenchError(SILENCE)
    with pytest.raises(BenchError, match="has not seen the brokers: Docker does not answer"), tape:
        assert quiet_wait(lambda: tape.data.missed, 5)
    assert tape.data.sights == ()


def test_what_the_block_raises_is_not_hidden_by_that(bench, tape, monkeypatch):
    monkeypatch.setattr(recorder, "FIRST_LOOK_SECONDS", 0)
    bench.fault = BenchError(SILENCE)

    def block():
        assert quiet_wait(lambda: tape.data.missed, 5)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), tape:
        block()
