"""Measurements of the brokers themselves; times in seconds, memory in MB."""

import re
import time
from collections.abc import Callable
from pathlib import Path

from confluent_kafka import ElectionType

from threebrokers.cluster import Cluster, topics
from threebrokers.kafka.state import PartitionState
from threebrokers.waiting import wait_until

WITHIN = 60.0
TOPIC, PARTITIONS = "bench", 12


def start(home: Path) -> tuple[float, float]:
    """Start a cluster in a home that does not exist yet; return how long it took, and its memory."""
    home.mkdir()
    cluster = Cluster(home)
    try:
        began = time.monotonic()
        cluster.up()
        return time.monotonic() - began, memory(cluster)
    finally:
        cluster.erase()


def reset(cluster: Cluster) -> float:
    """Reset a cluster that runs and return how long it took."""
    began = time.monotonic()
    cluster.reset()
    return time.monotonic() - began


def memory(cluster: Cluster) -> float:
    """Return the resident memory of all three brokers; what they share is counted three times."""
    return sum(process.rss for process in cluster.processes().values()) / 1_000_000


def failsafe(cluster: Cluster) -> str:
    """Make a topic whose partitions have a copy on every broker, and return its name."""
    topics.create(cluster, TOPIC, PARTITIONS, 3, {"min.insync.replicas": "2"})
    return TOPIC


def kill_and_return(cluster: Cluster, topic: str, controller: bool) -> tuple[float, float]:
    """Kill a broker that leads partitions, and start it again.

    Return the time from the kill until every other broker knows a leader for each partition, and the
    time from the start until every broker knows all copies to be in sync. `controller` chooses whether
    it is the one that leads the metadata quorum.
    """
    _lead_as_made(cluster, topic)
    leader = _quorum_leader(cluster)
    victim = leader if controller else min(set(cluster.brokers) - {leader})
    others = [n for n in cluster.brokers if n != victim]
    began = time.monotonic()
    cluster.kill(victim)
    _until(cluster, topic, others, "a leader for every partition", lambda p: p.leader in others)
    led = time.monotonic()
    # What is measured next must start when the cluster has noticed the death altogether.
    _until(cluster, topic, others, "the dead broker to leave the ISR", lambda p: victim not in p.isr)
    restarted = time.monotonic()
    cluster.start(victim)
    everyone = list(cluster.brokers)
    _until(cluster, topic, everyone, "every copy in sync", lambda p: set(p.isr) == set(p.replicas))
    return led - began, time.monotonic() - restarted


def _lead_as_made(cluster: Cluster, topic: str) -> None:
    """Give each partition back to its first copy, so that whoever is killed leads some of them."""
    everyone = list(cluster.brokers)
    _until(cluster, topic, everyone, "every copy in sync", lambda p: set(p.isr) == set(p.replicas))
    admin = cluster.admin()
    admin.elect_leaders(ElectionType.PREFERRED, None).result()
    _until(cluster, topic, everyone, "first leaders", lambda p: p.leader == p.replicas[0])


def _quorum_leader(cluster: Cluster) -> int:
    told = cluster.tool("kafka-metadata-quorum", "describe", "--status")
    found = re.search(r"LeaderId:\s+(\d+)", told)
    assert found is not None, told
    return int(found[1])


def _until(
    cluster: Cluster, topic: str, brokers: list[int], what: str, so: Callable[[PartitionState], bool]
) -> None:
    def everywhere() -> bool:
        views = cluster.views([topic])
        told = [views[n].topic(topic) for n in brokers if n in views]
        partitions = [p for view in told if view for p in view.partitions]
        return len(partitions) == len(brokers) * PARTITIONS and all(map(so, partitions))

    wait_until(everywhere, what=what, within=WITHIN, otherwise="see the brokers' logs.")
