"""Asking brokers with a client of confluent-kafka: all of them, or one and no other."""

from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from threebrokers.records import SILENCE
from threebrokers.state import METADATA_SECONDS, ClusterState, state_of

VIEW_TRIES = 20


def view(address: str, topics: list[str] | None) -> ClusterState | None:
    """Ask the broker at this address and no other; None if it does not answer."""
    for _ in range(VIEW_TRIES):
        try:
            told = admin(address).list_topics(timeout=METADATA_SECONDS)
        except KafkaException:
            return None
        # A client that knows one broker soon learns of the others and may have asked one of those.
        if str(told.orig_broker_name).partition("/")[0] == address:
            return state_of(told, topics)
    return None


def admin(bootstrap: str) -> AdminClient:
    """Return a fresh AdminClient that looks again soon when a broker does not answer."""
    settings: dict[str, Any] = {
        "bootstrap.servers": bootstrap,
        "broker.address.family": "v4",
        "reconnect.backoff.ms": 20,
        "reconnect.backoff.max.ms": 200,
        "socket.timeout.ms": 5000,
        "logger": SILENCE,
    }
    return AdminClient(settings)
