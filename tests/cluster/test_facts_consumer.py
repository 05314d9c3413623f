"""Facts about consumers, as seen: this client's, and Java's where it does something else."""

import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import OFFSET_END, OFFSET_INVALID, Consumer, KafkaError, KafkaException, TopicPartition
from py4j.protocol import Py4JJavaError

from tests.asked import Brokers, Java, Librdkafka
from tests.fact_bench import (
    MADE,
    NOBODY,
    PATIENCE,
    SEEN,
    consumer,
    deliver,
    group,
    one,
    plain,
)
from tests.facts import Found
from threebrokers.cluster import Cluster
from threebrokers.kafka import client_settings
from threebrokers.kafka.log_reader import read_log
from threebrokers.waiting import quiet_wait

__all__ = ["consumer", "group", "one", "plain"]

Make = Callable[..., Consumer]


@pytest.mark.fact("Consumer", "without a group.id")
def test_no_group(librdkafka: Librdkafka, java_client: Java, found: Found):
    with pytest.raises(ValueError, match=r"group\.id"):
        Consumer({"bootstrap.servers": NOBODY})
    reader = java_client.consumer(NOBODY)
    reader.assign(java_client.places("t", 0))
    reader.close()
    found("`ValueError`, also for one that never joins", "can be made, and can `assign`", MADE)


@pytest.mark.fact("Consumer", "no offset to begin at, and it shall not choose")
def test_the_policy_that_asks_a_person(librdkafka: Librdkafka, java_client: Java, found: Found):
    Consumer({"group.id": "g", "auto.offset.reset": "error"}).close()
    with pytest.raises(KafkaException, match="Invalid value"):
        Consumer({"group.id": "g", "auto.offset.reset": "none"})
    java_client.consumer(NOBODY, group_id="g", auto_offset_reset="none").close()
    with pytest.raises(Py4JJavaError, match=r"ConfigException|KafkaException"):
        java_client.consumer(NOBODY, group_id="g", auto_offset_reset="error")
    found("`auto.offset.reset=error`", "`auto.offset.reset=none`", MADE)


@pytest.mark.fact("Consumer", "its offset is not in the log")
def test_an_offset_that_is_gone(
    cluster: Cluster,
    one: str,
    consumer: Make,
    librdkafka: Librdkafka,
    java_client: Java,
    brokers: Brokers,
    found: Found,
):
    beyond = 500  # the log has ten records
    told = []
    for policy in ("earliest", "error"):
        here = consumer(auto_offset_reset=policy)
        here.assign([TopicPartition(one, 0, beyond)])
        told.append(here.poll(PATIENCE))
    assert (told[0].error(), told[0].offset()) == (None, 0)
    assert told[1].error().code() == KafkaError._AUTO_OFFSET_RESET
    there = java_client.consumer(cluster.bootstrap, auto_offset_reset="none")
    there.assign(java_client.places(one, 0))
    there.seek(java_client.places(one, 0)[0], beyond)
    with pytest.raises(Py4JJavaError, match="OffsetOutOfRangeException"):
        quiet_wait(lambda: there.poll(java_client.ms(500)).count(), PATIENCE)
    there.close()
    found(
        "the reset policy decides, and the program is not told; with `error` `_AUTO_OFFSET_RESET` "
        "comes among the records",
        "with `none` `OffsetOutOfRangeException`",
        SEEN,
    )


@pytest.mark.fact("Consumer", "begins at an age")
def test_the_policy_of_an_age(librdkafka: Librdkafka, java_client: Java, found: Found):
    java_client.consumer(NOBODY, group_id="g", auto_offset_reset="by_duration:P1D").close()
    with pytest.raises(KafkaException, match="Invalid value"):
        Consumer({"group.id": "g", "auto.offset.reset": "by_duration:P1D"})
    found("has no such policy", "`auto.offset.reset=by_duration:P1D`", MADE)


