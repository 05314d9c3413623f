"""Facts about producers, as seen: this client's, and Java's where it does something else."""

import json
import logging
import threading
import time
import zlib
from contextlib import closing
from datetime import datetime, timedelta
from statistics import median
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition, murmur2
from py4j.protocol import Py4JJavaError

from tests.asked import Brokers, Java, Librdkafka
from tests.fact_bench import (
    MADE,
    NOBODY,
    PARTITIONS,
    PATIENCE,
    SEEN,
    codes,
    deliver,
    made,
    places,
    plain,
    quoted,
    strict,
)
from tests.facts import Found
from threebrokers.cluster import Cluster
from threebrokers.kafka import client_settings, producer_ids
from threebrokers.kafka.batches import batches_in
from threebrokers.kafka.log_reader import read_log
from threebrokers.waiting import quiet_wait

__all__ = ["plain", "strict"]


@pytest.mark.fact("Producer", "a setting that does not exist")
def test_an_unknown_setting(java_client: Java, librdkafka: Librdkafka, found: Found):
    with pytest.raises(KafkaException, match="No such configuration property"):
        Producer({"no.such.setting": "1"})
    java_client.producer(NOBODY, no_such_setting="1").close(java_client.ms(0))
    found("KafkaException when the client is made", "takes it", MADE)


@pytest.mark.fact("Producer", "idempotence and the settings that it needs")
def test_idempotence_and_acks(librdkafka: Librdkafka, java_client: Java, found: Found):
    idempotent = {"enable.idempotence": "true"}
    flights = "max.in.flight.requests.per.connection"
    assert librdkafka.of_producer(idempotent, flights) == "5"
    for setting in ({"acks": 1}, {flights: 6}, {"retries": 0}):
        with pytest.raises(KafkaException, match="idempotence"):
            Producer({"enable.idempotence": True, **setting})
    text = "org.apache.kafka.common.serialization.StringSerializer"
    own = {"key.serializer": text, "value.serializer": text, "bootstrap.servers": NOBODY}
    config = java_client.clients.producer.ProducerConfig
    assert config(own).getBoolean("enable.idempotence") is True
    assert config(own | {"acks": "1"}).getBoolean("enable.idempotence") is False
    with pytest.raises(Py4JJavaError, match="ConfigException"):
        config(own | {"acks": "1", "enable.idempotence": "true"})
    found(
        "with it 5 requests at most are under way; `acks=1`, 6 requests or `retries=0` beside it are refused",
        "`acks=1` alone switches it off, with a line in the log; both together are refused",
        MADE,
    )


@pytest.mark.fact("Producer", "the ID of an idempotent producer")
def test_the_id_of_a_producer(
    cluster: Cluster, plain: str, librdkafka: Librdkafka, java_client: Java, brokers: Brokers, found: Found
):
    settings = client_settings.shared(cluster.bootstrap) | {"enable.idempotence": True, "linger.ms": 0}

    def of_this_client(asking: bool) -> float:
        began = time.monotonic()
        producer = Producer(settings)
        if asking:
            producer_ids.hasten(producer, settings)
        producer.produce(plain, "x")
        assert producer.flush(PATIENCE) == 0
        return time.monotonic() - began

    def of_java() -> float:
        began = time.monotonic()
        producer = java_client.producer(cluster.bootstrap, enable_idempotence="true")
        producer.send(java_client.record(plain, None, "x")).get()
        took = time.monotonic() - began
        producer.close()
        return took

    def only_one_waits() -> bool:
        # In turns: what else the machine does comes to all alike.
        took = [(of_this_client(asking=False), of_this_client(asking=True), of_java()) for _ in range(9)]
        plain_ones, asking_ones, java_ones = zip(*took, strict=True)
        # On a busy machine metadata comes twice by itself now and then (9 of 40), so not the median waits.
        waiting = sorted(plain_ones)[-3]
        return max(median(asking_ones), min(java_ones)) < waiting - 0.2

    # Twice, because a busy machine may need half a second to connect.
    assert only_one_waits() or only_one_waits(), "all wait for the id, or nobody does"
    found(
        "is mostly fetched 500 ms after the producer was made, and the first record waits for it; after two "
        "calls of `list_topics()` it is there",
        "is fetched as soon as a broker is connected",
        SEEN,
    )


