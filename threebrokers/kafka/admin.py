"""Asking brokers with a client of confluent-kafka, which asks whichever of them it likes.

It is imported when a client is made: who only starts, stops or looks at brokers does without.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from threebrokers.kafka import client_settings

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient, ResourceType

ANSWER_SECONDS = 10.0


def admin(bootstrap: str) -> "AdminClient":
    """Return a fresh AdminClient that looks again soon when a broker does not answer."""
    from confluent_kafka.admin import AdminClient

    return AdminClient(client_settings.admin(bootstrap))


def change_config(
    client: "AdminClient", kind: "ResourceType", name: str, config: Mapping[str, str | None]
) -> None:
    """Set some settings of a topic, group or broker; None takes its own value away, so the default counts.

    Raises KafkaException if the brokers refuse it, or do not answer for 10 s.
    """
    from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource

    entries = [
        ConfigEntry(
            setting,
            value,
            incremental_operation=AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET,
        )
        for setting, value in config.items()
    ]
    asked = ConfigResource(kind, name, incremental_configs=entries)
    for future in client.incremental_alter_configs([asked], request_timeout=ANSWER_SECONDS).values():
        future.result()
