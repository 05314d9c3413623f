"""Spark for the labs: one session a kernel, and what lab 12 asks it about flights."""

from threebrokers.spark.flights import delays_by_hour, flight_columns, start_board
from threebrokers.spark.spark_session import fresh_folder, session

__all__ = ["delays_by_hour", "flight_columns", "fresh_folder", "session", "start_board"]
