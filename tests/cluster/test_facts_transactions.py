"""Facts about transactions, as seen: what errors say of themselves, and what Java's client does otherwise."""

import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import count, pairwise
from statistics import median
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from tests.asked import Brokers, Java, Librdkafka
from tests.fact_bench import PATIENCE, SEEN, consumer, coordinator, group, made
from tests.facts import Found
from threebrokers.cluster import Cluster
from threebrokers.kafka import client_settings
from threebrokers.kafka.batches import Batch, batches_in
from threebrokers.kafka.log_reader import read_log
from threebrokers.lab.scenarios.transactions import coordinator_of_transactions
from threebrokers.waiting import quiet_wait

__all__ = ["consumer", "group"]

Make = Callable[..., Consumer]
NUMBERS = count()
TRANSACTIONS = 5
ASKS = re.compile("Registering partitions|another concurrent operation")


@pytest.fixture
def topic(cluster: Cluster) -> Iterator[str]:
    yield from made(cluster, f"facts-transactions-{next(NUMBERS)}", 1, {"max.message.bytes": "2000"})


def producer(cluster: Cluster, name: str, settings: Mapping[str, Any] | None = None) -> Producer:
    """Make a producer with transactions that is ready to begin one."""
    own = {"transactional.id": name, "linger.ms": 0, **(settings or {})}
    one = Producer(client_settings.shared(cluster.bootstrap) | own)
    one.init_transactions(PATIENCE)
    return one


def written(one: Producer, topic: str, *values: str) -> None:
    one.begin_transaction()
    for value in values:
        one.produce(topic, value)


def batches(cluster: Cluster, topic: str) -> list[Batch]:
    return [batch for path in cluster.segments(topic, 0) for batch in batches_in(path.read_bytes())]


def error_of(call: Callable[..., Any], *arguments: Any) -> tuple[str, bool, bool, bool]:
    """Return name, retriable(), txn_requires_abort() and fatal() of what a call raises."""
    with pytest.raises(KafkaException) as raised:
        call(*arguments)
    fault = raised.value.args[0]
    return fault.name(), fault.retriable(), fault.txn_requires_abort(), fault.fatal()


@pytest.mark.fact("Transactions", "producer epochs")
def test_epochs(
    cluster: Cluster, topic: str, librdkafka: Librdkafka, java_client: Java, brokers: Brokers, found: Found
):
    here = producer(cluster, f"{topic}-python")
    for _ in range(TRANSACTIONS):
        written(here, topic, "one")
        here.commit_transaction(PATIENCE)
    there = java_client.producer(cluster.bootstrap, transactional_id=f"{topic}-java")
    there.initTransactions()
    for _ in range(TRANSACTIONS):
        there.beginTransaction()
        there.send(java_client.record(topic, None, "one"))
        there.commitTransaction()
    there.close()
    assert quiet_wait(lambda: len(batches(cluster, topic)) == 4 * TRANSACTIONS, PATIENCE)
    data = [batch for batch in batches(cluster, topic) if not batch.is_control]
    first = data[0].producer_id
    epochs = [{b.producer_epoch for b in data if (b.producer_id == first) == own} for own in (True, False)]
    assert [len(each) for each in epochs] == [1, TRANSACTIONS]
    found("one for all of its transactions (KIP-890 is not in it)", "a new one for each transaction", SEEN)


@pytest.mark.fact("Transactions", "a commit behind the last record of one")
def test_the_offset_before_a_mark(
    cluster: Cluster,
    topic: str,
    group: str,
    consumer: Make,
    librdkafka: Librdkafka,
    java_client: Java,
    brokers: Brokers,
    found: Found,
):
    one = producer(cluster, topic)
    written(one, topic, "a", "b")
    one.commit_transaction(PATIENCE)
    reader = consumer(enable_auto_commit=False)
    reader.subscribe([topic])
    messages = reader.consume(2, timeout=PATIENCE)
    reader.commit(message=messages[-1], asynchronous=False)
    assert coordinator(cluster, group, lambda told: told.committed).committed[0][2] == 2
    own = {"group_id": f"{group}-java", "auto_offset_reset": "earliest", "isolation_level": "read_committed"}
    there = java_client.consumer(cluster.bootstrap, enable_auto_commit="false", **own)
    there.assign(java_client.places(topic, 0))
    assert quiet_wait(lambda: there.poll(java_client.ms(500)).count() == 2, PATIENCE)
    [place] = java_client.places(topic, 0)
    assert quiet_wait(
        lambda: there.poll(java_client.ms(100)).isEmpty() and there.position(place) == 3, PATIENCE
    )
    there.commitSync()
    coordinator(cluster, f"{group}-java", lambda told: told.committed and told.committed[0][2] == 3)
    there.close()
    found(
        "`commit(message=…)` stands before the mark: a lag of 1 stays",
        "`commitSync()` passes it: no lag",
        SEEN,
    )


