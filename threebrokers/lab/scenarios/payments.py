"""Topics for lab 06: payments that cannot all be booked, many small records, a click for each minute."""

import json

from threebrokers import clock
from threebrokers.lab.lab import Lab
from threebrokers.ledger import Ledger

PAYMENTS, NO_JSON, NO_EUROS = 24, 9, 17  # two of them cannot be booked
FLOOD = 5000
MINUTES, QUIET = 90, 20  # partition 2 has got nothing for the last minutes
LATE_MINUTES = 30  # so old was what came last


def payments_with_poison(lab: Lab, name: str = "payments-in") -> tuple[str, Ledger]:
    """Return a new topic with 24 payments, and their ledger; two cannot be booked, each for its own reason.

    Each has the customer as its key, and a header `trace`. Both have this name: an exercise is judged by the
    first one, so an experiment takes another.
    """
    topic, ledger = lab.fresh_topic(name), lab.ledger(name)
    producer = ledger.producer({"enable.idempotence": True})
    for number in range(PAYMENTS):
        payment: dict[str, int] = {"payment": number, "euros": 10 + number}
        if number == NO_EUROS:
            del payment["euros"]
        value = b'{"payment": 9, "euros": 1' if number == NO_JSON else json.dumps(payment).encode()
        trace = [("trace", f"t{number:03}".encode())]
        producer.produce(topic, value, key=f"customer-{number % 5}", headers=trace)
    producer.flush()
    return topic, ledger


def flooded(lab: Lab, name: str) -> str:
    """Return a new topic of one partition with 5,000 small records."""
    topic = lab.fresh_topic(name)
    producer = lab.producer({"enable.idempotence": True, "linger.ms": 20})
    for number in range(FLOOD):
        producer.produce(topic, str(number))
    producer.flush()
    return topic


def last_minutes(lab: Lab, group: str) -> str:
    """Return a new topic with a click for each of the last 90 minutes, which `group` has read.

    It has three partitions, and the last 20 minutes are in partitions 0 and 1 only. The value is the minute.
    The last record of each of these two is half an hour old: it came late.
    """
    topic = lab.fresh_topic("webclicks", partitions=3)
    producer, now = lab.producer({"enable.idempotence": True}), clock.now_ms()
    for minute in range(MINUTES):
        among = 3 if minute < MINUTES - QUIET else 2
        stamp = now - (MINUTES - minute) * 60_000
        producer.produce(topic, str(minute), partition=minute % among, timestamp=stamp)
    for partition in range(2):
        producer.produce(topic, "late", partition=partition, timestamp=now - LATE_MINUTES * 60_000)
    producer.flush()
    reader = lab.consumer({"group.id": group, "auto.offset.reset": "earliest"})
    reader.subscribe([topic])
    count = 0
    while count < MINUTES + 2:
        count += len(reader.consume(MINUTES + 2 - count, timeout=0.2))
    reader.close()  # it commits
    return topic
