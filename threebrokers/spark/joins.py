"""The course's own answers to lab 14's joins, for the cells that go on from them."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

PLANE = "manufacturer STRING, model STRING, seats INT"
ARRIVAL = "arrived TIMESTAMP, carrier STRING, flight INT, tailnum STRING, dest STRING"
LEFT = "scheduled + make_interval(0, 0, 0, 0, 0, dep_delay, 0)"
LONGEST = "12 hours"
LATE = "10 minutes"


def plane_columns(records: DataFrame) -> DataFrame:
    """Return one row for each record of the register that Spark's Kafka reader gives.

    The columns are `tailnum` (the key), `manufacturer`, `model` and `seats`, then `partition`, `offset` and
    `is_deleted`, which is true for a record without a value.
    """
    name = F.col("key").cast("string").alias("tailnum")
    plane = F.from_json(F.col("value").cast("string"), PLANE).alias("plane")
    rows = records.select(name, plane, "partition", "offset", F.isnull("value").alias("is_deleted"))
    return rows.select("tailnum", "plane.*", "partition", "offset", "is_deleted")


def latest_planes(records: DataFrame) -> DataFrame:
    """Return the register as a table: the last record of each aircraft, without the deleted ones."""
    rows = plane_columns(records)
    last = rows.groupBy("tailnum").agg(F.max_by(F.struct(*rows.columns[1:]), "offset").alias("last"))
    kept = last.where(~F.col("last.is_deleted"))
    return kept.select("tailnum", "last.manufacturer", "last.model", "last.seats")


def arrival_columns(records: DataFrame) -> DataFrame:
    """Return one row of typed columns for each record of arrivals: those of `data.late_arrivals`."""
    text = F.col("value").cast("string")
    return records.select(F.from_json(text, ARRIVAL).alias("arrival")).select("arrival.*")


def with_left(departures: DataFrame) -> DataFrame:
    """Return departures with one more column, `left`: the time at which a flight really left."""
    return departures.withColumn("left", F.expr(LEFT))


def flown(departures: DataFrame, arrivals: DataFrame, how: str = "inner") -> DataFrame:
    """Join each departure with its arrival, at most 12 hours later; state is kept for as long as that.

    `how` is "inner", or "left" for departures without an arrival too. The columns are `tailnum`, `carrier`,
    `flight`, `left` and `arrived`.
    """
    out = departures.select("tailnum", "carrier", "flight", "left").withWatermark("left", LATE).alias("out")
    back = arrivals.withWatermark("arrived", LATE).alias("back")
    same = " AND ".join(f"out.{name} = back.{name}" for name in ("tailnum", "carrier", "flight"))
    both = out.join(back, F.expr(f"{same} AND arrived BETWEEN left AND left + INTERVAL {LONGEST}"), how)
    return both.select("out.*", "arrived")
