"""Asking brokers with a client of confluent-kafka: all of them, or one and no other.

It is imported when a client is made: who only starts, stops or looks at brokers does without.
"""

from typing import TYPE_CHECKING, Any

from threebrokers.state import METADATA_SECONDS, ClusterState, state_of

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient

VIEW_TRIES = 20


def view(address: str, topics: list[str] | None) -> ClusterState | None:
    """Ask the broker at this address and no other; None if it does not answer."""
    from confluent_kafka import KafkaException

    for _ in range(VIEW_TRIES):
        try:
            told = admin(address).list_topics(timeout=METADATA_SECONDS)
        except KafkaException:
            return None
        # A client that knows one broker soon learns of the others and may have asked one of those.
        if str(told.orig_broker_name).partition("/")[0] == address:
            return state_of(told, topics)
    return None


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

    from threebrokers.records import SILENCE

    settings: dict[str, Any] = {
        "bootstrap.servers": bootstrap,
        "broker.address.family": "v4",
        "reconnect.backoff.ms": 20,
        "reconnect.backoff.max.ms": 200,
        "socket.timeout.ms": 5000,
        "logger": SILENCE,
    }
    return AdminClient(settings)
