"""What lab 04 does to a cluster and to its clients, and what it asks them meanwhile."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any, Self

from confluent_kafka import KafkaError, KafkaException, Message, TopicPartition

from threebrokers.errors import LabError
from threebrokers.kafka.clients import LabConsumer, LabProducer
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.partitions import existing, partition_of, topic_of
from threebrokers.ledger import Ledger
from threebrokers.waiting import quiet_wait


def controller_last(lab: Lab) -> list[int]:
    """Return the three brokers, the active controller as the last one."""
    quorum_leader = lab.cluster.state([]).quorum_leader
    return sorted(lab.cluster.brokers, key=lambda broker: broker == quorum_leader)


class Heartbeats:
    """Sends to one partition and reads from it until its `with` ends; `heard` counts by leader epoch.

    Producer and consumer wait `patience` seconds for an answer; each works in a thread of its own. The
    consumer belongs to the group and commits nothing.
    """

    def __init__(self, lab: Lab, topic: str, partition: int, group: str, patience: float) -> None:
        self.lab, self.topic, self.partition = lab, topic, partition
        self.heard: Counter[int | None] = Counter()
        self.stopped = threading.Event()
        limit = {"socket.timeout.ms": int(patience * 1000)}
        self.producer = lab.producer({"acks": "all", "request.timeout.ms": int(patience * 1000), **limit})
        self.reader = lab.consumer({"group.id": group, "enable.auto.commit": False, **limit})
        self.reader.assign([TopicPartition(topic, partition, 0)])
        self.threads = [threading.Thread(target=work) for work in (self._beat, self._listen)]

    def _beat(self) -> None:
        while not self.stopped.is_set():
            self.producer.produce(self.topic, b"I am here", partition=self.partition)
            self.producer.poll(0.05)

    def _listen(self) -> None:
        while not self.stopped.is_set():
            message = self.reader.poll(0.05)
            if message is not None and message.error() is None:
                self.heard[message.leader_epoch()] += 1

    def wait(self) -> None:
        """Wait until three more heartbeats have come that the leader of this moment has stored."""
        before = self.heard.copy()

        def heard() -> bool:
            epoch = partition_of(self.lab, self.topic, self.partition).leader_epoch
            return self.heard[epoch] >= before[epoch] + 3

        self.lab.wait_until(heard, what="heartbeats from the leader", within=30)

    def __enter__(self) -> Self:
        for thread in self.threads:
            thread.start()
        self.wait()
        return self

    def __exit__(self, *fault: object) -> None:
        self.stopped.set()
        for thread in self.threads:
            thread.join()


def leads_nothing(lab: Lab, broker: int, topic: str) -> bool:
    """Tell whether a broker leads no partition of a topic."""
    partitions = topic_of(lab, topic).partitions
    return broker not in {partition.leader for partition in partitions}


def leaderless_everywhere(lab: Lab, topic: str) -> bool:
    """Tell whether two brokers answer and both know of a partition that nobody leads.

    A producer may ask either of them.
    """
    views = [existing(view.topic(topic), topic) for view in lab.cluster.views([topic]).values()]
    return [None in {p.leader for p in view.partitions} for view in views] == [True, True]


def through_a_kill(lab: Lab, topic: str) -> Iterator[int]:
    """Yield the numbers 0 to 149, and break something on the way.

    After 50 the followers get nothing more from the leader, after 100 the leader is killed; in the end all
    brokers are there.
    """
    leader, cluster = partition_of(lab, topic).leader, lab.cluster
    if leader is None:
        raise LabError(f"Nobody leads '{topic}': run the exercise's cell again from its first line.")

    def copied() -> bool:
        return (partition_of(lab, topic).high_watermark or 0) >= 50

    def stored() -> bool:
        return (dict(partition_of(lab, topic).log_end_offsets).get(leader) or 0) >= 100

    try:
        yield from range(50)
        lab.wait_until(copied, what="the first 50 to be replicated", within=5)
        cluster.cut(leader, "brokers")  # followers get nothing more; heartbeats go on
        yield from range(50, 100)
        quiet_wait(stored, within=1)
        cluster.kill(leader)
        cluster.heal(leader)
        yield from range(100, 150)
    finally:
        cluster.up()


def two_writers(ledger: Ledger) -> tuple[dict[Any, LabProducer], dict[Any, list[str]]]:
    """Return a producer with acks=1 and one with acks=all, which give up after 2 s, and what each is told.

    Both are found by their acks, 1 and "all". A producer is told "acknowledged", or the name of an error.
    """
    told: dict[Any, list[str]] = {1: [], "all": []}
    writers = {
        acks: ledger.producer(
            {
                "acks": acks,
                "linger.ms": 0,
                "message.timeout.ms": 2000,
                "on_delivery": lambda error, message, acks=acks: told[acks].append(
                    error.name() if error else "acknowledged"
                ),
            }
        )
        for acks in told
    }
    return writers, told


class Asker:
    """Sends records with acks=all to a topic until one is refused; `answers` holds what it was told.

    An answer is the name of an error, or None for a record that was acknowledged.
    """

    REFUSALS = frozenset({"NOT_ENOUGH_REPLICAS", "NOT_ENOUGH_REPLICAS_AFTER_APPEND"})

    def __init__(self, lab: Lab, topic: str) -> None:
        self.topic, self.answers = topic, set[str | None]()
        # A record that comes just before the leader knows of its shorter ISR waits in vain: so 1 s at most.
        self.producer = lab.producer({"acks": "all", "retries": 0, "request.timeout.ms": 1000})

    def was_refused(self) -> frozenset[str]:
        """Send one record; return the refusals so far."""
        self.producer.produce(self.topic, b"refused", on_delivery=self._note)
        self.producer.flush(3)
        return self.refusals

    @property
    def refusals(self) -> frozenset[str]:
        """The errors so far that say: not enough replicas."""
        return self.REFUSALS & self.answers

    def _note(self, error: KafkaError | None, message: Message) -> None:
        self.answers.add(error.name() if error else None)


def coordinator_of(lab: Lab, group: str) -> int:
    """Return the broker that coordinates a group, as the AdminClient tells it. Raises LabError after 20 s."""

    def ask() -> int | None:
        try:
            described = lab.admin().describe_consumer_groups([group], request_timeout=5)
            coordinator: int = described[group].result().coordinator.id
            return coordinator
        except KafkaException:  # a new coordinator reads all offsets before it answers
            return None

    return lab.wait_until(ask, what="the coordinator to answer", within=20)


def member_of_new_group(lab: Lab, topic: str, prefix: str) -> tuple[str, LabConsumer]:
    """Return a new group and a member that has read 20 records; the topic's leader does not coordinate it.

    The group's name begins with `prefix`.
    """
    leader = topic_of(lab, topic).partitions[0].leader
    wanted = [broker for broker in controller_last(lab) if broker != leader]
    found: dict[int, str] = {}
    for _ in range(12):  # who coordinates a group depends on its name: a few names give a choice
        name = f"{prefix}-{time.time_ns()}"
        found[coordinator_of(lab, name)] = name
        if wanted[0] in found:
            break
    group = next(found[broker] for broker in wanted if broker in found)
    reader = lab.consumer({"group.id": group, "auto.offset.reset": "earliest", "enable.auto.commit": False})
    reader.subscribe([topic])
    read_and_commit(lab, reader)
    return group, reader


def read_and_commit(lab: Lab, reader: LabConsumer) -> None:
    """Read 20 records and commit them, however often that must be tried."""
    messages: list[Message] = []
    while len(messages) < 20:
        messages += reader.consume(20 - len(messages), timeout=0.5)

    def commit() -> list[TopicPartition] | None:
        try:
            offsets: list[TopicPartition] = reader.commit(message=messages[-1], asynchronous=False)
            return offsets
        except KafkaException as fault:
            print("not yet:", fault.args[0].name())
            return None

    lab.wait_until(commit, what="a commit", within=30)
