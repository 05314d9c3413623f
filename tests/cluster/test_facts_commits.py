"""Facts about committed offsets, as seen: this client's, and Java's where it does something else."""

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaException, TopicPartition

from tests.asked import Brokers, Java, Librdkafka
from tests.fact_bench import PATIENCE, SEEN, consumer, coordinator, group, one
from tests.facts import Found
from threebrokers.cluster import Cluster
from threebrokers.kafka import client_settings
from threebrokers.waiting import quiet_wait

__all__ = ["consumer", "group", "one"]

Make = Callable[..., Consumer]


@pytest.mark.fact("Consumer", "automatic commits")
def test_automatic_commits(
    cluster: Cluster,
    one: str,
    group: str,
    consumer: Make,
    librdkafka: Librdkafka,
    java_client: Java,
    brokers: Brokers,
    found: Found,
):
    every = 200
    reader = consumer(auto_commit_interval_ms=every)
    reader.subscribe([one])
    assert reader.poll(PATIENCE).offset() == 0  # the program has only this one, and does nothing from here
    assert coordinator(cluster, group, lambda told: told.committed).committed[0][2] == 1
    there = java_client.consumer(
        cluster.bootstrap,
        group_id=f"{group}-java",
        auto_offset_reset="earliest",
        max_poll_records="1",
        auto_commit_interval_ms=str(every),
    )
    there.assign(java_client.places(one, 0))
    assert quiet_wait(lambda: there.poll(java_client.ms(1000)).count() == 1, PATIENCE)
    time.sleep(5 * every / 1000)  # nothing may happen: so it waits for several of its intervals
    told = coordinator(cluster, f"{group}-java", lambda told: told.coordinator is not None)
    assert all(offset == 0 for _, _, offset in told.committed), "at most where an earlier, empty poll() stood"
    there.poll(java_client.ms(0))
    coordinator(cluster, f"{group}-java", lambda told: told.committed and told.committed[0][2] == 1)
    there.close()
    found(
        "a thread commits while the program works, and counts the record that it has just got",
        "commits inside `poll()`, and what earlier calls returned",
        SEEN,
    )


@pytest.mark.fact("Consumer", "automatic commits when it closes")
def test_commits_at_the_end(
    cluster: Cluster,
    one: str,
    group: str,
    librdkafka: Librdkafka,
    java_client: Java,
    brokers: Brokers,
    found: Found,
):
    own = {"group.id": group, "auto.offset.reset": "earliest", "auto.commit.interval.ms": 60_000}
    here = Consumer(client_settings.shared(cluster.bootstrap) | own)
    here.subscribe([one])
    assert len(here.consume(3, PATIENCE)) == 3
    here.close()
    there = java_client.consumer(
        cluster.bootstrap,
        group_id=f"{group}-java",
        auto_offset_reset="earliest",
        max_poll_records="3",
        auto_commit_interval_ms="60000",
    )
    there.assign(java_client.places(one, 0))
    assert quiet_wait(lambda: there.poll(java_client.ms(1000)).count() == 3, PATIENCE)
    there.close()
    for name in (group, f"{group}-java"):
        told = coordinator(cluster, name, lambda told: told.committed)
        assert [offset for _, _, offset in told.committed] == [3]
    found("`close()` commits what the program was given", "the same", SEEN)


@pytest.mark.fact("Consumer", "automatic commits of what was stored")
def test_stored_offsets(
    cluster: Cluster,
    one: str,
    group: str,
    consumer: Make,
    librdkafka: Librdkafka,
    java_client: Java,
    brokers: Brokers,
    found: Found,
):
    reader = consumer(enable_auto_offset_store=False, auto_commit_interval_ms=200)
    reader.subscribe([one])
    messages = reader.consume(3, PATIENCE)
    time.sleep(1)  # nothing may be committed: so it waits for several of its intervals
    assert not coordinator(cluster, group, lambda told: told.members).committed
    reader.store_offsets(messages[0])
    assert coordinator(cluster, group, lambda told: told.committed).committed[0][2] == 1
    assert "enable.auto.offset.store" not in java_client.settings("consumer")
    here = "with `enable.auto.offset.store=False` only what was given to `store_offsets()`"
    found(here, "has no such setting", SEEN)


@pytest.mark.fact("Consumer", "a commit that does not wait")
def test_who_hears_of_a_commit(
    cluster: Cluster, one: str, group: str, librdkafka: Librdkafka, brokers: Brokers, found: Found
):
    heard: list[Any] = []

    def note(error: object, places: list[TopicPartition]) -> None:
        heard.append((error, places[0].offset, threading.get_ident()))

    own = {"group.id": group, "auto.offset.reset": "earliest", "enable.auto.commit": False, "on_commit": note}
    reader = Consumer(client_settings.shared(cluster.bootstrap) | own)
    reader.subscribe([one])
    assert reader.poll(PATIENCE)
    assert reader.commit(offsets=[TopicPartition(one, 0, 2)]) is None
    place = TopicPartition(one, 0)
    assert quiet_wait(lambda: reader.committed([place], timeout=PATIENCE)[0].offset == 2, PATIENCE)
    assert heard == []

    def called() -> list[Any]:
        reader.poll(0.1)
        return heard

    assert quiet_wait(called, PATIENCE)
    assert heard == [(None, 2, threading.get_ident())]
    reader.commit(offsets=[TopicPartition(one, 0, 3)], asynchronous=False)
    assert not quiet_wait(lambda: len(called()) > 1, 1.0)
    reader.close()
    here = "`commit()` returns None, and the function in `on_commit` is called inside `poll()`; "
    found(f"{here}with `asynchronous=False` it is not called", "", SEEN)


@pytest.mark.fact("Consumer", "words beside a committed offset")
def test_the_metadata_of_a_commit(
    cluster: Cluster, one: str, consumer: Make, librdkafka: Librdkafka, brokers: Brokers, found: Found
):
    reader = consumer()
    reader.commit(offsets=[TopicPartition(one, 0, 1, metadata="of host-3")], asynchronous=False)
    [place] = reader.committed([TopicPartition(one, 0)], timeout=PATIENCE)
    assert (place.offset, place.metadata) == (1, "of host-3")
    found("`TopicPartition(…, metadata=…)`; `committed()` returns them", "", SEEN)


@pytest.mark.fact("Consumer", "an older commit after a newer one")
def test_the_last_commit_counts(
    cluster: Cluster,
    one: str,
    group: str,
    consumer: Make,
    librdkafka: Librdkafka,
    brokers: Brokers,
    found: Found,
):
    reader = consumer()
    for offset in (9, 4):
        reader.commit(offsets=[TopicPartition(one, 0, offset)], asynchronous=False)
    assert reader.committed([TopicPartition(one, 0)], timeout=PATIENCE)[0].offset == 4
    with pytest.raises(KafkaException, match="_NO_OFFSET"):
        reader.commit(asynchronous=False)
    found("`commit()` with nothing new raises _NO_OFFSET", "the brokers keep what they are told last", SEEN)
