"""Thirty learners work for ten minutes on one cluster that is not theirs, and nobody loses a record."""

import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError, Message, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.closing import close
from tests.reliability import Behaviour
from tests.shared_cluster import PASSWORD, SharedCluster, shared_cluster

LEARNERS = [f"learner{number:02}" for number in range(1, 31)]
SECONDS, ROUND_SECONDS, PATIENCE_SECONDS = 600.0, 0.5, 120.0  # each round is one record


@dataclass(frozen=True)
class Account:
    """What became of one learner's records: values by what the cluster and the own group said of them."""

    acknowledged: frozenset[str]
    refused: tuple[str, ...]
    read: tuple[str, ...]

    def lost(self) -> set[str]:
        return self.acknowledged - set(self.read)

    def twice(self) -> set[str]:
        return {value for value, times in Counter(self.read).items() if times > 1}


@pytest.mark.slow_fault
@pytest.mark.fault("A cluster that is not yours", "thirty learners work on it at once, for ten minutes")
@pytest.mark.timeout(SECONDS + 900)
def test_thirty_learners_of_one_cluster_lose_nothing_in_ten_minutes(
    tmp_path: Path, behaviour: Behaviour
) -> None:
    with shared_cluster(tmp_path, LEARNERS) as shared:
        shared.allow(LEARNERS)
        with ThreadPoolExecutor(len(LEARNERS)) as room:
            accounts = dict(zip(LEARNERS, room.map(lambda name: work(shared, name), LEARNERS), strict=True))
    assert {name: account.refused for name, account in accounts.items() if account.refused} == {}
    assert {name: account.lost() for name, account in accounts.items() if account.lost()} == {}
    assert {name: account.twice() for name, account in accounts.items() if account.twice()} == {}
    # Somebody who was kept from working would lose nothing either.
    enough = SECONDS / ROUND_SECONDS / 2
    assert [name for name, account in accounts.items() if len(account.acknowledged) < enough] == []
    behaviour("every record that was acknowledged is read once by its learner's own group")


def work(shared: SharedCluster, name: str) -> Account:
    """Write a record each round and read with a group of the own, as one learner."""
    settings = shared.settings(name, PASSWORD.format(name))
    topic = f"{name}-orders"
    admin = AdminClient(settings)  # a client that is let go takes its open calls with it
    [made] = admin.create_topics([NewTopic(topic, 3, 3)], request_timeout=120).values()
    made.result()
    producer = Producer(settings | {"enable.idempotence": True})
    reader = Consumer(settings | {"group.id": f"{name}-reader", "auto.offset.reset": "earliest"})
    acknowledged: list[str] = []
    refused: list[str] = []
    read: list[str] = []

    def told(value: str) -> Callable[[KafkaError | None, Message], None]:
        return lambda fault, _: refused.append(f"{value}: {fault}") if fault else acknowledged.append(value)

    def look(seconds: float) -> None:
        message = reader.poll(seconds)
        if message is not None and message.error() is None:
            read.append((message.value() or b"").decode())

    end, number = time.monotonic() + SECONDS, 0
    try:
        producer.produce(topic, "first", on_delivery=told("first"))
        assert producer.flush(PATIENCE_SECONDS) == 0
        reader.subscribe(
            [topic]
        )  # the brokers know the topic by now; else a group asks again in minutes only
        while (began := time.monotonic()) < end:
            producer.produce(topic, f"{number}", on_delivery=told(f"{number}"))
            number += 1
            while (left := began + ROUND_SECONDS - time.monotonic()) > 0:
                producer.poll(0)
                look(left)
        assert producer.flush(PATIENCE_SECONDS) == 0
        patience = time.monotonic() + PATIENCE_SECONDS
        while len(set(read)) < len(acknowledged) and time.monotonic() < patience:
            look(ROUND_SECONDS)
        return Account(frozenset(acknowledged), tuple(refused), tuple(read))
    finally:
        close(reader)
