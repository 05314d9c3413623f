"""The bench before an experiment: all brokers are there, all copies equal, and first replicas lead."""

from confluent_kafka import ElectionType, KafkaException
from confluent_kafka.admin import AdminClient

from threebrokers.cluster import Cluster
from threebrokers.kafka.state import PartitionSight
from threebrokers.waiting import wait_until

CALM_SECONDS = 40.0
CALL_SECONDS = 5.0


def calm(cluster: Cluster) -> None:
    """Undo every fault: start and resume brokers, heal links, wait for full ISRs, let first replicas lead.

    Raises BenchError if it takes longer than 40 s.
    """
    cluster.up(links=cluster.links)
    looker, admin = cluster.looker(), cluster.admin()

    def settled() -> bool:
        sight = looker.look(None, [])
        partitions = [partition for topic in sight.topics for partition in topic.partitions]
        if sight.quorum_leader is None or not all(broker.registered for broker in sight.brokers):
            return False
        if any(len(partition.isr) < len(partition.replicas) for partition in partitions):
            return False
        if all(_as_made(partition) for partition in partitions):
            return True
        _elect(admin)
        return False

    try:
        wait_until(
            settled,
            what="all copies to be equal again",
            within=CALM_SECONDS,
            otherwise="run the cell again, and `threebrokers doctor` if it says so twice.",
        )
    finally:
        looker.close()


def _as_made(partition: PartitionSight) -> bool:
    return partition.leader == partition.replicas[0] and not partition.claims


def _elect(admin: AdminClient) -> None:
    try:
        admin.elect_leaders(ElectionType.PREFERRED, None).result(CALL_SECONDS)
    except (KafkaException, TimeoutError):
        return  # the next look tells whether it is needed again