@pytest.mark.fact("Producer", "codecs")
def test_codecs(librdkafka: Librdkafka, java_client: Java, found: Found):
    codecs = ("none", "gzip", "snappy", "lz4", "zstd")
    for codec in codecs:
        Producer({"compression.type": codec}).flush(0)
        java_client.producer(NOBODY, compression_type=codec).close(java_client.ms(0))
    with pytest.raises(KafkaException, match="Invalid value"):
        Producer({"compression.type": "brotli"})
    with pytest.raises(Py4JJavaError, match="ConfigException"):
        java_client.producer(NOBODY, compression_type="brotli")
    found(f"{quoted(codecs)}, and no other", "the same", MADE)


@pytest.mark.fact("Producer", "`acks` in words and in numbers")
def test_acks(librdkafka: Librdkafka, java_client: Java, found: Found):
    assert librdkafka.of_producer({"acks": "all"}, "acks") == "-1"
    text = "org.apache.kafka.common.serialization.StringSerializer"
    own = {"key.serializer": text, "value.serializer": text, "bootstrap.servers": NOBODY}
    config = java_client.clients.producer.ProducerConfig
    assert config(own | {"acks": "all"}).getString("acks") == "-1"
    found("`all` and -1 are the same", "the same", MADE)


@pytest.mark.fact("Producer", "its records are purged")
def test_purge(librdkafka: Librdkafka, found: Found):
    told: list[int] = []
    one = Producer({"bootstrap.servers": NOBODY, "logger": client_settings.SILENCE})
    one.produce("t", b"x", on_delivery=lambda error, message: told.append(error.code()))
    assert one.flush(0.1) == 1
    one.purge()
    assert one.flush(PATIENCE) == 0
    assert told == [KafkaError._PURGE_QUEUE]
    found("`flush(seconds)` returns how many wait; `purge()` ends them with `_PURGE_QUEUE`", "", MADE)


@pytest.mark.fact("Producer", "what it measures")
def test_statistics(librdkafka: Librdkafka, found: Found):
    told: list[dict[str, Any]] = []
    with librdkafka.mock() as bootstrap:
        own = {"statistics.interval.ms": 100, "stats_cb": lambda text: told.append(json.loads(text))}
        one = Producer({"bootstrap.servers": bootstrap, "logger": client_settings.SILENCE} | own)
        one.produce("facts", b"x")
        assert one.flush(PATIENCE) == 0
        told.clear()

        def measured() -> bool:
            one.poll(0.1)
            return bool(told)

        assert quiet_wait(measured, PATIENCE)
    assert "msg_cnt" in told[0]
    assert "batchsize" in told[0]["topics"]["facts"]
    assert all({"tx", "rtt"} <= broker.keys() for broker in told[0]["brokers"].values())
    here = "JSON: `msg_cnt`; `tx` and `rtt` of each broker; `batchsize` of each topic"
    found(here, "", "seen on librdkafka's stand-in for a broker")


@pytest.mark.fact("Producer", "interceptors")
def test_interceptors(librdkafka: Librdkafka, java_client: Java, found: Found):
    for make in (Producer, lambda settings: Consumer({"group.id": "g", **settings})):
        with pytest.raises(KafkaException, match="No such configuration property"):
            make({"interceptor.classes": "x"})
    assert all("interceptor.classes" in java_client.settings(kind) for kind in ("producer", "consumer"))
    found("has none", "`interceptor.classes`, producer and consumer", MADE)


