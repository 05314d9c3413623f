"""Asking brokers with a client of confluent-kafka, which asks whichever of them it likes.

It is imported when a client is made: who only starts, stops or looks at brokers does without.
"""

from typing import TYPE_CHECKING

from threebrokers.kafka import client_settings

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient


def admin(bootstrap: str) -> "AdminClient":
    """Return a fresh AdminClient that looks again soon when a broker does not answer."""
    from confluent_kafka.admin import AdminClient

    return AdminClient(client_settings.admin(bootstrap))
