"""The program that readers take to work, with real brokers: what is whole, lost, and there twice."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from threebrokers.cluster import Cluster
from threebrokers.lab.lab import Lab
from threebrokers.lab.opening import open_lab
from threebrokers.lab.scenarios import DeliveryLedger, partition_of, validating, wait_for_more
from threebrokers.lab.take_along import delivery_ledger


@pytest.fixture
def lab(cluster: Cluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Lab]:
    monkeypatch.setattr(validating, "root", lambda: tmp_path)  # nobody's notebooks
    lab = open_lab("10")
    yield lab
    lab.close()


def test_a_topic_and_its_ledger(lab: Lab):
    config = {"min.insync.replicas": "2"}
    topic = lab.fresh_topic("checked", partitions=1, replication_factor=3, config=config)
    ledger = DeliveryLedger(lab, topic)
    with ledger.sending("acks=all", "enable.idempotence=true"):
        leader = partition_of(lab, topic).leader
        lab.cluster.kill(leader)
        wait_for_more(lab, [topic])
        lab.cluster.start(leader)
        lab.cluster.wait_in_sync([topic])
    found = ledger.verify()
    assert found.is_whole, found
    assert found.counts["attempted"] > 20

    # Somebody sends a record again, and a report was of a record that is nowhere.
    with closing(delivery_ledger.opened(str(ledger.file))) as database:
        (run,) = database.execute("SELECT id FROM run").fetchone()
        missing = (10_000, time.time(), time.time(), 0, 5)
        database.execute("INSERT INTO record VALUES (?, ?, ?, ?, ?, NULL)", missing)
    producer = lab.producer({"acks": "all"})
    producer.produce(topic, f"{run} 3")
    producer.produce(topic, "of another program")
    producer.flush()
    broken = delivery_ledger.verify(str(ledger.file), {"bootstrap.servers": lab.bootstrap}, patience=8)
    assert (broken.lost, broken.twice) == ([10_000], [3])
    assert broken.stored == found.counts["stored"]


def test_what_was_begun_goes_on(lab: Lab):
    topic = lab.fresh_topic("checked", replication_factor=3)
    ledger = DeliveryLedger(lab, topic)
    for _ in range(2):
        with ledger.sending("acks=all", "enable.idempotence=true"):
            wait_for_more(lab, [topic])
    assert ledger.verify().is_whole
    with closing(sqlite3.connect(ledger.file)) as database:
        lowest, highest, count = database.execute(
            "SELECT min(number), max(number), count(*) FROM record"
        ).fetchone()
    assert (lowest, highest) == (0, count - 1)