@pytest.mark.fact("Consumer", "topics by a pattern")
def test_a_pattern(
    cluster: Cluster, one: str, group: str, librdkafka: Librdkafka, brokers: Brokers, found: Found
):
    begin = one.removesuffix("ten")
    own = client_settings.shared(cluster.bootstrap) | {"auto.offset.reset": "earliest"}
    heard = {}
    for pattern in (f"^{begin}t.*", f"{begin}t.*"):
        reader = Consumer(own | {"group.id": f"{group}-{len(heard)}"})
        reader.subscribe([pattern])
        heard[pattern] = reader.poll(PATIENCE)
        reader.close()
    matched, named = heard.values()
    assert (matched.error(), matched.topic()) == (None, one)
    assert named.error().code() == KafkaError.UNKNOWN_TOPIC_OR_PART
    found("begins with `^`; without it, it is the name of a topic", "", SEEN)


@pytest.mark.fact("Consumer", "another thread ends a `poll()`")
def test_waking_a_consumer(librdkafka: Librdkafka, java_client: Java, found: Found):
    assert not hasattr(Consumer, "wakeup")
    there = java_client.consumer(NOBODY, group_id="g")
    there.assign(java_client.places("t", 0))
    threading.Timer(0.3, there.wakeup).start()
    with pytest.raises(Py4JJavaError, match="WakeupException"):
        there.poll(java_client.ms(10_000))
    there.close(java_client.ms(0))
    found("has no such method", "`wakeup()`: `poll()` raises `WakeupException`", MADE)


@pytest.mark.fact("Consumer", "subscribe, then assign")
def test_subscribe_and_assign(librdkafka: Librdkafka, java_client: Java, found: Found):
    here = Consumer({"group.id": "g", "bootstrap.servers": NOBODY, "logger": client_settings.SILENCE})
    here.subscribe(["t"])
    here.assign([TopicPartition("t", 0)])
    here.close()
    there = java_client.consumer(NOBODY, group_id="g")
    there.subscribe(["t"])
    with pytest.raises(Py4JJavaError, match="IllegalStateException"):
        there.assign(java_client.places("t", 0))
    there.close()
    found("obeys", "`IllegalStateException`", MADE)


@pytest.mark.fact("Consumer", "nothing is committed")
def test_the_sign_for_no_offset(
    cluster: Cluster, one: str, consumer: Make, librdkafka: Librdkafka, brokers: Brokers, found: Found
):
    [place] = consumer().committed([TopicPartition(one, 0)], timeout=PATIENCE)
    assert place.offset == OFFSET_INVALID == -1001
    found("`committed()` returns the offset -1001", "", SEEN)


@pytest.mark.fact("Consumer", "no record is as young as that")
def test_offsets_for_a_time_to_come(
    cluster: Cluster, one: str, consumer: Make, librdkafka: Librdkafka, brokers: Brokers, found: Found
):
    later = int((time.time() + 3600) * 1000)
    [place] = consumer().offsets_for_times([TopicPartition(one, 0, later)], timeout=PATIENCE)
    assert place.offset == OFFSET_END == -1
    found("`offsets_for_times()` returns the offset -1, the end", "", SEEN)


@pytest.mark.fact("Consumer", "a record that is larger than an answer may be")
def test_limits_of_bytes_are_soft(
    cluster: Cluster, plain: str, consumer: Make, librdkafka: Librdkafka, brokers: Brokers, found: Found
):
    deliver(cluster, plain, [{"value": "x" * 50_000, "partition": 5}])
    reader = consumer(max_partition_fetch_bytes=1000, fetch_max_bytes=1000, message_max_bytes=1000)
    [end] = [record.offset for record in read_log(cluster.bootstrap, plain, partitions=[5])][-1:]
    reader.assign([TopicPartition(plain, 5, end)])
    assert len(reader.poll(PATIENCE).value()) == 50_000
    found("it comes all the same", "", SEEN)


