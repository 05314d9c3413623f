"""The outages that labs ask for: each can be asked for in any state of the cluster, and again."""

from collections.abc import Collection
from itertools import permutations

from threebrokers.cluster.recovery import partitions_of, wait_everywhere
from threebrokers.kafka.log_reader import read_log
from threebrokers.kafka.state import ClusterState, TopicState
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.partitions import topic_of

ORDERS = tuple(permutations((1, 2, 3)))  # each order in which a partition can list three replicas
RETURNED, AWAY = 2, 3
LEADERS = (1, 1, 1, 2, 1, 2)  # who leads the partitions with these orders after both outages


def take_down(lab: Lab, broker: int, names: Collection[str]) -> None:
    """Kill a broker unless it is down, and wait until no partition of these topics counts on it.

    Every running broker must know it. Raises LabError after 40 s, and before the kill if a topic is missing.
    """
    for name in names:
        topic_of(lab, name)
    if lab.cluster.processes()[broker].state != "down":
        lab.cluster.kill(broker)
    wait_everywhere(
        lab.cluster, f"the others to miss broker {broker}", lambda view: _without(view, broker, names)
    )


def readable(lab: Lab, topic: str) -> int:
    """Return how many records of a topic can be read now: those of the partitions that have a leader."""
    led = [p.id for p in topic_of(lab, topic).partitions if p.leader is not None]
    return len(read_log(lab.bootstrap, topic, partitions=led))


def after_two_outages(lab: Lab, name: str) -> str:
    """Return a topic of 6 partitions, one for each order of three replicas, as two outages leave it.

    Broker 2 was frozen, and is in sync again; then broker 3 was killed. A topic that is already so is kept.
    """
    full = lab.topic(name)
    if not is_after_two_outages(lab.cluster.state([full]).topic(full)):
        lab.cluster.wait_in_sync()
        lab.fresh_topic(name, partitions=len(ORDERS), brokers=ORDERS)
        lab.cluster.pause(RETURNED)
        wait_everywhere(
            lab.cluster, f"the others to lead '{full}'", lambda view: _without(view, RETURNED, [full])
        )
        lab.cluster.wait_in_sync([full])
    take_down(lab, AWAY, [full])
    return full


def is_after_two_outages(topic: TopicState | None) -> bool:
    """Tell whether the topic's partitions are as both outages left them, and nobody has led others since."""
    partitions = topic.partitions if topic else ()
    return (
        tuple(p.replicas for p in partitions) == ORDERS
        and tuple(p.leader for p in partitions) == LEADERS
        and {p.isr for p in partitions} == {(1, 2)}
    )


def _without(view: ClusterState, broker: int, names: Collection[str]) -> bool:
    partitions = partitions_of(view, names)
    return bool(partitions) and all(p.leader != broker and broker not in p.isr for p in partitions)
