"""What lab 02's checks say of answers, without brokers."""

import json

import pytest

from threebrokers.checks.lab02 import keys
from threebrokers.kafka.log_reader import Record
from threebrokers.lab.exercise import NotYet


def flight(number: int, tail: str, minute: int) -> dict[str, object]:
    when = f"2013-01-01T05:{minute:02d}"
    return {
        "flight": number,
        "tailnum": tail,
        "scheduled": when,
        "carrier": "UA",
        "origin": "EWR",
        "dest": "IAH",
    }


def stored(*places: int) -> list[keys.Stored]:
    """Return four flights of two aircraft without keys, each in the partition that is named."""
    flights = [flight(n, f"N{n % 2}", n) for n in range(len(places))]
    records = [
        Record("by-aircraft", place, n, None, json.dumps(flights[n]).encode(), -1, "create")
        for n, place in enumerate(places)
    ]
    return keys.flights_in(records)


@pytest.mark.parametrize(
    ("places", "text"),
    [
        ((0, 1, 2, 3), "no record has a key, and the flights of aircraft N0 are in 2 partitions"),
        ((4, 4, 4, 4), "no record has a key, and the client put them into partition 4 this time, as it came"),
        ((1, 2, 1, 2), "them into partition 1 and 2 this time"),
    ],
    ids=["spread", "all in one partition", "by chance each aircraft in one partition"],
)
def test_records_without_a_key_are_told_so_wherever_they_went(places, text):
    with pytest.raises(NotYet) as caught:
        keys.judge(stored(*places), 6)
    assert text in str(caught.value)