@pytest.mark.fact("Partitioner", "one of your own")
def test_a_partitioner_of_your_own(librdkafka: Librdkafka, java_client: Java, found: Found):
    with pytest.raises((KafkaException, TypeError)):
        Producer({"partitioner": lambda key, partitions: 0})
    assert "partitioner.class" in java_client.settings("producer")
    found("none: pass `partition`", "a class, `partitioner.class`", MADE)


@pytest.mark.fact("Partitioner", "keys")
def test_the_partition_of_a_key(
    cluster: Cluster, plain: str, librdkafka: Librdkafka, java_client: Java, brokers: Brokers, found: Found
):
    keys = [f"key-{number}" for number in range(12)]
    hashed = {key: zlib.crc32(key.encode()) % PARTITIONS for key in keys}
    murmured = {key: murmur2(key.encode(), PARTITIONS) for key in keys}
    assert places(cluster, plain, keys) == hashed != murmured
    assert places(cluster, plain, keys, partitioner="murmur2_random") == murmured
    producer = java_client.producer(cluster.bootstrap)
    sent = {key: producer.send(java_client.record(plain, key, "x")) for key in keys}
    producer.flush()
    assert {key: future.get().partition() for key, future in sent.items()} == murmured
    producer.close()
    found("CRC32; with `partitioner=murmur2_random` as Java", "murmur2", SEEN)


@pytest.mark.fact("Partitioner", "an empty key")
def test_the_partition_of_an_empty_key(
    cluster: Cluster, plain: str, librdkafka: Librdkafka, java_client: Java, brokers: Brokers, found: Found
):
    own = {"sticky.partitioning.linger.ms": 0}
    told = deliver(cluster, plain, [{"key": ""} for _ in range(40)], own)
    assert len({message.partition() for _, message in told}) > 1
    told = deliver(cluster, plain, [{"key": ""} for _ in range(40)], own | {"partitioner": "murmur2_random"})
    hashed = murmur2(b"", PARTITIONS)
    assert {message.partition() for _, message in told} == {hashed}
    producer = java_client.producer(cluster.bootstrap)
    assert producer.send(java_client.record(plain, "", "x")).get().partition() == hashed
    producer.close()
    found("counts as no key; with `murmur2_random` it is hashed", "is hashed", SEEN)


@pytest.mark.fact("Producer", "who calls the delivery callback")
def test_callbacks(cluster: Cluster, plain: str, librdkafka: Librdkafka, brokers: Brokers, found: Found):
    told: list[int] = []
    producer = Producer(client_settings.shared(cluster.bootstrap))
    before = len(read_log(cluster.bootstrap, plain))
    producer.produce(plain, "x", on_delivery=lambda *_: told.append(threading.get_ident()))
    assert quiet_wait(lambda: len(read_log(cluster.bootstrap, plain)) > before, PATIENCE)
    assert told == []
    producer.flush(PATIENCE)
    assert told == [threading.get_ident()]
    found("the thread that is inside `poll()` or `flush()`", "", SEEN)


@pytest.mark.fact("Producer", "the queue is full")
def test_a_full_queue(librdkafka: Librdkafka, java_client: Java, found: Found):
    producer = Producer(
        {"bootstrap.servers": NOBODY, "queue.buffering.max.messages": 2, "logger": client_settings.SILENCE}
    )
    producer.produce("t", "1")
    producer.produce("t", "2")
    began = time.monotonic()
    with pytest.raises(BufferError):
        producer.produce("t", "3")
    assert time.monotonic() - began < 5
    producer.purge()
    assert java_client.default("producer", "max.block.ms") == "60000"
    found("`BufferError` at once", "`max.block.ms` 60000", MADE)


