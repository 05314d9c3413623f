"""The state of a cluster as a plain value."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient, PartitionMetadata

METADATA_SECONDS = 2.0


@dataclass(frozen=True)
class Broker:
    """A broker that is registered and answers for itself."""

    id: int
    host: str
    port: int


@dataclass(frozen=True)
class Partition:
    """One partition: who leads it, where its copies are, which of them are in sync."""

    topic: str
    id: int
    leader: int | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]


@dataclass(frozen=True)
class Topic:
    """A topic and its partitions, in order."""

    name: str
    partitions: tuple[Partition, ...]


@dataclass(frozen=True)
class ClusterState:
    """What one broker says about the whole cluster, at one moment."""

    brokers: tuple[Broker, ...]
    topics: tuple[Topic, ...]

    def topic(self, name: str) -> Topic | None:
        """Return the topic of this name, or None if there is none."""
        return next((topic for topic in self.topics if topic.name == name), None)


def read_state(admin: "AdminClient", topics: list[str] | None = None) -> ClusterState:
    """Read the cluster's state from its metadata: of all topics, or of those named.

    A topic that does not exist is left out. Raises KafkaException if no broker answers within 2 s.
    """
    told = admin.list_topics(timeout=METADATA_SECONDS)
    names = sorted(told.topics) if topics is None else topics
    return ClusterState(
        brokers=tuple(Broker(b.id, str(b.host), b.port) for _, b in sorted(told.brokers.items())),
        topics=tuple(
            Topic(name, tuple(_partition(name, p) for _, p in sorted(told.topics[name].partitions.items())))
            for name in names
            if name in told.topics and told.topics[name].error is None
        ),
    )


def _partition(topic: str, told: "PartitionMetadata") -> Partition:
    leader = None if told.leader < 0 else told.leader
    return Partition(topic, told.id, leader, tuple(told.replicas), tuple(sorted(told.isrs)))
