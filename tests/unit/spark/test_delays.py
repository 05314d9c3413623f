"""Delays by month: the worst place and hour, and the second."""

import pandas as pd

from threebrokers.spark import worst_by_month

SUMS = pd.DataFrame(
    [
        ("EWR", 19, 1, 200, 6000, 200),  # 30 minutes in the mean
        ("JFK", 20, 1, 200, 2000, 100),  # 20, of those that left
        ("LGA", 21, 1, 99, 9900, 99),  # 100, of too few
        ("EWR", 19, 2, 100, 100, 100),
        ("LGA", 6, 2, 100, 500, 100),
    ],
    columns=["origin", "hour", "month", "flights", "minutes", "left"],
)


def test_hours_with_few_flights_do_not_count() -> None:
    worst = worst_by_month(SUMS, fewest=100)
    assert worst.to_dict("index") == {
        1: {
            "origin": "EWR", "hour": 19, "flights": 200, "mean_delay": 30.0,
            "second": "JFK at 20", "second_delay": 20.0,
        },
        2: {
            "origin": "LGA", "hour": 6, "flights": 100, "mean_delay": 5.0,
            "second": "EWR at 19", "second_delay": 1.0,
        },
    }  # fmt: skip