@pytest.mark.fact("Consumer", "a record without a value in an if")
def test_a_message_has_a_length(
    cluster: Cluster, plain: str, librdkafka: Librdkafka, brokers: Brokers, found: Found
):
    [(_, message)] = deliver(cluster, plain, [{"key": "k", "value": None}])
    assert (message.value(), len(message), bool(message)) == (None, 0, False)
    found("`if message` is false: its length is that of its value", "", SEEN)


@pytest.mark.fact("Consumer", "Ctrl-C")
def test_ctrl_c(
    cluster: Cluster, plain: str, consumer: Make, librdkafka: Librdkafka, brokers: Brokers, found: Found
):
    reader = consumer()
    reader.assign([TopicPartition(plain, 0, OFFSET_END)])
    took = {}
    for name, wait in (("poll", lambda: reader.poll(20)), ("consume", lambda: reader.consume(1, 2.5))):
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            until_ctrl_c(wait)
        took[name] = time.monotonic() - began
    assert took["poll"] < 19, took
    assert took["consume"] > 2.4, took
    found("`poll()` ends at once, `consume()` when its time is over", "", SEEN)


def until_ctrl_c(wait: Callable[[], Any]) -> None:
    """Wait, until Ctrl-C comes in 0.3 s, and give Python the moment in which it hears of the signal."""
    ctrl_c = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    ctrl_c.start()
    try:
        wait()
        ctrl_c.join()
        time.sleep(0.2)
    finally:
        ctrl_c.cancel()  # it must not come when nobody waits for it
        ctrl_c.join()


@pytest.mark.fact("Consumer", "two threads")
def test_two_threads(
    cluster: Cluster,
    one: str,
    consumer: Make,
    librdkafka: Librdkafka,
    java_client: Java,
    brokers: Brokers,
    found: Found,
):
    here, there = consumer(), java_client.consumer(cluster.bootstrap)
    here.assign([TopicPartition(one, 0, OFFSET_END)])
    there.assign(java_client.places(one, 0))
    there.seekToEnd(java_client.places(one, 0))

    refused, longest = while_polling(lambda: here.poll(3), here.assignment)
    assert not refused
    assert longest > 0.5, "it waits for the other one"

    def polled() -> bool:
        """Poll, unless the other thread is inside in this moment: then it is this one that is refused."""
        return not is_refused(lambda: there.poll(java_client.ms(1000)))

    refused, _ = while_polling(lambda: quiet_wait(polled, PATIENCE), there.assignment)
    assert refused
    there.close()
    found("the second waits until `poll()` of the first is over", "`ConcurrentModificationException`", SEEN)


def while_polling(poll: Callable[[], Any], other: Callable[[], Any]) -> tuple[bool, float]:
    """Call `other` while a thread polls; return whether it was ever refused, and its longest time (s)."""
    thread, longest = threading.Thread(target=poll), 0.0
    thread.start()
    while thread.is_alive():
        began = time.monotonic()
        if is_refused(other):
            thread.join()
            return True, longest
        longest = max(longest, time.monotonic() - began)
    return False, longest


def is_refused(call: Callable[[], Any]) -> bool:
    """Call; tell whether Java's consumer refused that, because another thread was inside."""
    try:
        call()
    except Py4JJavaError as error:
        if "ConcurrentModificationException" in str(error):
            return True
        raise
    return False


@pytest.mark.fact("Consumer", "max.poll.records")
def test_max_poll_records(
    one: str, consumer: Make, librdkafka: Librdkafka, java_client: Java, brokers: Brokers, found: Found
):
    reader = consumer(max_poll_records=1)
    reader.assign([TopicPartition(one, 0, 0)])
    assert len(reader.consume(10, PATIENCE)) == 10
    assert java_client.default("consumer", "max.poll.records") == "500"
    here = "`poll()` returns one record, `consume(n)` n; `max.poll.records` is taken and changes nothing"
    found(here, "`max.poll.records` 500", SEEN)
