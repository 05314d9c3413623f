"""With which settings the course's own clients are made; whoever reads them needs no confluent_kafka."""

import logging
from collections.abc import Mapping
from typing import Any

from threebrokers.kafka import access

# librdkafka would write to stderr, which a notebook shows as a red block in some later cell.
SILENCE = logging.getLogger("threebrokers.silence")
SILENCE.addHandler(logging.NullHandler())
SILENCE.propagate = False


def shared(bootstrap: str, logger: logging.Logger = SILENCE) -> dict[str, Any]:
    """Return what every client has: a lab's brokers come and go within seconds, so it looks again soon.

    On a cluster that is not the learner's that is also how to get in.
    """
    return {
        **access.settings_for(bootstrap),
        "bootstrap.servers": bootstrap,
        "reconnect.backoff.ms": 50,
        "reconnect.backoff.max.ms": 500,
        "logger": logger,
    }


def is_new_protocol(config: Mapping[str, Any]) -> bool:
    """Tell whether a consumer's group is of the new protocol; the client takes the value in capitals, too."""
    return str(config.get("group.protocol", "")).lower() == "consumer"


def admin(bootstrap: str) -> dict[str, Any]:
    """Return the settings of an AdminClient, which is asked while brokers start."""
    sooner = {"reconnect.backoff.ms": 20, "reconnect.backoff.max.ms": 200, "socket.timeout.ms": 5000}
    return shared(bootstrap) | sooner


def reader(bootstrap: str, group: str, isolation: str) -> dict[str, Any]:
    """Return the settings of a consumer that reads a log to its end and changes nothing.

    It never joins its group: partitions are assigned by hand.
    """
    return shared(bootstrap) | {
        "group.id": access.prefixed(group),
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "isolation.level": isolation,
    }
