"""A cluster as it was before an outage: all brokers are there, replicas in sync, preferred leaders lead."""

from collections.abc import Callable, Collection
from contextlib import closing
from typing import TYPE_CHECKING, Protocol

from threebrokers.kafka.state import ClusterState, PartitionState
from threebrokers.waiting import wait_until

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient

    from threebrokers.kafka.poller import ClusterPoller

RECOVER_SECONDS, SYNC_SECONDS = 40.0, 20.0
CALL_SECONDS = 5.0
OTHERWISE = "run the cell again, and `threebrokers doctor` if it says so twice."


class Recoverable(Protocol):
    """What recovering needs of a cluster."""

    @property
    def links(self) -> bool: ...
    def up(self, *, links: bool | None = None) -> object: ...
    def admin(self) -> "AdminClient": ...
    def poller(self) -> "ClusterPoller": ...


def recover(cluster: Recoverable) -> None:
    """Do what `Cluster.recover` promises."""
    cluster.up(links=cluster.links)
    admin = cluster.admin()
    with closing(cluster.poller()) as poller:

        def recovered() -> bool:
            state = poller.poll(None)
            partitions = [partition for topic in state.topics for partition in topic.partitions]
            if state.quorum_leader is None or not _in_sync(state):
                return False
            if all(_led_as_preferred(partition) for partition in partitions):
                return True
            _elect(admin)
            return False

        wait_until(
            recovered,
            what="all replicas to be in sync, and preferred leaders to lead",
            within=RECOVER_SECONDS,
            otherwise=OTHERWISE,
        )


def wait_in_sync(cluster: Recoverable, topics: Collection[str] = ()) -> None:
    """Do what `Cluster.wait_in_sync` promises."""
    cluster.up()
    wait_everywhere(cluster, "all replicas to be in sync", lambda view: _in_sync(view, topics))


def wait_everywhere(cluster: Recoverable, what: str, true: Callable[[ClusterState], bool]) -> None:
    """Wait until every running broker says what `true` looks for. Raises LabError after 20 s."""
    with closing(cluster.poller()) as poller:

        def settled() -> bool:
            views = poller.views(None)
            return bool(views) and not poller.silent and all(true(view) for view in views.values())

        wait_until(settled, what=what, within=SYNC_SECONDS, otherwise=OTHERWISE)


def partitions_of(state: ClusterState, topics: Collection[str] = ()) -> list[PartitionState]:
    """Return the partitions of these topics, or of all if none is named."""
    return [p for topic in state.topics if not topics or topic.name in topics for p in topic.partitions]


def _in_sync(state: ClusterState, topics: Collection[str] = ()) -> bool:
    whole = all(set(p.isr) == set(p.replicas) and p.leader for p in partitions_of(state, topics))
    return whole and all(broker.registered for broker in state.brokers)


def _led_as_preferred(partition: PartitionState) -> bool:
    return partition.leader == partition.replicas[0] and not partition.stale_leaders


def _elect(admin: "AdminClient") -> None:
    from confluent_kafka import ElectionType, KafkaException  # who only looks at brokers does without

    try:
        admin.elect_leaders(ElectionType.PREFERRED, None).result(CALL_SECONDS)
    except (KafkaException, TimeoutError):
        return  # the next poll tells whether it is needed again
