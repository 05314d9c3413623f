"""The state of the cluster as a plain value: pictures, checks, events and recordings are made of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class BrokerState:
    """One broker at one moment.

    `state` is 'up', 'paused', 'down', or 'unknown': its process is there (or cannot be seen) and it
    answers nobody. `since` (s since 1970) is when it was first seen so. `registered` says whether the
    others count it as alive, or did so when one of them last answered. `address` ("host:port") is the one
    that it advertises to clients. `rss` is in bytes.
    """

    id: int
    state: str
    since: float
    registered: bool = False
    address: str = ""
    rss: int = 0


@dataclass(frozen=True)
class PartitionState:
    """One partition at one moment; offsets are None where nobody told them.

    `high_watermark` is the offset before which consumers may read, and `last_stable_offset` the one before
    which they may with read_committed. `log_end_offsets` holds each broker's own copy: (broker, the offset
    that its next record gets). `stale_leaders` are brokers that believe they lead although a newer leader is
    known. `elr` are the eligible leader replicas: not in sync, and safe to elect all the same.
    """

    topic: str
    id: int
    leader: int | None
    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    log_start_offset: int | None = None
    high_watermark: int | None = None
    log_end_offsets: tuple[tuple[int, int], ...] = ()
    stale_leaders: tuple[int, ...] = ()
    last_stable_offset: int | None = None
    elr: tuple[int, ...] = ()

    @property
    def log_end_offset(self) -> int | None:
        """The log end offset of the leader's copy."""
        return dict(self.log_end_offsets).get(self.leader) if self.leader is not None else None


@dataclass(frozen=True)
class TopicState:
    """A topic and its partitions, in order.

    A topic that is made anew has another `id`; it is empty where nobody told it.
    """

    name: str
    partitions: tuple[PartitionState, ...]
    id: str = ""


@dataclass(frozen=True)
class MemberState:
    """A member of a group, and the (topic, partition) pairs that are assigned to it."""

    id: str
    client: str
    partitions: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class GroupState:
    """A group: Kafka's word for its state, its coordinator, its members.

    `committed` holds (topic, partition, offset).
    """

    name: str
    state: str
    coordinator: int | None
    members: tuple[MemberState, ...] = ()
    committed: tuple[tuple[str, int, int], ...] = ()


@dataclass(frozen=True)
class ClusterState:
    """The whole cluster at one moment. `at` is in s since 1970.

    The brokers were asked at `asked_at` and had answered at `at`: each thing was so at some time between, and
    nothing tells in which order things were so. `informed` says whether the active controller told of the
    topics itself; another broker may tell what is no longer so.
    `quorum_leader` is the active controller. `last_response_at` is when a broker last told of topics: if that
    is before `at`, nobody answered this time and topics are those of then.
    """

    at: float
    brokers: tuple[BrokerState, ...]
    quorum_leader: int | None = None
    quorum_leader_epoch: int = -1
    topics: tuple[TopicState, ...] = ()
    groups: tuple[GroupState, ...] = ()
    last_response_at: float | None = None
    asked_at: float | None = None
    informed: bool = True

    @property
    def registered(self) -> frozenset[int]:
        """The brokers that count as alive."""
        return frozenset(broker.id for broker in self.brokers if broker.registered)

    def broker(self, number: int) -> BrokerState | None:
        """Return the broker of this number, or None."""
        return next((broker for broker in self.brokers if broker.id == number), None)

    def topic(self, name: str) -> TopicState | None:
        """Return the topic of this name, or None if nobody told of it."""
        return next((topic for topic in self.topics if topic.name == name), None)


def lag(state: ClusterState, group: GroupState, topic: str, partition: int) -> int | None:
    """Return how many offsets lie between what the group committed and what it may read.

    None if the group committed nothing there, or the partition's high watermark is not known.
    """
    committed = {(t, p): offset for t, p, offset in group.committed}.get((topic, partition))
    found = state.topic(topic)
    readable = (
        next((p.high_watermark for p in found.partitions if p.id == partition), None) if found else None
    )
    return None if committed is None or readable is None else max(0, readable - committed)


def remembering(before: ClusterState | None, after: ClusterState) -> ClusterState:
    """Return a state with the quorum's leader of the one before, if nobody told of one this time.

    A controller that missed one question still leads; if its process is not up, nobody is known to lead.
    """
    if after.quorum_leader is not None or before is None or before.quorum_leader is None:
        return after
    last = after.broker(before.quorum_leader)
    return replace(after, quorum_leader=before.quorum_leader) if last and last.state == "up" else after


def offsets_partition(partitions: Sequence[PartitionState], group: str) -> PartitionState:
    """Return the partition of `__consumer_offsets` that is a group's own (GroupCoordinator.partitionFor)."""
    code = 0
    for letter in group:  # Java's String.hashCode; names of groups have no letters beyond 16 bits here
        code = (31 * code + ord(letter)) & 0xFFFFFFFF
    signed = code - (1 << 32) if code >= 1 << 31 else code
    return partitions[abs(signed) % len(partitions)]