@pytest.mark.fact("Transactions", "the answer to a commit is late")
def test_a_late_answer(cluster: Cluster, topic: str, librdkafka: Librdkafka, brokers: Brokers, found: Found):
    one = producer(cluster, topic)
    written(one, topic, "a")
    one.flush(PATIENCE)
    coordinator = coordinator_of_transactions(SimpleNamespace(cluster=cluster), topic)  # type: ignore[arg-type]
    cluster.pause(coordinator, force=True)
    # With no time at all the call may return before librdkafka has begun, and the next one fails with _STATE.
    assert error_of(one.commit_transaction, 0.5) == ("_TIMED_OUT", True, False, False)
    cluster.resume(coordinator)
    one.commit_transaction(PATIENCE)
    assert quiet_wait(lambda: len(read_log(cluster.bootstrap, topic)) == 1, PATIENCE)
    found("_TIMED_OUT is retriable(): the same commit may be called again", "", SEEN)


@pytest.mark.fact("Transactions", "the brokers refuse one record of it")
def test_a_refused_record(
    cluster: Cluster, topic: str, librdkafka: Librdkafka, brokers: Brokers, found: Found
):
    one = producer(cluster, topic)
    written(one, topic, "a", "b" * 5000)
    name, *says = error_of(one.commit_transaction, PATIENCE)
    assert says == [False, True, False], name
    one.abort_transaction(PATIENCE)
    written(one, topic, "c")
    name, *says = error_of(one.commit_transaction, PATIENCE)
    assert (name, says) == ("OUT_OF_ORDER_SEQUENCE_NUMBER", [False, True, False])
    one.abort_transaction(PATIENCE)
    written(one, topic, "d")
    one.commit_transaction(PATIENCE)
    assert quiet_wait(lambda: [r.value for r in read_log(cluster.bootstrap, topic)] == [b"d"], PATIENCE)
    found(
        "`commit_transaction()` raises, txn_requires_abort(); so does the next one into the same partition "
        "(OUT_OF_ORDER_SEQUENCE_NUMBER); after a second abort it goes on",
        "",
        SEEN,
    )


@pytest.mark.fact("Transactions", "another producer has started with the same name")
def test_a_fenced_producer(
    cluster: Cluster, topic: str, librdkafka: Librdkafka, brokers: Brokers, found: Found
):
    old = producer(cluster, topic)
    written(old, topic, "of the old one")
    old.flush(PATIENCE)
    began = time.monotonic()
    producer(cluster, topic)
    assert quiet_wait(lambda: any(b.mark == "ABORT" for b in batches(cluster, topic)), PATIENCE)
    assert time.monotonic() - began < PATIENCE, "it does not wait for transaction.timeout.ms"
    name, *says = error_of(old.commit_transaction, PATIENCE)
    assert (name, says) == ("_FENCED", [False, False, True])
    found("`_FENCED`, which is fatal()", "what the old one had left open is aborted at once", SEEN)


OPEN_SECONDS = 10


