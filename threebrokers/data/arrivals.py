"""Arrivals of the late day's departures, in the order in which the aircraft reached their gates."""

from functools import cache
from typing import TYPE_CHECKING

from threebrokers.data.flights import flight_values, read_package
from threebrokers.data.replay import LATE_DAY, empty_replay, late_departures
from threebrokers.data.topics import send
from threebrokers.lab.lab import Lab

if TYPE_CHECKING:
    import pandas as pd

ARRIVAL_FIELDS = ("arrived", "carrier", "flight", "tailnum", "dest")
# Four airports of the Caribbean are not in the package's table of airports; all have this clock.
CARIBBEAN = "America/Puerto_Rico"
DAY_MINUTES = 24 * 60


def late_arrivals() -> "pd.DataFrame":
    """Return the arrivals of `late_departures()`, in the order in which they came in.

    The columns are `arrived` (a time), `carrier`, `flight`, `tailnum` and `dest`. The ten flights without an
    arrival were cancelled on their way, or landed elsewhere. Raises LabError.
    """
    return _arrivals().copy()


def arrivals_topic(lab: Lab, name: str) -> str:
    """Return the full name of a fresh topic of one partition, with the late day's arrivals in their order.

    The key is the tail number, the value a JSON object with the columns of `late_arrivals`.
    """
    topic = empty_replay(lab, name, partitions=1)
    table = late_arrivals()
    keys = [tailnum.encode() for tailnum in table["tailnum"]]
    send(lab, topic, zip(keys, flight_values(table, ARRIVAL_FIELDS, "arrived"), strict=True))
    return topic


@cache
def _arrivals() -> "pd.DataFrame":
    import pandas as pd  # only where flights are read: a lab is opened without it

    flights = read_package("flights", usecols=["month", "day", "carrier", "flight", "arr_time"])
    clock = flights[(flights["month"] == LATE_DAY.month) & (flights["day"] == LATE_DAY.day)]
    zones = read_package("airports", usecols=["faa", "tzone"]).set_index("faa")["tzone"]
    # A flight number is used once on this day.
    table = late_departures().merge(clock[["carrier", "flight", "arr_time"]], on=["carrier", "flight"])
    table = table[table["arr_time"].notna()]
    arrived = [
        _next_time(left.tz_convert(zones.get(dest, CARIBBEAN)), int(shown))
        for left, dest, shown in zip(table["left"], table["dest"], table["arr_time"], strict=True)
    ]
    times = pd.Series(arrived, index=table.index)
    table = table.assign(arrived=times).sort_values("arrived", kind="stable", ignore_index=True)
    return table[list(ARRIVAL_FIELDS)]


def _next_time(left: "pd.Timestamp", shown: int) -> "pd.Timestamp":
    """Return the next moment, in UTC, at which the clock there shows `shown` (1430 is half past two)."""
    import pandas as pd

    minutes = (shown // 100 * 60 + shown % 100 - left.hour * 60 - left.minute) % DAY_MINUTES
    return left.tz_convert("UTC") + pd.Timedelta(minutes, "min")
