"""The outages that labs ask for: each can be asked for in any state of the cluster, and again."""

from collections.abc import Collection

from threebrokers.cluster.recovery import partitions_of, wait_everywhere
from threebrokers.kafka.state import ClusterState, TopicState
from threebrokers.lab.lab import Lab

PARTITIONS, COPIES = 13, 3


def take_down(lab: Lab, broker: int, names: Collection[str]) -> None:
    """Kill a broker unless it is down, and wait until no partition of these topics counts on it.

    Every running broker must know it. Raises LabError after 20 s.
    """
    if lab.cluster.processes()[broker].state != "down":
        lab.cluster.kill(broker)
    wait_everywhere(
        lab.cluster, f"the others to miss broker {broker}", lambda view: _without(view, broker, names)
    )


def unbalanced_topic(lab: Lab, name: str, broker: int) -> str:
    """Return a topic of 13 partitions and 3 copies in which this broker leads nothing, as after its return.

    A topic that is already so is kept. The broker is frozen until the others lead, and then goes on.
    """
    lab.cluster.wait_in_sync()
    full = lab.topic(name)
    found = lab.cluster.state([full]).topic(full)
    if found is None or not is_balanced(found):
        full = lab.fresh_topic(name, partitions=PARTITIONS, replication_factor=COPIES)
        found = lab.cluster.state([full]).topic(full)
    if found is None or any(p.leader == broker for p in found.partitions):
        lab.cluster.pause(broker)
        wait_everywhere(
            lab.cluster, f"the others to lead '{full}'", lambda view: _without(view, broker, [full])
        )
        lab.cluster.wait_in_sync([full])
    return full


def is_balanced(topic: TopicState) -> bool:
    """Tell whether the first copies of the topic's partitions are spread evenly, and so the leaders meant."""
    first = [p.replicas[0] for p in topic.partitions]
    count = [first.count(broker) for broker in sorted({b for p in topic.partitions for b in p.replicas})]
    return len(first) == PARTITIONS and len(count) == COPIES and max(count) - min(count) <= 1


def _without(view: ClusterState, broker: int, names: Collection[str]) -> bool:
    partitions = partitions_of(view, names)
    return bool(partitions) and all(p.leader != broker and broker not in p.isr for p in partitions)
