"""Spark for the labs: one session a kernel, and what lab 12 asks it about flights."""

from threebrokers.spark.delays import delays_picture, sums_of_package, worst_by_month
from threebrokers.spark.flights import flight_columns
from threebrokers.spark.plain import to_the_end
from threebrokers.spark.readers import board, positions, report
from threebrokers.spark.spark_session import fresh_folder, session
from threebrokers.spark.tasks import count_or_reason, last_tasks, who_read

__all__ = [
    "board",
    "count_or_reason",
    "delays_picture",
    "flight_columns",
    "fresh_folder",
    "last_tasks",
    "positions",
    "report",
    "session",
    "sums_of_package",
    "to_the_end",
    "who_read",
    "worst_by_month",
]
