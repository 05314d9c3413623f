"""What lab 12's checks say of answers that its wrong answers do not give."""

import json
import re

import pandas as pd
import pytest

from threebrokers.checks.lab12.delays import _summary, compare_delays
from threebrokers.checks.lab12.flights import compare_flights
from threebrokers.checks.lab12.offsets import call, expect_offsets
from threebrokers.checks.lab12.summary import _summary as summary
from threebrokers.checks.lab12.summary import compare_summary
from threebrokers.data.flights import NEW_YORK, load_flights
from threebrokers.lab.exercise import NotYet

ENDS = {0: 5, 1: 7}


@pytest.fixture
def found() -> pd.DataFrame:
    """January as Spark returns it: times in microseconds, delays as floats with NaN."""
    table = load_flights(1)
    table["scheduled"] = table["scheduled"].astype("int64") // 1000
    return table.astype({"dep_delay": "float64", "arr_delay": "float64"})


@pytest.fixture
def delays() -> pd.DataFrame:
    table = _summary(NEW_YORK)[["flights", "mean_delay"]].astype(float).reset_index()
    return table.sort_values("mean_delay", ascending=False, ignore_index=True)


@pytest.fixture
def records() -> list[tuple[bytes | None, bytes | None]]:
    return [(name.encode(), json.dumps(row).encode()) for name, row in summary().items()]


def told(check, *answers) -> str:
    with pytest.raises(NotYet) as caught:
        check(*answers)
    return str(caught.value)


def test_right_answers_pass(found, delays, records):
    compare_flights(found.sample(frac=1, random_state=1))
    compare_delays(delays)
    compare_summary(records)
    compare_summary([*records, *records])  # a second run of the job
    expect_offsets('{"t": {"0": 5, "1": 7}}', "t", ENDS)


def test_rows_that_came_twice(found):
    assert "has 27,005 rows" in told(compare_flights, pd.concat([found, found.head(1)]))


def test_one_wrong_value(found):
    found.loc[100, "dest"] = "XXX"
    assert "`dest` is 'XXX' where the flight has" in told(compare_flights, found)


def test_times_that_are_off(found):
    found["scheduled"] += 60_000_000
    assert "the first flight is scheduled for 2013-01-01 10:16:00 UTC" in told(compare_flights, found)


def test_a_group_that_is_not_there(delays):
    assert re.search(r"has no row; .* has \d+ \(flights\)", told(compare_delays, delays.iloc[1:]))
    assert "has no rows" in told(compare_delays, delays.head(0))


def test_a_mean_that_nobody_can_explain(delays):
    delays.loc[0, "mean_delay"] = 99.0
    assert "the mean for EWR at 19 is 99.0" in told(compare_delays, delays)


@pytest.mark.parametrize(
    ("kept", "text"),
    [
        ("", "holds no offsets"),
        ("no json", "holds no offsets"),
        ("[5, 7]", "holds no offsets"),
        ('{"other": {"0": 5, "1": 7}}', "holds no offsets"),
        ('{"t": {"0": 5}}', "nothing of partition 1"),
        ('{"t": {"0": -1, "1": -1}}', "below 0"),
        ('{"t": {"0": 4, "1": 6}}', "the offset of the last record"),
        ('{"t": {"0": 5, "1": 6}}', "the next offsets were {0: 5, 1: 7}"),
        ('{"t": {"0": "five", "1": 7}}', "something else than whole numbers"),
        ('{"t": {"0": 1760000000000, "1": 1760000000000}}', "a moment in time"),
        ("1760000000000", "a moment in time"),
    ],
)
def test_what_is_kept(kept, text):
    assert text in told(expect_offsets, kept, "t", ENDS)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda topic, seen: None, "returned NoneType"),
        (lambda topic, seen: (1, 2), "returned int and int"),
        (lambda topic: None, "ended with TypeError"),
        (lambda topic, seen: 1 / 0, "ended with ZeroDivisionError: division by zero"),
    ],
)
def test_a_function_that_returns_something_else(function, text):
    assert text in told(call, function, "t", None)


def test_records_of_the_summary(records):
    key, value = records[0]
    assert "there is no record for" in told(compare_summary, records[1:])
    assert "a record has no key" in told(compare_summary, [(None, value)])
    assert "a value is None" in told(compare_summary, [(key, None)])
    assert "the key of EWR-9E is 'EWR 9E'" in told(compare_summary, [(b"EWR 9E", value)])
    other = json.dumps({**json.loads(value), "flights": 1}).encode()
    assert "says 1 flights" in told(compare_summary, [(key, other)])
    other = json.dumps({**json.loads(value), "carrier": "ZZ"}).encode()
    assert "is about EWR-ZZ" in told(compare_summary, [(key, other)])
