"""The register of aircraft, the weather, arrivals and repeated reports."""

import json

import pandas as pd

from threebrokers.data.arrivals import late_arrivals
from threebrokers.data.registers import deleted_planes, load_planes, load_weather, plane_messages
from threebrokers.data.replay import late_departures
from threebrokers.data.reports import PROMISED, repeated_reports


def test_the_register_read_to_its_end_is_the_table_of_the_package():
    held = {}
    for key, value in plane_messages():
        held[key.decode()] = None if value is None else json.loads(value)
    kept = {name: row for name, row in held.items() if row is not None}
    planes = load_planes()
    assert len(kept) == len(planes) == 3322
    assert {name: row["seats"] for name, row in kept.items()} == dict(
        zip(planes["tailnum"], planes["seats"], strict=True)
    )
    assert {name for name, row in held.items() if row is None} == set(deleted_planes())


def test_a_deleted_aircraft_left_on_the_late_day_and_is_not_in_the_table():
    gone = set(deleted_planes())
    assert len(gone) == 30
    assert gone <= set(late_departures()["tailnum"])
    assert not gone & set(load_planes()["tailnum"])


def test_each_arrival_comes_after_its_departure_and_within_twelve_hours():
    arrivals = late_arrivals()
    assert len(arrivals) == 873
    assert arrivals["arrived"].is_monotonic_increasing
    both = late_departures().merge(arrivals, on=["carrier", "flight", "tailnum"])
    assert len(both) == 873
    took = both["arrived"] - both["left"]
    assert took.min() > pd.Timedelta(30, "min")
    assert took.max() < pd.Timedelta(12, "h")


def test_the_weather_of_each_hour_in_which_a_flight_was_planned():
    weather = load_weather()
    assert len(weather) == 72
    known = set(zip(weather["origin"], weather["hour"], strict=True))
    flights = late_departures()
    hours = flights["scheduled"].dt.tz_convert("UTC").dt.floor("h")
    assert set(zip(flights["origin"], hours, strict=True)) <= known


def test_one_report_in_four_comes_again_within_six_hours():
    reports = repeated_reports()
    assert reports["sent"].is_monotonic_increasing
    times = reports.groupby(["carrier", "flight"])["sent"].agg(["size", "min", "max"])
    assert times["size"].value_counts().to_dict() == {1: 662, 2: 221}
    apart = times["max"] - times["min"]
    assert apart.max() <= PROMISED
