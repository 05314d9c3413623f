"""The ledger with real brokers: each thing that can happen to a record is made to happen."""

from collections.abc import Iterator

import pytest
from confluent_kafka import KafkaException, Message, TopicPartition

from threebrokers.cluster import Cluster
from threebrokers.kafka.clients import LabConsumer
from threebrokers.kafka.state import PartitionState
from threebrokers.lab.lab import Lab
from threebrokers.lab.opening import open_lab
from threebrokers.ledger import Balance, Ledger
from threebrokers.waiting import wait_until

PRODUCER = {"linger.ms": 0, "acks": "all"}


@pytest.fixture
def lab(cluster: Cluster) -> Iterator[Lab]:
    lab = open_lab("02")
    yield lab
    lab.close()


def read(reader: LabConsumer, count: int) -> list[Message]:
    found: list[Message] = []

    def complete() -> bool:
        found.extend(reader.consume(count - len(found), timeout=1))
        return len(found) == count

    wait_until(complete, what="the records", within=20, otherwise=f"only {len(found)} came")
    return found


def wait_copied(ledger: Ledger, topic: str) -> None:
    """Wait until every record can be read: then each replica in sync has it."""
    wait_until(
        lambda: not ledger.balance(topic).not_yet_readable, what="the copies", within=20, otherwise="see logs"
    )


def sequences(entries: object) -> list[int]:
    return [entry.number.sequence for entry in entries]  # type: ignore[attr-defined]


def test_from_the_first_attempt_to_the_work(lab: Lab) -> None:
    topic = lab.fresh_topic("alerts", partitions=2, config={"max.message.bytes": "1000"})
    ledger = lab.ledger("all")
    reports: list[object] = []
    lab.producer().produce(topic, b"of no ledger", partition=0)
    lab.producers()[-1].flush()
    producer = ledger.producer({**PRODUCER, "on_delivery": lambda error, _: reports.append(error is None)})
    producer.produce(topic, b"a", "key", 0, None, None, 0, {"trace": b"1"})
    producer.produce(topic, b"b", partition=1, on_delivery=lambda error, _: reports.append("own"))
    producer.flush()  # a batch is refused as a whole
    producer.produce(topic, b"x" * 2000, partition=1)
    with pytest.raises(KafkaException, match="too large"):
        producer.produce(topic, b"x" * 2_000_000)
    with pytest.raises(TypeError):
        producer.produce(topic, 3.5)
    assert producer.flush(10) == 0
    assert sorted(map(str, reports)) == ["False", "True", "own"]
    reader = lab.join_ledger("all").consumer(
        {"group.id": lab.group("audit"), "auto.offset.reset": "earliest"}
    )
    reader.assign([TopicPartition(topic, p, 0) for p in (0, 1)])
    for message in read(reader, 3):
        ledger.processed(message)
        if message.value() == b"a":
            assert ("trace", b"1") in (message.headers() or ())
            assert message.key() == b"key"
            ledger.processed(message)
    found = ledger.balance(topic)
    assert [number.sequence for number in found.attempted] == [0, 1, 2, 3]
    assert sequences(found.acknowledged) == sequences(found.stored) == sequences(found.committed) == [0, 1]
    assert found.acknowledged[0][1:] == found.stored[0][1:] == (0, 1)
    assert [failure.reason for failure in found.failed] == ["MSG_SIZE_TOO_LARGE"] * 2
    assert sorted(sequences(found.delivered)) == [0, 1]
    assert sequences(found.processed_again) == [0]
    for nothing in (found.lost, found.unknown, found.unprocessed, found.duplicated):
        assert not nothing


def test_aborted_deleted_and_without_a_report(lab: Lab) -> None:
    topic = lab.fresh_topic("alerts", replication_factor=3)
    ledger = lab.ledger("marks")
    producer = ledger.producer({**PRODUCER, "transactional.id": lab.topic("ledger")})
    producer.init_transactions()
    for end in (producer.commit_transaction, producer.abort_transaction):
        producer.begin_transaction()
        producer.produce(topic, b"a")
        producer.flush()
        end()
    silent = ledger.producer({**PRODUCER, "bootstrap.servers": "127.0.0.1:1"})
    silent.produce(topic, b"never")
    silent.flush(0.1)
    found = ledger.balance(topic)
    assert sequences(found.uncommitted) == [1]
    assert sequences(found.committed) == [0]
    assert [number.producer for number in found.unknown] == [2]
    deleted = lab.admin().delete_records([TopicPartition(topic, 0, 1)])
    assert [future.result().low_watermark for future in deleted.values()] == [1]
    assert sequences(ledger.balance(topic).expired) == [0]
    assert not ledger.balance(topic).lost


def test_a_record_that_no_follower_has_is_not_readable_and_not_lost(lab: Lab, cluster: Cluster) -> None:
    topic = lab.fresh_topic("alerts", replication_factor=3, config={"min.insync.replicas": "1"})
    leader = lab.cluster.state([topic]).topic(topic).partitions[0].leader  # type: ignore[union-attr]
    follower = next(n for n in cluster.brokers if n != leader)
    ledger = lab.ledger("hidden")
    producer = ledger.producer({**PRODUCER, "acks": 1})
    producer.produce(topic, b"before")
    producer.flush(10)
    # Else the follower may stand still before it has heard of the first record, too.
    wait_copied(ledger, topic)
    cluster.pause(follower)
    try:
        producer.produce(topic, b"while it stands still")
        assert producer.flush(10) == 0
        # The leader waits for replica.lag.time.max.ms before it goes on without the follower.
        found = ledger.balance(topic)
        assert sequences(found.not_yet_readable) == [1] or sequences(found.stored) == [0, 1]
        assert not found.lost
    finally:
        cluster.resume(follower)
    wait_copied(ledger, topic)
    assert sequences(ledger.balance(topic).stored) == [0, 1]


def test_an_unclean_election_loses_what_it_lost(lab: Lab, cluster: Cluster) -> None:
    found = unclean(lab, lab.ledger("unclean"), cluster)
    assert sequences(found.stored) == [0]
    assert sequences(found.lost) == list(range(1, 6))
    assert [entry.offset for entry in found.lost] == list(range(1, 6))
    assert "✗ 5 lost: records 1–5, offsets 1–5 of partition 0" in repr(found)


def unclean(lab: Lab, ledger: Ledger, cluster: Cluster) -> Balance:
    """Lose five records: the leader dies when its only follower is long gone, and that one returns first."""
    spread = {"min.insync.replicas": "1", "unclean.leader.election.enable": "true"}
    topic = lab.fresh_topic("alerts", replication_factor=2, config=spread)

    def partition() -> PartitionState:
        found = lab.cluster.state([topic]).topic(topic)
        assert found is not None
        return found.partitions[0]

    leader, follower = partition().replicas
    producer = ledger.producer({**PRODUCER, "acks": 1})
    producer.produce(topic, b"safe")
    producer.flush(10)
    ledger.balance(topic)  # waits until the follower has it
    try:
        cluster.kill(follower)
        wait_until(lambda: partition().isr == (leader,), what="ISR of one", within=20, otherwise="see logs")
        for _ in range(5):
            producer.produce(topic, b"only on the leader")
        assert producer.flush(10) == 0
        cluster.kill(leader, force=True)
        cluster.start(follower)
        wait_until(lambda: partition().leader == follower, what="a leader", within=30, otherwise="see logs")
    finally:
        cluster.up()
    wait_until(lambda: len(partition().isr) == 2, what="ISR of two", within=30, otherwise="see logs")
    return ledger.balance(topic)