def thrown_out(
    cluster: Cluster, consumer: Make, topic: str, *, sent: bool
) -> tuple[tuple[str, bool, bool, bool], float, float]:
    """Let a member hang in its transaction until another has its partition and its record, then commit.

    `sent` says whether it has sent its offset before. Return the error, and when (s, after that) the other
    member had the partition and when its record.
    """
    filler = Producer(client_settings.shared(cluster.bootstrap))
    filler.produce(topic, "one")
    filler.flush(PATIENCE)
    clocks = {"session_timeout_ms": 3000, "max_poll_interval_ms": 3000, "heartbeat_interval_ms": 200}
    one = producer(cluster, topic, {"transaction.timeout.ms": 1000 * OPEN_SECONDS})  # before the clock of 3 s
    hanging, other = (consumer(**clocks, enable_auto_commit=False) for _ in range(2))
    hanging.subscribe([topic])
    assert quiet_wait(lambda: hanging.poll(0.1) is not None, PATIENCE)
    one.begin_transaction()

    def send_offset() -> None:
        place = TopicPartition(topic, 0, 1)
        one.send_offsets_to_transaction([place], hanging.consumer_group_metadata(), PATIENCE)

    began, given = time.monotonic(), list[float]()
    if sent:
        send_offset()
    other.subscribe([topic], on_assign=lambda *_: given.append(time.monotonic() - began))
    assert quiet_wait(lambda: other.poll(0.1) is not None, PATIENCE)
    got = time.monotonic() - began
    error = error_of(one.commit_transaction, PATIENCE) if sent else error_of(send_offset)
    return error, given[0], got


@pytest.mark.fact("Transactions", "its consumer was thrown out of the group")
def test_an_offset_of_a_member_that_was_thrown_out(
    cluster: Cluster, consumer: Make, topic: str, librdkafka: Librdkafka, brokers: Brokers, found: Found
):
    (name, *says), given, got = thrown_out(cluster, consumer, topic, sent=False)
    assert (name, says) == ("UNKNOWN_MEMBER_ID", [False, True, False])
    assert got - given < 5.5, "it waits for no transaction"
    found("`UNKNOWN_MEMBER_ID`, txn_requires_abort(): KIP-447", "", SEEN)


@pytest.mark.fact("Transactions", "an offset is in one that is open, and another member has its partition")
def test_an_offset_of_a_transaction_that_is_open(
    cluster: Cluster, consumer: Make, topic: str, librdkafka: Librdkafka, brokers: Brokers, found: Found
):
    (name, *says), given, got = thrown_out(cluster, consumer, topic, sent=True)
    assert (name, says) == ("_FENCED", [False, False, True])
    assert given < OPEN_SECONDS <= got, "it waits for transaction.timeout.ms"
    found("that member gets its first record when the transaction is over", "", SEEN)


class Said(logging.Handler):
    """What a client says in its own log, each line with its moment."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[tuple[float, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append((time.monotonic(), record.getMessage()))

    def pauses(self) -> list[float]:
        """Return how long (s) the client waited each time that it was refused."""
        steps = [(at, "concurrent" in line) for at, line in self.lines if ASKS.search(line)]
        return [after - at for (at, refused), (after, _) in pairwise(steps) if refused]


@pytest.mark.fact("Transactions", "one begins while the marks of the last one are written")
def test_a_transaction_right_after_another(
    cluster: Cluster, topic: str, librdkafka: Librdkafka, brokers: Brokers, found: Found
):
    said, log = Said(), logging.getLogger(topic)
    log.setLevel(logging.DEBUG)
    log.addHandler(said)
    own = {"transactional.id": topic, "linger.ms": 0, "retry.backoff.ms": 1000, "debug": "eos"}
    one = Producer(client_settings.shared(cluster.bootstrap) | own, logger=log)
    one.init_transactions(PATIENCE)

    def refused() -> bool:
        """Commit again and again; tell whether it was refused some times: marks may be written quickly."""
        for _ in range(4 * TRANSACTIONS):
            written(one, topic, "one")
            one.commit_transaction(PATIENCE)
        one.poll(0)  # its log is told here
        return len(said.pauses()) >= 10

    assert quiet_wait(refused, 3 * PATIENCE)
    assert median(said.pauses()) > 0.01, "it does not ask again at once"
    # A busy machine adds to some of them.
    assert min(said.pauses()) < 0.2, "it is not retry.backoff.ms, which is 1 s here"
    found("CONCURRENT_TRANSACTIONS: asks again after 20 ms, whatever `retry.backoff.ms` is", "", SEEN)
