"""Departures in the order in which they really left."""

import json

from threebrokers.data.replay import late_departures, replay_messages


def test_they_come_as_they_left_and_not_as_they_were_planned():
    flights = late_departures()
    assert len(flights) == 883
    assert flights["left"].is_monotonic_increasing
    assert not flights["scheduled"].is_monotonic_increasing
    late = flights["left"] - flights["scheduled"]
    assert (late.dt.total_seconds() == flights["dep_delay"].astype(int) * 60).all()


def test_a_departure_does_not_know_its_arrival():
    flights = late_departures()
    messages = replay_messages(flights)
    assert len(messages) == len(flights)
    key, value = messages[0]
    first = json.loads(value)
    assert key.decode() == first["tailnum"] == flights["tailnum"][0]
    assert "arr_delay" not in first
    assert first["scheduled"] == flights["scheduled"][0].isoformat()
