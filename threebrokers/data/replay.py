"""Departures in the order in which they really left: their scheduled times come out of order."""

from datetime import date
from functools import cache
from typing import TYPE_CHECKING

from threebrokers.data.flights import FIELDS, flight_values, load_flights
from threebrokers.data.topics import send
from threebrokers.lab.lab import Lab

if TYPE_CHECKING:
    import pandas as pd

# A day on which many flights were late.
LATE_DAY = date(2013, 6, 24)
# Nobody knows at its departure how late a flight will arrive.
KNOWN = tuple(field for field in FIELDS if field != "arr_delay")


def late_departures() -> "pd.DataFrame":
    """Return the flights planned for 24 June 2013 that left, in the order in which they left.

    The columns are those of `load_flights`, and `left`, the time at which a flight really left. The day is
    that of New York. Raises LabError.
    """
    return _departures().copy()


def replay_messages(table: "pd.DataFrame") -> list[tuple[bytes, bytes]]:
    """Return departures as Kafka messages, (tail number, JSON without `arr_delay`), in the table's order."""
    keys = [tailnum.encode() for tailnum in table["tailnum"]]
    return list(zip(keys, flight_values(table, KNOWN), strict=True))


def replay_topic(lab: Lab, name: str, *, partitions: int = 1) -> str:
    """Return the full name of a fresh topic, of one partition unless told, with the late day's departures.

    In each partition they are in the order in which they left; each record's own time is when it was sent,
    now.
    """
    topic = empty_replay(lab, name, partitions=partitions)
    send(lab, topic, replay_messages(late_departures()))
    return topic


def empty_replay(lab: Lab, name: str, *, partitions: int) -> str:
    """Return the full name of a fresh topic like that of `replay_topic`, without records yet."""
    return lab.fresh_topic(name, partitions=partitions, replication_factor=3, config={"retention.ms": "-1"})


@cache
def _departures() -> "pd.DataFrame":
    import pandas as pd  # only where flights are read: a lab is opened without it

    table = load_flights(LATE_DAY.month)
    table = table[(table["scheduled"].dt.date == LATE_DAY) & table["dep_delay"].notna()]
    left = table["scheduled"] + pd.to_timedelta(table["dep_delay"].astype(int), unit="min")
    return table.assign(left=left).sort_values("left", kind="stable", ignore_index=True)