@pytest.mark.fact("Producer", "a topic that does not exist")
def test_a_missing_topic(
    cluster: Cluster, librdkafka: Librdkafka, java_client: Java, brokers: Brokers, found: Found
):
    [(error, _)] = deliver(cluster, "facts-nothing", [{}], {"topic.metadata.propagation.max.ms": 100})
    assert error.code() in (KafkaError._UNKNOWN_TOPIC, KafkaError.UNKNOWN_TOPIC_OR_PART)
    producer = java_client.producer(cluster.bootstrap, max_block_ms="300")
    with pytest.raises(Py4JJavaError, match="TimeoutException"):
        producer.send(java_client.record("facts-nothing", None, "x")).get()
    producer.close()
    found(
        f"`produce()` returns; the report says {error.name()}",
        "`send()` itself waits, then its future fails",
        SEEN,
    )


@pytest.mark.fact("Producer", "the offset of a record with acks=0")
def test_an_offset_that_nobody_tells(
    cluster: Cluster, plain: str, librdkafka: Librdkafka, java_client: Java, brokers: Brokers, found: Found
):
    [(error, message)] = deliver(cluster, plain, [{}], {"acks": 0})
    assert (error, message.offset()) == (None, None)
    producer = java_client.producer(cluster.bootstrap, acks="0", enable_idempotence="false")
    told = producer.send(java_client.record(plain, None, "x")).get()
    assert (told.offset(), told.hasOffset()) == (-1, False)
    producer.close()
    found("`offset()` is `None` in the report", "`offset()` is -1 in the report", SEEN)


@pytest.mark.fact("Producer", "one bad record in a batch")
def test_a_batch_is_refused_whole(
    cluster: Cluster, strict: str, librdkafka: Librdkafka, brokers: Brokers, found: Found
):
    before = len(read_log(cluster.bootstrap, strict))
    told = deliver(cluster, strict, [{"key": "a"}, {}, {"key": "b"}], {"linger.ms": 2000})
    assert codes(told) == [KafkaError.INVALID_RECORD] * 3
    assert not any(error.retriable() for error, _ in told)
    assert len(read_log(cluster.bootstrap, strict)) == before
    found("every record of it is reported INVALID_RECORD", "a batch is stored whole, or not at all", SEEN)


@pytest.mark.fact("Producer", "a time that is too far ahead")
def test_a_time_ahead(cluster: Cluster, plain: str, librdkafka: Librdkafka, brokers: Brokers, found: Found):
    ahead = int((datetime.now() + timedelta(hours=2)).timestamp() * 1000)
    assert codes(deliver(cluster, plain, [{"timestamp": ahead}])) == [KafkaError.INVALID_TIMESTAMP]
    found("the report says INVALID_TIMESTAMP", "more than an hour ahead is refused", SEEN)


@pytest.mark.fact("Producer", "a batch that is too large for the topic")
def test_a_batch_that_is_too_large(
    cluster: Cluster, strict: str, librdkafka: Librdkafka, java_client: Java, brokers: Brokers, found: Found
):
    records = [{"key": str(number), "value": "x" * 1000} for number in range(40)]
    told = deliver(cluster, strict, records, {"linger.ms": 2000})
    assert set(codes(told)) == {KafkaError.MSG_SIZE_TOO_LARGE}
    producer = java_client.producer(cluster.bootstrap, linger_ms="2000", batch_size="100000")
    sent = [producer.send(java_client.record(strict, record["key"], record["value"])) for record in records]
    producer.flush()
    assert len({future.get().offset() for future in sent}) == len(records)
    producer.close()
    found("all its records are reported MSG_SIZE_TOO_LARGE", "divides it and sends the parts", SEEN)


@pytest.mark.fact("Producer", "a record that is larger than a batch")
def test_a_record_that_is_larger_than_a_batch(
    cluster: Cluster, librdkafka: Librdkafka, brokers: Brokers, found: Found
):
    for name in made(cluster, "facts-large", 1, {}):
        records = [{"value": "x" * size} for size in (100, 100, 5000, 100, 100)]
        told = deliver(cluster, name, records, {"batch.size": 1000, "linger.ms": 2000})
        assert not any(codes(told))
        stored = [batch for path in cluster.segments(name, 0) for batch in batches_in(path.read_bytes())]
        [alone] = [batch for batch in stored if batch.size > 5000]
        assert alone.records == 1
    found("travels alone, in a batch of its own", "", SEEN)


