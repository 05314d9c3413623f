"""Departures by airport and window of time: as a stream counts them, and by the package's own table."""

from datetime import timedelta

import pandas as pd
from pyspark.sql import DataFrame, SparkSession

from threebrokers.data.replay import late_departures
from threebrokers.errors import LabError

HOUR = timedelta(hours=1)


def windows_of_package(
    length: timedelta = HOUR, step: timedelta = HOUR, time: str = "scheduled"
) -> "pd.Series[int]":
    """Return how many flights of the late day are in each window, by airport and its begin (UTC).

    A window is `length` long, and one begins every `step`; a flight is in each window that holds its
    `time` ("scheduled", or "left"). Windows without flights are left out.
    """
    table = late_departures()
    moments = table[time].dt.tz_convert("UTC").dt.tz_localize(None)
    latest = moments.dt.floor(step)
    begins = [latest - step * back for back in range(length // step)]
    parts = [pd.DataFrame({"origin": table["origin"], "start": begin}) for begin in begins]
    return pd.concat(parts).groupby(["origin", "start"]).size().rename("flights")


def windows_of_stream(table: DataFrame) -> "pd.Series[int]":
    """Return what a query has counted in each window, by airport and begin of the window (UTC).

    `table` has the columns window, origin and count. Of several rows for one window, which a query in the
    mode update writes, the largest count is the last.
    """
    found = table.selectExpr("origin", "window.start AS start", "count AS flights").toPandas()
    rows = pd.DataFrame(found)
    return rows.groupby(["origin", "start"])["flights"].max()


def beyond_plan(counted: "pd.Series[int]") -> tuple[str, pd.Timestamp] | None:
    """Return the first airport and begin of a window with more flights than that hour of the plan has."""
    right = windows_of_package()
    return next((place for place, count in counted.items() if count > right.get(place, 0)), None)


def missing_flights(counted: "pd.Series[int]") -> int:
    """Return how many flights the windows of a stream lack, against the package's own table.

    Raises LabError if its windows are not the hours of the plan.
    """
    right = windows_of_package()
    if (place := beyond_plan(counted)) is not None:
        origin, start = place
        raise LabError(
            f"The table has {counted[place]} flights of {origin} in a window from {start:%d %b %H:%M}, and "
            f"in that hour {right.get(place, 0)} were planned",
            'count by F.window("scheduled", "1 hour") and airport',
        )
    return int(sum(right[place] - count for place, count in counted.items()))


def missing_from(spark: SparkSession, name: str) -> tuple[int, float]:
    """Return how many flights the finished windows of the table `name` lack, and which share of all (%)."""
    missing = missing_flights(windows_of_stream(spark.table(name)))
    return missing, 100 * missing / len(late_departures())
