"""Asking brokers with a client of confluent-kafka, which asks whichever of them it likes.

It is imported when a client is made: who only starts, stops or looks at brokers does without.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient


def admin(bootstrap: str) -> "AdminClient":
    """Return a fresh AdminClient that looks again soon when a broker does not answer."""
    from confluent_kafka.admin import AdminClient

    from threebrokers.kafka.log_reader import SILENCE

    settings: dict[str, Any] = {
        "bootstrap.servers": bootstrap,
        "broker.address.family": "v4",
        "reconnect.backoff.ms": 20,
        "reconnect.backoff.max.ms": 200,
        "socket.timeout.ms": 5000,
        "logger": SILENCE,
    }
    return AdminClient(settings)
