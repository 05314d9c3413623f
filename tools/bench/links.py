"""What a write costs over the links, and how long a cut lasts."""

import statistics
import time
from dataclasses import dataclass

from confluent_kafka import Producer

from threebrokers.cluster import Cluster, topics
from threebrokers.kafka.state import PartitionState
from threebrokers.waiting import quiet_wait

TOPIC, WITHIN = "links", 60.0
SINGLE, MANY, BYTES = 300, 60_000, 1000


@dataclass(frozen=True)
class Cost:
    """One record at a time with acks=all (median, ms), and many at once (MB/s)."""

    latency: float
    throughput: float


def cost(cluster: Cluster) -> Cost:
    """Send over the links."""
    cluster.up()
    topics.delete(cluster, [TOPIC])
    topics.create(cluster, TOPIC, 3, 3, {"min.insync.replicas": "2"})
    common = {"bootstrap.servers": cluster.bootstrap, "acks": "all", "queue.buffering.max.messages": MANY}
    return Cost(_latency(Producer({**common, "linger.ms": 0})), _throughput(Producer(common)))


def cut(cluster: Cluster) -> tuple[float, float]:
    """Cut off a leader: return the time to a new one, and from healing to full ISR (s)."""
    cluster.up()
    old = _partition(cluster).leader or 1
    began = time.monotonic()
    cluster.cut(old)
    assert quiet_wait(lambda: _partition(cluster).leader not in (None, old), WITHIN)
    led = time.monotonic()
    assert quiet_wait(lambda: old not in _partition(cluster).isr, WITHIN)
    healed = time.monotonic()
    cluster.heal()
    assert quiet_wait(lambda: len(_partition(cluster).isr) == 3, WITHIN)
    return led - began, time.monotonic() - healed


def _partition(cluster: Cluster) -> PartitionState:
    found = cluster.state([TOPIC]).topic(TOPIC)
    assert found is not None
    return found.partitions[0]


def _latency(producer: Producer) -> float:
    seconds = []
    for number in range(SINGLE):
        began = time.perf_counter()
        producer.produce(TOPIC, b"x" * 100, partition=number % 3)
        producer.flush()
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds[SINGLE // 10 :]) * 1000


def _throughput(producer: Producer) -> float:
    value = b"x" * BYTES
    began = time.perf_counter()
    for number in range(MANY):
        producer.produce(TOPIC, value, partition=number % 3)
    assert producer.flush(WITHIN) == 0
    return MANY * BYTES / 1e6 / (time.perf_counter() - began)
