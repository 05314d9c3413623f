"""The flights of 2013, and the topics that hold them."""

from threebrokers.data.aircraft import AIRCRAFT, departures_by_java, partitions_by_aircraft
from threebrokers.data.arrivals import arrivals_topic, late_arrivals
from threebrokers.data.flights import flight_messages, flights_file, load_flights
from threebrokers.data.registers import load_planes, load_weather, planes_topic, weather_topic
from threebrokers.data.replay import late_departures, replay_topic
from threebrokers.data.reports import repeated_reports, reports_topic
from threebrokers.data.tasks import found_by_tasks
from threebrokers.data.topics import ensure_flights, has_all_flights, month_topic, send, send_ten_days

__all__ = [
    "AIRCRAFT",
    "arrivals_topic",
    "departures_by_java",
    "ensure_flights",
    "flight_messages",
    "flights_file",
    "found_by_tasks",
    "has_all_flights",
    "late_arrivals",
    "late_departures",
    "load_flights",
    "load_planes",
    "load_weather",
    "month_topic",
    "partitions_by_aircraft",
    "planes_topic",
    "repeated_reports",
    "replay_topic",
    "reports_topic",
    "send",
    "send_ten_days",
    "weather_topic",
]
