"""Asking brokers with a client of confluent-kafka, which asks whichever of them it likes.

It is imported when a client is made: who only starts, stops or looks at brokers does without.
"""

from typing import TYPE_CHECKING

from threebrokers.kafka import client_settings
from threebrokers.kafka.state import METADATA_SECONDS

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient


def registered(admin: "AdminClient") -> set[int]:
    """Return the brokers that are registered, as one of them says; none if none answers within 2 s."""
    from confluent_kafka import KafkaException

    try:
        return set(admin.list_topics(timeout=METADATA_SECONDS).brokers)
    except KafkaException:
        return set()


def admin(bootstrap: str) -> "AdminClient":
    """Return a fresh AdminClient that looks again soon when a broker does not answer."""
    from confluent_kafka.admin import AdminClient

    return AdminClient(client_settings.admin(bootstrap))
