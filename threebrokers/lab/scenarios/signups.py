"""Sign-ups that hold passwords until a moment at which their program was mended, for lab 08."""

import json
from typing import Any

from threebrokers import clock
from threebrokers.lab.lab import Lab

MINUTE_MS = 60_000
SIGNUPS = 40  # in each partition
LEAKY = {0: 30, 1: 18, 2: 24}  # so many of them hold a password


def leaky_signups(lab: Lab) -> tuple[str, int]:
    """Return a new topic of three partitions with 40 sign-ups each, and the moment (ms) of the repair.

    One came each minute to each partition; what is older than that moment holds a password.
    """
    topic, mended = (
        lab.fresh_topic("signups", partitions=len(LEAKY)),
        clock.now_ms() - 60 * MINUTE_MS,
    )
    producer = lab.producer({"enable.idempotence": True, "linger.ms": 20})
    for partition, leaky in LEAKY.items():
        for number in range(SIGNUPS):
            producer.produce(
                topic,
                json.dumps(signup(partition, number)),
                partition=partition,
                timestamp=mended + (number - leaky) * MINUTE_MS,
            )
    producer.flush()
    return topic, mended


def signup(partition: int, number: int) -> dict[str, Any]:
    """Return one sign-up."""
    user = {"user": f"user {partition}-{number}"}
    return {**user, "password": "secret"} if number < LEAKY[partition] else user
