"""A cluster as it was before an outage: all brokers are there, replicas in sync, preferred leaders lead."""

from collections.abc import Callable, Collection
from contextlib import closing
from typing import TYPE_CHECKING, Protocol

from threebrokers.cluster.settings import BROKERS
from threebrokers.kafka.state import ClusterState, PartitionState
from threebrokers.waiting import wait_until

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient

    from threebrokers.kafka.poller import ClusterPoller

RECOVER_SECONDS, SYNC_SECONDS = 40.0, 40.0
CALL_SECONDS = 5.0
OTHERWISE = "run the cell again, and `threebrokers doctor` if it says so twice."


class Recoverable(Protocol):
    """What recovering needs of a cluster."""

    def up(self) -> object: ...
    def admin(self) -> "AdminClient": ...
    def poller(self) -> "ClusterPoller": ...


def recover(cluster: Recoverable) -> None:
    """Do what `Cluster.recover` promises."""
    cluster.up()
    admin = cluster.admin()
    with closing(cluster.poller()) as poller:

        def recovered() -> bool:
            state = poller.poll(None, patient=True)
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


def lead_without(cluster: Recoverable, broker: int) -> None:
    """Make the two other brokers lead all that they have a replica of, before one with an empty disk starts.

    Its disk may have been the last one in sync, although the others have the same records: then Kafka would
    wait for it, elect it with nothing, and the others would delete what they have. So here an unclean
    election chooses one of them. Raises LabError if they do not both run.
    """
    others = set(BROKERS) - {broker}
    admin = cluster.admin()
    with closing(cluster.poller()) as poller:

        def led() -> bool:
            state = poller.poll(None, patient=True)
            if not others <= state.registered or state.quorum_leader not in others:
                return False
            theirs = [p for p in partitions_of(state) if others & set(p.replicas)]
            orphans = [(p.topic, p.id) for p in theirs if p.leader is None]
            if orphans:
                _elect(admin, orphans)
            return all(p.leader in others for p in theirs)

        wait_until(
            led,
            what=f"the others to lead without broker {broker}, whose disk is empty",
            within=RECOVER_SECONDS,
            otherwise="both must run: `lab.cluster.up()` or `threebrokers up` starts all in the right order.",
        )


def wait_everywhere(cluster: Recoverable, what: str, true: Callable[[ClusterState], bool]) -> None:
    """Wait until every running broker says what `true` looks for. Raises LabError after 40 s."""
    with closing(cluster.poller()) as poller:

        def settled() -> bool:
            views = poller.views(None, patient=True)
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


def _elect(admin: "AdminClient", uncleanly: list[tuple[str, int]] | None = None) -> None:
    from confluent_kafka import ElectionType, KafkaException, TopicPartition  # who only looks needs none

    kind = ElectionType.PREFERRED if uncleanly is None else ElectionType.UNCLEAN
    wanted = None if uncleanly is None else [TopicPartition(*each) for each in uncleanly]
    try:
        admin.elect_leaders(kind, wanted).result(CALL_SECONDS)
    except (KafkaException, TimeoutError):
        return  # the next poll tells whether it is needed again
