"""What tests of facts share: topics, consumers, records with their reports, words of a row."""

import time
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer

from tests.closing import close
from threebrokers.cluster import Cluster, topics
from threebrokers.kafka import client_settings
from threebrokers.kafka.state import GroupState
from threebrokers.waiting import wait_until

READ = "asked for their defaults: librdkafka in C, Java's ConfigDef"
BROKERS = "the brokers were asked with describe_configs"
SEEN = "seen on three brokers"
MADE = "clients were made, without brokers"
NOBODY = "127.0.0.1:9"
PATIENCE = 20.0
PARTITIONS = 6
NUMBERS = count()


def shown(words: str) -> str:
    name, _, value = words.partition(" ")
    return f"`{name}` {value}" if words else ""


def quoted(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


@pytest.fixture(scope="module")
def plain(cluster: Cluster) -> Iterator[str]:
    """A topic with the brokers' own settings."""
    yield from made(cluster, "facts", PARTITIONS, {})


@pytest.fixture(scope="module")
def one(cluster: Cluster) -> Iterator[str]:
    """A topic of one partition with ten records in it."""
    for name in made(cluster, "facts-ten", 1, {}):
        deliver(cluster, name, [{"value": str(number)} for number in range(10)])
        yield name


@pytest.fixture(scope="module")
def strict(cluster: Cluster) -> Iterator[str]:
    """A topic that takes small batches only, of records with a key."""
    yield from made(cluster, "facts-strict", 1, {"max.message.bytes": "20000", "cleanup.policy": "compact"})


@pytest.fixture
def group() -> str:
    return f"facts-{next(NUMBERS)}-{time.time_ns()}"


@pytest.fixture
def consumer(cluster: Cluster, group: str) -> Iterator[Callable[..., Consumer]]:
    """Make consumers of one group that begin at the start; they are closed at the end."""
    alive: list[Consumer] = []

    def make(**settings: Any) -> Consumer:
        own = {"group.id": group, "auto.offset.reset": "earliest", "session.timeout.ms": 6000}
        given = {name.replace("_", "."): value for name, value in settings.items()}
        alive.append(Consumer(client_settings.shared(cluster.bootstrap) | own | given))
        return alive[-1]

    yield make
    close(*alive)


def made(cluster: Cluster, name: str, partitions: int, config: dict[str, str]) -> Iterator[str]:
    topics.delete(cluster, [name])
    topics.create(cluster, name, partitions, 3, config)
    yield name
    topics.delete(cluster, [name])


def deliver(cluster: Cluster, topic: str, records: list[dict[str, Any]], settings: Any = None) -> list[Any]:
    """Send records in one go; return the reports, in the order in which they came."""
    told: list[Any] = []
    own = client_settings.shared(cluster.bootstrap) | {"message.timeout.ms": 10_000}
    producer = Producer(own | (settings or {}))
    for record in records:
        producer.produce(topic, on_delivery=lambda *report: told.append(report), **record)
    assert producer.flush(PATIENCE) == 0
    return told


def places(cluster: Cluster, topic: str, keys: list[str], **settings: Any) -> dict[str, int]:
    told = deliver(cluster, topic, [{"key": key} for key in keys], settings)
    assert not any(error for error, _ in told)
    return {message.key().decode(): message.partition() for _, message in told}


def coordinator(cluster: Cluster, group: str, wanted: Callable[[GroupState], Any]) -> GroupState:
    """Wait until the group's coordinator tells what is wanted."""

    def look() -> GroupState | None:
        return next((told for told in cluster.state([], [group]).groups if wanted(told)), None)

    return wait_until(look, what=f"group '{group}'", within=PATIENCE, otherwise="look at its members")


def codes(told: list[Any]) -> list[int | None]:
    return [error.code() if error else None for error, _ in told]
