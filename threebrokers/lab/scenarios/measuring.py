"""What lessons measure, and the compose file that one of them reads."""

import fcntl
import json
import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confluent_kafka import KafkaError, Message, TopicPartition
from confluent_kafka.admin import ConfigResource, ResourceType

from threebrokers.cluster.settings import TABLE
from threebrokers.kafka.clients import LabConsumer, LabProducer
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.partitions import topic_of
from threebrokers.paths import course, home

WRITTEN_BYTES = 1 << 26

if TYPE_CHECKING:
    import pandas as pd


def compose_file() -> str:
    """Return the text of the course's docker-compose.yml."""
    return (course() / "docker-compose.yml").read_text("utf-8")


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


def megabytes_written_per_second(size: int, order: str) -> float:
    """Return how fast pieces of this size (bytes) are written to the home's disk, the best of three rounds.

    `order` is "in order" or "mixed". The pieces replace bytes of a file, and the disk must have each of them
    before the next one follows.
    """
    places = list(range(0, WRITTEN_BYTES, size))
    if order == "mixed":
        random.shuffle(places)
    count = min(100, len(places) // 3)
    with tempfile.TemporaryFile(dir=home()) as file:
        file.write(bytes(WRITTEN_BYTES))
        file.flush()
        os.fsync(file.fileno())
        rounds = (places[start : start + count] for start in range(0, 3 * count, count))
        return max(_forced(file.fileno(), os.urandom(size), one) for one in rounds)


def _forced(file: int, piece: bytes, places: Sequence[int]) -> float:
    start = time.perf_counter()
    for place in places:
        os.pwrite(file, piece, place)
        _force(file)
    return len(places) * len(piece) / 1e6 / (time.perf_counter() - start)


def _force(file: int) -> None:
    """Wait until the disk has what was written; on macOS `fsync` leaves it in the disk's own memory."""
    if hasattr(fcntl, "F_FULLFSYNC"):
        with suppress(OSError):  # a file system of a network knows no such order
            fcntl.fcntl(file, fcntl.F_FULLFSYNC)
            return
    getattr(os, "fdatasync", os.fsync)(file)


def broker_settings(lab: Lab, names: Sequence[str], broker: int = 1) -> "pd.DataFrame":
    """Return these settings as a broker tells them now, each beside Kafka's own default."""
    import pandas as pd  # only where a table is shown

    asked = ConfigResource(ResourceType.BROKER, str(broker))
    told = lab.admin().describe_configs([asked], request_timeout=10)[asked].result()
    changed = {setting.name: setting.default for setting in TABLE}
    rows = {name: [told[name].value, changed.get(name, told[name].value)] for name in names}
    return pd.DataFrame(rows, index=["here", "Kafka's default"]).T


def who_leads(lab: Lab, topic: str) -> "pd.DataFrame":
    """Return of how many partitions of a topic each broker is the leader, and the preferred leader."""
    import pandas as pd  # only where a table is shown

    partitions = topic_of(lab, topic).partitions
    leads = Counter(p.leader for p in partitions)
    first = Counter(p.replicas[0] for p in partitions)
    rows = {f"broker {b}": [leads[b], first[b]] for b in lab.cluster.brokers}
    return pd.DataFrame(rows, index=["leads", "is the preferred leader of"]).T


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


def stored_bytes(lab: Lab, topic: str) -> dict[int, int]:
    """Return the bytes of each replica of partition 0, the leader's first, once all have the same files."""
    partition = topic_of(lab, topic).partitions[0]
    brokers = sorted(partition.replicas, key=lambda broker: broker != partition.leader)

    def complete() -> dict[int, int] | None:
        files = {broker: lab.cluster.segments(topic, 0, broker) for broker in brokers}
        sizes = {broker: sum(path.stat().st_size for path in paths) for broker, paths in files.items()}
        return sizes if len(set(sizes.values())) == 1 else None

    return lab.wait_until(complete, what="all replicas to be complete")


def bytes_by_broker(lab: Lab, topic: str, records: int, config: Mapping[str, Any]) -> list[int]:
    """Read a topic of 3 partitions and records of 1,000 bytes; return the bytes that each broker sent.

    `config` are the consumer's settings, with its group.
    """
    received: dict[int, int] = {}
    reports = count = 0

    def note(statistics: str) -> None:
        nonlocal reports
        reports += 1
        brokers = json.loads(statistics)["brokers"].values()
        received.update({b["nodeid"]: b["rxbytes"] for b in brokers if b["nodeid"] in lab.cluster.brokers})

    watch = {"statistics.interval.ms": 100, "stats_cb": note}
    reader = lab.consumer({"enable.auto.commit": False, **config, **watch})
    reader.assign([TopicPartition(topic, partition, 0) for partition in range(3)])
    while count < records:
        count += len(reader.consume(500, timeout=0.2))
    # The first report may have been made before the last records came.
    last = reports + 2
    while reports < last:
        reader.poll(0.2)
    reader.close()
    return [received.get(broker, 0) for broker in lab.cluster.brokers]