@pytest.mark.fact("Producer", "retriable() of a report")
def test_a_report_is_never_retriable(librdkafka: Librdkafka, found: Found):
    told: list[Any] = []
    producer = Producer(
        {"bootstrap.servers": NOBODY, "message.timeout.ms": 50, "logger": client_settings.SILENCE}
    )
    producer.produce("t", "x", on_delivery=lambda *report: told.append(report))
    producer.flush(PATIENCE)
    [(error, _)] = told
    assert (error.code(), error.retriable()) == (KafkaError._MSG_TIMED_OUT, False)
    found("False, also for _MSG_TIMED_OUT: the client has tried again already", "", "nobody answered")


@pytest.mark.fact("Producer", "an error that is compared with None by ==")
def test_an_error_is_compared_with_none(librdkafka: Librdkafka, found: Found):
    error = KafkaError(KafkaError._MSG_TIMED_OUT)
    assert error == KafkaError._MSG_TIMED_OUT
    assert error is not None
    with pytest.raises(SystemError) as told:
        [error].count(None)  # compares, and is the next call in C, which meets the exception
    assert isinstance(told.value.__cause__, TypeError)
    found("leaves an exception that a later line meets: `error is None` is safe", "", "tried")


@pytest.mark.fact("Producer", "a with block")
def test_with_waits_for_reports(
    cluster: Cluster, plain: str, librdkafka: Librdkafka, brokers: Brokers, found: Found
):
    told: list[Any] = []

    def work() -> None:
        with Producer(client_settings.shared(cluster.bootstrap) | {"linger.ms": 1000}) as producer:
            producer.produce(plain, "x", on_delivery=lambda *report: told.append(report))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()
    assert codes(told) == [None]
    found("its end sends what waits, after an error too", "", SEEN)


@pytest.mark.fact("Producer", "dropped with records in it")
def test_a_producer_that_is_dropped(
    librdkafka: Librdkafka,
    found: Found,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
):
    text = "Producer terminating with 1 message"
    for logger in (None, logging.getLogger("facts")):
        producer = Producer({"bootstrap.servers": NOBODY} | ({"logger": logger} if logger else {}))
        producer.produce("t", "x")
        del producer
        said = capfd.readouterr().err
        assert (text in said) == (logger is None), said
    assert text not in caplog.text
    found(
        "throws them away and says so on standard error; if it has a `logger`, nowhere",
        "",
        MADE,
    )


@pytest.mark.fact("Brokers", "whose topics they create, if auto.create.topics.enable is true")
def test_who_creates_topics(librdkafka: Librdkafka, java_client: Java, found: Found):
    with librdkafka.mock() as address:
        own = client_settings.shared(address)
        producer = Producer(own)
        producer.produce("of-a-producer", "x")
        assert producer.flush(PATIENCE) == 0
        reader = Consumer(own | {"group.id": "g"})
        asker = Consumer(own | {"group.id": "g", "allow.auto.create.topics": True})
        with closing(reader), closing(asker):
            reader.assign([TopicPartition("of-a-reader", 0, 0)])
            asker.assign([TopicPartition("of-one-who-asks", 0, 0)])

            def asked() -> bool:
                """Poll both; tell whether the topic is there of the one that creates it."""
                assert [reader.poll(0.5), asker.poll(0.5)] == [None, None]
                return "of-one-who-asks" in producer.list_topics(timeout=PATIENCE).topics

            # The other one, which creates nothing, has had as much time.
            assert quiet_wait(asked, PATIENCE)
        made = set(producer.list_topics(timeout=PATIENCE).topics)
    assert made == {"of-a-producer", "of-one-who-asks"}
    assert java_client.default("consumer", "allow.auto.create.topics") == "true"
    here = "a producer's; a consumer's only with `allow.auto.create.topics=true`"
    found(here, "a producer's and a consumer's", "seen on librdkafka's stand-in for a broker")
