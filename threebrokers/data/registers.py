"""Tables that labs keep in topics: the register of aircraft, and the weather of each hour."""

import json
from functools import cache
from typing import TYPE_CHECKING

from threebrokers.data.flights import NEW_YORK, read_package
from threebrokers.data.replay import LATE_DAY, late_departures
from threebrokers.data.topics import send
from threebrokers.lab.lab import Lab

if TYPE_CHECKING:
    import pandas as pd

# One aircraft in five was registered with so many seats too many, and corrected later.
CORRECTED_EACH = 5
TOO_MANY = 20
# So many aircraft were registered once, and deleted: the package's table does not have them.
DELETED, DELETED_SEATS = 30, 150


def load_planes() -> "pd.DataFrame":
    """Return the 3,322 aircraft of the package's table: `tailnum`, `manufacturer`, `model`, `seats`."""
    return _planes().copy()


def plane_messages() -> list[tuple[bytes, bytes | None]]:
    """Return the register's history as Kafka messages, (tail number, JSON); a value None deletes.

    Read to the end, it is `load_planes()`: what was registered wrongly is corrected later, what is not in the
    table is deleted.
    """
    planes = load_planes()
    rows = [(str(row["tailnum"]), row) for row in planes.to_dict("records")]
    again = rows[::CORRECTED_EACH]
    first = dict(rows) | {name: row | {"seats": row["seats"] + TOO_MANY} for name, row in again}
    gone = deleted_planes()
    unknown = {"manufacturer": "?", "model": "?", "seats": DELETED_SEATS}
    once = [(name, {"tailnum": name} | unknown) for name in gone]
    history = [(name.encode(), json.dumps(row).encode()) for name, row in [*once, *first.items(), *again]]
    return [*history, *((name.encode(), None) for name in gone)]


def deleted_planes() -> list[str]:
    """Return the aircraft that left on the late day and were in the register once."""
    known = set(load_planes()["tailnum"])
    return sorted(set(late_departures()["tailnum"]) - known)[:DELETED]


def planes_topic(lab: Lab, name: str) -> str:
    """Return the full name of a fresh compacted topic of three partitions, the register of aircraft."""
    compacted = {"cleanup.policy": "compact"}
    topic = lab.fresh_topic(name, partitions=3, replication_factor=3, config=compacted)
    send(lab, topic, plane_messages())
    return topic


def load_weather() -> "pd.DataFrame":
    """Return the late day's weather: `origin`, `hour` (UTC), `wind` (miles an hour), `visibility` (miles)."""
    return _weather().copy()


def weather_topic(lab: Lab, name: str, *, partitions: int) -> str:
    """Return the full name of a fresh compacted topic with the weather of each airport and hour.

    The key is airport and hour, such as "JFK 24 Jun 13" (UTC), the value a JSON object.
    """
    compacted = {"cleanup.policy": "compact"}
    topic = lab.fresh_topic(name, partitions=partitions, replication_factor=3, config=compacted)
    rows = load_weather().to_dict("records")
    send(lab, topic, [(_key(row), json.dumps(row | {"hour": str(row["hour"])}).encode()) for row in rows])
    return topic


def _key(row: "dict[object, object]") -> bytes:
    return f"{row['origin']} {row['hour']:%d %b %H}".encode()


@cache
def _planes() -> "pd.DataFrame":
    return read_package("planes", usecols=["tailnum", "manufacturer", "model", "seats"])


@cache
def _weather() -> "pd.DataFrame":
    import pandas as pd  # only where weather is read: a lab is opened without it

    table = read_package("weather", usecols=["origin", "time_hour", "wind_speed", "visib"])
    hour = pd.to_datetime(table["time_hour"], utc=True)
    table = table.assign(hour=hour)[hour.dt.tz_convert(NEW_YORK).dt.date == LATE_DAY]
    table = table.rename(columns={"wind_speed": "wind", "visib": "visibility"})
    return table[["origin", "hour", "wind", "visibility"]].reset_index(drop=True)
