"""The flights of 2013, and the topics that hold them."""

from threebrokers.data.flights import flight_messages, flights_file, load_flights
from threebrokers.data.topics import ensure_flights, has_all_flights, month_topic, send

__all__ = [
    "ensure_flights",
    "flight_messages",
    "flights_file",
    "has_all_flights",
    "load_flights",
    "month_topic",
    "send",
]
