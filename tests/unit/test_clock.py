"""Moments are the system's, so that they fit those of brokers and of other programs."""

import time

from threebrokers import clock
from threebrokers.recorder.counters import Notes, Tally
from threebrokers.recorder.data import Burst


def test_a_moment_after_a_laptop_slept_is_the_systems(monkeypatch):
    assert abs(clock.now() - time.time()) < 60
    slept = time.time() + 3600  # what runs evenly stands still meanwhile
    monkeypatch.setattr(time, "time", lambda: slept)
    assert clock.now() == slept


def test_so_is_what_a_recording_notes_of_clients(monkeypatch):
    notes = Notes()
    monkeypatch.setattr(time, "time", lambda: 2e9)
    notes.tally("p", "sent", "beat", 0).add(clock.now())
    [flow] = notes.flows()
    assert flow.bursts == (Burst(2e9, 2e9, 1),)


def test_records_before_and_after_the_time_was_set_back_are_two_bursts():
    tally = Tally()
    for at in (100.0, 100.01, 40.0, 40.01):
        tally.add(at)
    assert tally.bursts() == (Burst(100.0, 100.01, 2), Burst(40.0, 40.01, 2))
