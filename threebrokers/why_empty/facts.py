"""What is known about a topic, a group and perhaps a consumer that gets nothing: plain values."""

from dataclasses import dataclass

from threebrokers.kafka.state import BrokerState, GroupState, PartitionState

OFFSETS = "__consumer_offsets"
# Kafka's words for a group that is sharing out its partitions: two of each group protocol.
REBALANCING = ("PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling")


@dataclass(frozen=True)
class Place:
    """One partition of the topic; offsets are None where nobody told them.

    `end` is where the leader writes next, `readable` the high watermark, `stable` where the first open
    transaction begins. `position` is how far the consumer that was asked about has read. `holder` is the
    id of the member that holds it.
    """

    id: int
    leader: int | None = None
    replicas: tuple[int, ...] = ()
    start: int | None = None
    end: int | None = None
    readable: int | None = None
    stable: int | None = None
    committed: int | None = None
    position: int | None = None
    holder: str = ""

    @property
    def empty(self) -> bool:
        """Whether there is no record between its start and its end."""
        return self.start is not None and self.start == self.end

    @property
    def misplaced(self) -> bool:
        """Whether the committed offset lies where no record is, before the start or after the end."""
        known = None not in (self.committed, self.start, self.end) and self.position is None
        return known and not (self.start or 0) <= (self.committed or 0) <= (self.end or 0)


@dataclass(frozen=True)
class Client:
    """What only the consumer itself can tell.

    `reset` and `isolation` are None if they are not known; `assigned` are the topic's partitions that it
    believes to hold, `subscribed` its topics.
    """

    member: str = ""
    assigned: frozenset[int] = frozenset()
    subscribed: tuple[str, ...] = ()
    reset: str | None = None
    isolation: str | None = None
    closed: bool = False
    poll_limit: str = "300000"  # max.poll.interval.ms


@dataclass(frozen=True)
class Facts:
    """Everything that is known. `client` is None if only the group's name is.

    `heard` tells whether any broker answered; `names` are all topics; `index` is the partition of
    __consumer_offsets whose leader coordinates the group. `moved` are partitions that were read while
    they were watched, None if they were not; `barren` those where no record can be delivered from where
    the group stands. `silent` are the brokers that run and did not answer this time.
    """

    topic: str
    group: GroupState
    heard: bool = True
    exists: bool = True
    names: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    brokers: tuple[BrokerState, ...] = ()
    places: tuple[Place, ...] = ()
    index: PartitionState | None = None
    client: Client | None = None
    moved: frozenset[int] | None = None
    barren: frozenset[int] = frozenset()
    silent: frozenset[int] = frozenset()

    @property
    def by_hand(self) -> bool:
        """Whether the consumer was given its partitions with assign(), and so is no member of the group."""
        c = self.client
        return c is not None and bool(c.assigned) and not c.subscribed

    @property
    def mine(self) -> tuple[Place, ...]:
        """The partitions of the consumer that was asked about; all of them if only the name is known."""
        c = self.client
        if c is None:
            return self.places
        if self.by_hand:
            return tuple(p for p in self.places if p.id in c.assigned)
        return tuple(p for p in self.places if c.member and p.holder == c.member)

    @property
    def unheard(self) -> int:
        """How many brokers run and are counted by the others, and do not answer: the machine may be busy.

        If nobody answers, nobody tells who is counted, and all that run are meant.
        """
        if self.heard:
            return sum(broker.id in self.silent and broker.registered for broker in self.brokers)
        return sum(broker.state in ("up", "unknown") for broker in self.brokers)

    @property
    def rebalancing(self) -> bool:
        """Whether the group is sharing out its partitions now."""
        return self.group.state in REBALANCING and not self.by_hand

    @property
    def lost_coordinator(self) -> bool:
        """Whether nobody who can be asked coordinates the group. Before the first group there is nobody."""
        return self.group.coordinator is None and OFFSETS in self.names

    def next(self, place: Place) -> int | None:
        """Return the offset that is read next there; None if that is not known, or only what is new."""
        if place.position is not None:
            return place.position
        if place.committed is not None:
            return place.committed
        return place.start if self.client and self.client.reset == "earliest" else None

    def limit(self, place: Place) -> int | None:
        """Return the offset before which the consumer may read."""
        readable = place.readable
        if readable is None or place.stable is None or not self.committed_only:
            return readable
        return min(readable, place.stable)

    @property
    def committed_only(self) -> bool:
        """Whether open transactions hold the consumer back; so it is with librdkafka's default."""
        return self.client is None or self.client.isolation != "read_uncommitted"

    def waiting(self, place: Place) -> int:
        """Return how many offsets lie there between what was read and what may be read."""
        begin, limit = self.next(place), self.limit(place)
        return max(0, limit - begin) if begin is not None and limit is not None else 0

    def lag(self, place: Place) -> int | None:
        """Return how many offsets lie between what the group has committed and the high watermark."""
        if place.committed is None or place.readable is None:
            return None
        return max(0, place.readable - place.committed)

    def holder(self, place: Place) -> str:
        """Say who holds a partition."""
        mine = self.client is not None and place in self.mine
        return "this consumer" if mine else place.holder or "nobody"
