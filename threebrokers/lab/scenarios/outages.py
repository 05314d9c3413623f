"""The bench before an experiment: all brokers are there, all copies equal, and first replicas lead."""

from collections.abc import Callable, Collection

from confluent_kafka import ElectionType, KafkaException
from confluent_kafka.admin import AdminClient

from threebrokers.cluster import Cluster
from threebrokers.kafka.state import MetadataPartition, MetadataState, MetadataTopic, PartitionState
from threebrokers.lab.lab import Lab
from threebrokers.waiting import wait_until

CALM_SECONDS = 40.0
CALL_SECONDS = 5.0


def calm(cluster: Cluster) -> None:
    """Undo every fault: start and resume brokers, heal links, wait for full ISRs, let first replicas lead.

    Raises LabError if it takes longer than 40 s.
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


def _as_made(partition: PartitionState) -> bool:
    return partition.leader == partition.replicas[0] and not partition.stale_leaders


def _elect(admin: AdminClient) -> None:
    try:
        admin.elect_leaders(ElectionType.PREFERRED, None).result(CALL_SECONDS)
    except (KafkaException, TimeoutError):
        return  # the next look tells whether it is needed again


SETTLE_SECONDS = 20.0
PARTITIONS, COPIES = 13, 3


def away(lab: Lab, broker: int, names: Collection[str]) -> None:
    """Kill a broker unless it is down, and wait until no partition of these topics counts on it.

    Every running broker must know it. Raises LabError after 20 s.
    """
    if lab.cluster.processes()[broker].state != "down":
        lab.cluster.kill(broker)
    _everywhere(lab, f"the others to miss broker {broker}", lambda view: _without(view, broker, names))


def together(lab: Lab, names: Collection[str] = ()) -> None:
    """Start or resume the brokers that are missing, and wait until their copies are in sync.

    Waits for all topics, or for those named. Raises LabError after 20 s.
    """
    lab.cluster.up()
    _everywhere(lab, "all copies to be in sync", lambda view: _complete(lab, view, names))


def uneven(lab: Lab, name: str, broker: int) -> str:
    """Return a topic of 13 partitions and 3 copies in which this broker leads nothing, as after its return.

    A topic that is already so is kept. The broker is frozen until the others lead, and then goes on.
    """
    together(lab)
    full = lab.topic(name)
    found = lab.cluster.state([full]).topic(full)
    if found is None or not spread(found):
        full = lab.fresh_topic(name, partitions=PARTITIONS, replication_factor=COPIES)
        found = lab.cluster.state([full]).topic(full)
    if found is None or any(p.leader == broker for p in found.partitions):
        lab.cluster.pause(broker)
        _everywhere(lab, f"the others to lead '{full}'", lambda view: _without(view, broker, [full]))
        together(lab, [full])
    return full


def spread(topic: MetadataTopic) -> bool:
    """Tell whether the first copies of the topic's partitions are spread evenly, and so the leaders meant."""
    first = [p.replicas[0] for p in topic.partitions]
    count = [first.count(broker) for broker in sorted({b for p in topic.partitions for b in p.replicas})]
    return len(first) == PARTITIONS and len(count) == COPIES and max(count) - min(count) <= 1


def _without(view: MetadataState, broker: int, names: Collection[str]) -> bool:
    partitions = _partitions(view, names)
    return bool(partitions) and all(p.leader != broker and broker not in p.isr for p in partitions)


def _complete(lab: Lab, view: MetadataState, names: Collection[str]) -> bool:
    copies = all(set(p.isr) == set(p.replicas) and p.leader for p in _partitions(view, names))
    return copies and {b.id for b in view.brokers} == set(lab.cluster.brokers)


def _partitions(view: MetadataState, names: Collection[str]) -> list[MetadataPartition]:
    return [p for topic in view.topics if not names or topic.name in names for p in topic.partitions]


def _everywhere(lab: Lab, what: str, so: Callable[[MetadataState], bool]) -> None:
    def settled() -> bool:
        up = {n for n, process in lab.cluster.processes().items() if process.state == "up"}
        views = lab.cluster.views()
        return up <= views.keys() and all(so(view) for view in views.values())

    lab.wait_until(settled, what=what, within=SETTLE_SECONDS)
