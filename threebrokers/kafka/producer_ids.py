"""A producer's ID as soon as a broker is connected, without the half second that librdkafka waits for it."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from confluent_kafka import KafkaException, Producer

# One that is frozen, or nobody: then the producer goes on as without this.
ANSWER_SECONDS = 1.0


def hasten(producer: Producer, config: Mapping[str, Any]) -> None:
    """Let a producer that was just made ask for its ID at once, if `config` makes it have one.

    librdkafka looks for a connected broker when a producer is made, which is too early, and then every
    500 ms (`rd_kafka_idemp_pid_timer_restart`): the first record takes half a second. But it also looks
    after each answer about metadata. The first answer may come from a bootstrap connection, which ends with
    it; the second comes from a broker that stays connected.
    """
    if not has_id(config):
        return
    with suppress(KafkaException):
        for _ in range(2):
            producer.list_topics(timeout=ANSWER_SECONDS)


def has_id(config: Mapping[str, Any]) -> bool:
    """Tell whether these settings make a producer that has an ID: an idempotent or a transactional one."""
    return str(config.get("enable.idempotence", "")).lower() == "true" or bool(config.get("transactional.id"))
