"""What all promises stand on: healthy brokers, a topic, and how an engine is looked at from outside."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import KafkaException, Producer

from threebrokers.cluster import Cluster, topics
from threebrokers.cluster.settings import BROKERS
from threebrokers.kafka.client_settings import SILENCE
from threebrokers.kafka.state import ClusterState, PartitionState
from threebrokers.waiting import poll, quiet_wait

TOPIC = "promised"
EVERYBODY = {1, 2, 3}


class Basis:
    """Fixtures for each promise. The methods here are what every engine's test answers for itself."""

    other: str  # an engine that these brokers do not run on

    def state_file(self, home: Path) -> Path:
        """Return the file in which the engine remembers ports."""
        raise NotImplementedError

    def take_away(self, cluster: Cluster, broker: int) -> None:
        """End one broker as somebody does who knows nothing of the course, and leave nothing of it."""
        raise NotImplementedError

    def births(self, cluster: Cluster) -> dict[int, object]:
        """Return for each running broker what changes whenever it is started."""
        raise NotImplementedError

    def listens_at(self, cluster: Cluster) -> set[str]:
        """Return the addresses of this machine at which brokers can be reached."""
        raise NotImplementedError

    def remains(self, home: Path) -> list[str]:
        """Return what runs for a home, or was made for running: processes, containers, networks."""
        raise NotImplementedError

    def disks(self, home: Path) -> list[str]:
        """Return where a home's brokers keep their data."""
        raise NotImplementedError

    @pytest.fixture
    def healthy(self, started: Cluster) -> Iterator[Cluster]:
        """Three healthy brokers before and after, whatever the test did."""
        started.up()
        yield started
        started.up()

    @pytest.fixture
    def topic(self, healthy: Cluster) -> str:
        topics.delete(healthy, [TOPIC])
        topics.create(healthy, TOPIC, 6, 3, {"min.insync.replicas": "2"})
        return TOPIC


def soon(cluster: Cluster, judge: Callable[[ClusterState], None], within: float = 30) -> ClusterState:
    """Look at the promised topic until `judge` finds nothing wrong, and return what was seen then.

    Raises its last AssertionError if it always does: one look may come too early, or miss an answer.
    """
    for state in poll(lambda: cluster.state([TOPIC]), within):
        try:
            judge(state)
        except AssertionError as fault:
            wrong = fault
        else:
            return state
    raise wrong


def leaders(state: ClusterState) -> set[int | None]:
    return {p.leader for p in partitions(state)}


def in_sync(state: ClusterState) -> set[tuple[int, ...]]:
    return {p.isr for p in partitions(state)}


def whole(state: ClusterState) -> None:
    """Judge that everybody is up, registered and in sync, and agrees on who leads."""
    assert [(broker.state, broker.registered) for broker in state.brokers] == [("up", True)] * 3
    assert in_sync(state) == {BROKERS}
    assert leaders(state) <= EVERYBODY
    assert state.quorum_leader in EVERYBODY
    assert [p.stale_leaders for p in partitions(state) if p.stale_leaders] == []


def partitions(state: ClusterState) -> tuple[PartitionState, ...]:
    found = state.topic(TOPIC)
    assert found is not None, "nobody told of the topic"
    return found.partitions


def producer(bootstrap: str, **settings: object) -> Producer:
    """Return a producer that soon asks another broker when one does not answer, and sends nothing twice."""
    patience = {"socket.timeout.ms": 3000, "message.timeout.ms": 20_000}
    usual = {"bootstrap.servers": bootstrap, "logger": SILENCE, "enable.idempotence": True}
    return Producer({**usual, **patience, **settings})


def send(client: Producer, *texts: str, partition: int = -1) -> list[str]:
    """Send and return what became of the records: 'ok' or the name of the fault, each once."""
    told: list[str] = []
    for text in texts:
        client.produce(
            TOPIC, text, partition=partition, on_delivery=lambda e, m: told.append(e.name() if e else "ok")
        )
    assert client.flush(30) == 0
    assert len(told) == len(texts)
    return sorted(set(told))


def quietly(look: Callable[[], object], within: float = 30) -> bool:
    """Wait for a true value; a broker that does not answer yet is no fault."""

    def attempt() -> object:
        try:
            return look()
        except KafkaException:
            return False

    return quiet_wait(attempt, within)
