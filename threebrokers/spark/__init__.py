"""Spark for the labs: one session a kernel, its streams, and what the labs ask it about flights."""

from threebrokers.spark.books import Book
from threebrokers.spark.crashes import killed, started_again, until_done
from threebrokers.spark.delays import delays_picture, sums_of_package, worst_by_month
from threebrokers.spark.delivering import deliver
from threebrokers.spark.flights import flight_columns
from threebrokers.spark.hours import missing_from
from threebrokers.spark.joins import arrival_columns, flown, latest_planes, plane_columns, with_left
from threebrokers.spark.latency import measure_latency
from threebrokers.spark.plain import to_the_end
from threebrokers.spark.queries import refusal, start_query, until_caught_up, watch_query
from threebrokers.spark.readers import board, positions, report
from threebrokers.spark.runs import first_run
from threebrokers.spark.spark_session import folder, fresh_folder, session
from threebrokers.spark.tasks import count_or_reason, jobs_so_far, last_tasks, who_read
from threebrokers.spark.versions import keys_of_both, live_day
from threebrokers.spark.workers import kill_reader, workers_down, workers_up

__all__ = [
    "Book",
    "arrival_columns",
    "board",
    "count_or_reason",
    "delays_picture",
    "deliver",
    "first_run",
    "flight_columns",
    "flown",
    "folder",
    "fresh_folder",
    "jobs_so_far",
    "keys_of_both",
    "kill_reader",
    "killed",
    "last_tasks",
    "latest_planes",
    "live_day",
    "measure_latency",
    "missing_from",
    "plane_columns",
    "positions",
    "refusal",
    "report",
    "session",
    "start_query",
    "started_again",
    "sums_of_package",
    "to_the_end",
    "until_caught_up",
    "until_done",
    "watch_query",
    "who_read",
    "with_left",
    "workers_down",
    "workers_up",
    "worst_by_month",
]
