"""What lessons measure, and the compose file that one of them reads."""

import json
import os
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaError, Message, TopicPartition

from threebrokers.kafka.clients import LabConsumer, LabProducer
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.partitions import topic_of
from threebrokers.paths import repo


def compose_file() -> str:
    """Return the text of the course's docker-compose.yml."""
    return (repo() / "docker-compose.yml").read_text("utf-8")


def megabytes_per_second(path: Path, places: Sequence[int], block: int, cached: bool) -> float:
    """Return how fast blocks (bytes) of a file are read from these places, in this order.

    Unless `cached` the file is taken out of the page cache first, where the system can do that (not macOS).
    """
    with path.open("rb") as file:
        if not cached and hasattr(os, "posix_fadvise"):
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        start = time.perf_counter()
        for place in places:
            os.pread(file.fileno(), block, place)
        return len(places) * block / 1e6 / (time.perf_counter() - start)


def accepted(lab: Lab, topics: Iterable[str], partitions: int = 3) -> Counter[str | None]:
    """Send one record to each partition with acks=all; return for each topic how many were accepted."""
    reports: list[tuple[KafkaError | None, Message]] = []
    settings = {"acks": "all", "message.timeout.ms": 2500}  # after this time the producer gives up
    producer = lab.producer({**settings, "on_delivery": lambda *report: reports.append(report)})
    for topic in topics:
        for partition in range(partitions):
            producer.produce(topic, "a record", partition=partition)
    producer.flush()
    return Counter(message.topic() for error, message in reports if error is None)


def send_and_read(lab: Lab, producer: LabProducer, consumer: LabConsumer, topic: str) -> dict[str, Any]:
    """Send a record; return after how many ms it was acknowledged and readable, and the ISR then."""
    sent, times = time.perf_counter(), dict[str, int]()

    def done(name: str) -> None:
        times.setdefault(name, round((time.perf_counter() - sent) * 1000))

    producer.produce(topic, "a record", on_delivery=lambda error, message: done("acknowledged"))
    while len(times) < 2:
        if consumer.poll(0.005) is not None:
            done("readable")
        producer.poll(0)
    isr = topic_of(lab, topic).partitions[0].isr
    return {**dict(sorted(times.items())), "ISR": isr}


def bytes_by_broker(lab: Lab, topic: str, records: int, config: Mapping[str, Any]) -> list[int]:
    """Read a topic of 3 partitions and records of 1,000 bytes; return the bytes that each broker sent.

    `config` are the consumer's settings, with its group.
    """
    received: dict[int, int] = {}

    def note(statistics: str) -> None:
        brokers = json.loads(statistics)["brokers"].values()
        received.update({b["nodeid"]: b["rxbytes"] for b in brokers if b["nodeid"] in lab.cluster.brokers})

    watch = {"statistics.interval.ms": 100, "stats_cb": note}
    reader = lab.consumer({"enable.auto.commit": False, **config, **watch})
    reader.assign([TopicPartition(topic, partition, 0) for partition in range(3)])
    count = 0
    while count < records or sum(received.values()) < records * 1000:
        count += len(reader.consume(500, timeout=0.2))
    reader.close()
    return [received.get(broker, 0) for broker in lab.cluster.brokers]
