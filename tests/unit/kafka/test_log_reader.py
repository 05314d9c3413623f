"""Reading a log from brokers that change their minds: a made-up consumer stands in for the client."""

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from threebrokers.errors import LabError
from threebrokers.kafka import log_reader

UNHEARD = KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART)


class MadeUp:
    """A consumer of a topic 't' with one record, whose broker answers as `offsets` and `sends` say."""

    def __init__(self, offsets: Any = (0, 1), sends: KafkaError | None = None, topic: Any = None) -> None:
        self.offsets, self.sends, self.topic, self.closed = offsets, sends, topic, False
        self.asked: list[int] = []

    def list_topics(self, name: str, timeout: float) -> object:
        return SimpleNamespace(topics={name: SimpleNamespace(error=self.topic, partitions={0: None})})

    def get_watermark_offsets(self, place: TopicPartition, timeout: float) -> tuple[int, int]:
        if isinstance(self.offsets, KafkaError):
            raise KafkaException(self.offsets)
        found: tuple[int, int] = self.offsets
        return found

    def assign(self, places: list[TopicPartition]) -> None:
        assert [place.offset for place in places] == [0]

    def consume(self, number: int, timeout: float) -> list[object]:
        place = {"topic": "t", "partition": 0, "offset": len(self.asked)}
        self.asked.append(number)
        told: dict[str, Any] = {**place, "key": b"k", "value": b"v"}
        told |= {"error": self.sends, "headers": [], "timestamp": (1, 7)}
        return [SimpleNamespace(**{name: lambda value=value: value for name, value in told.items()})]

    def close(self) -> None:
        self.closed = True


Reader = Callable[..., list[MadeUp]]


@pytest.fixture
def readers(monkeypatch: pytest.MonkeyPatch) -> Reader:
    """Give these consumers, one after the other; the last one again and again."""

    def give(*consumers: MadeUp) -> list[MadeUp]:
        left = list(consumers)
        monkeypatch.setattr(log_reader, "_reader", lambda *_: left.pop(0) if len(left) > 1 else left[0])
        return list(consumers)

    monkeypatch.setattr(log_reader, "ANSWER_SECONDS", 0.2)
    monkeypatch.setattr(log_reader, "ONE_SECONDS", 0.05)
    monkeypatch.setattr(log_reader, "SILENT_SECONDS", 0.05)
    return give


@pytest.mark.parametrize("code", log_reader.UNKNOWN)
def test_a_broker_that_has_not_heard_of_a_partition_is_asked_again(code: int, readers: Reader) -> None:
    made = readers(MadeUp(offsets=KafkaError(code)), MadeUp(sends=KafkaError(code)), MadeUp())
    [record] = log_reader.read_log("nowhere:1", "t")
    assert (record.key, record.offset, record.timestamp) == (b"k", 0, 7)
    assert all(one.closed for one in made)


def test_nobody_waits_for_more_records_than_can_come(readers: Reader) -> None:
    [made] = readers(MadeUp(offsets=(0, 3)))  # it sends one at a time
    assert [record.offset for record in log_reader.read_log("nowhere:1", "t")] == [0, 1, 2]
    assert made.asked == [3, 2, 1]


def test_end_offsets_are_asked_again_too(readers: Reader) -> None:
    readers(MadeUp(offsets=UNHEARD), MadeUp())
    assert log_reader.end_offsets("nowhere:1", "t") == {0: 1}


def test_a_topic_that_is_gone_is_named(readers: Reader) -> None:
    readers(MadeUp(offsets=UNHEARD), MadeUp(topic=UNHEARD))
    with pytest.raises(log_reader.MissingTopicError) as told:
        log_reader.read_log("nowhere:1", "t")
    assert told.value.topic == "t"


def test_a_broker_that_never_hears_of_it_is_named_after_a_while(readers: Reader) -> None:
    [made] = readers(MadeUp(offsets=UNHEARD))
    with pytest.raises(LabError, match=r"'t' could not be read to its end \(partition 0: "):
        log_reader.read_log("nowhere:1", "t")
    assert made.closed


def test_another_fault_is_told_at_once(readers: Reader) -> None:
    readers(MadeUp(sends=KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED)))
    with pytest.raises(KafkaException, match="TOPIC_AUTHORIZATION_FAILED"):
        log_reader.read_log("nowhere:1", "t")


@pytest.mark.parametrize("code", [KafkaError._TIMED_OUT, KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN])
def test_who_asks_a_leader_that_is_gone_is_followed_by_one_that_asks_afresh(
    code: int, readers: Reader
) -> None:
    made = readers(MadeUp(offsets=KafkaError(code)), MadeUp())
    assert log_reader.end_offsets("nowhere:1", "t") == {0: 1}
    assert made[0].closed
    readers(MadeUp(offsets=KafkaError(code)))
    with pytest.raises(LabError, match="could not be read to its end"):
        log_reader.read_log("nowhere:1", "t")


class Given(MadeUp):
    """A consumer that gives these messages, one at a time: (partition, offset), or an end that it has met."""

    def __init__(self, ends: dict[int, int], *messages: tuple[int, int] | tuple[int, int, str]) -> None:
        super().__init__()
        self.ends, self.left = ends, list(messages)

    def list_topics(self, name: str, timeout: float) -> object:
        return SimpleNamespace(
            topics={name: SimpleNamespace(error=None, partitions=dict.fromkeys(self.ends))}
        )

    def get_watermark_offsets(self, place: TopicPartition, timeout: float) -> tuple[int, int]:
        return 0, self.ends[place.partition]

    def assign(self, places: list[TopicPartition]) -> None:
        return None

    def consume(self, number: int, timeout: float) -> list[object]:
        if not self.left:
            return []
        partition, offset, *end = self.left.pop(0) if len(self.left) > 1 else self.left[0]
        told: dict[str, Any] = {"topic": "t", "partition": partition, "offset": offset}
        told |= {"key": b"k", "value": b"v", "headers": [], "timestamp": (1, 7)}
        told["error"] = KafkaError(KafkaError._PARTITION_EOF) if end else None
        return [SimpleNamespace(**{name: lambda value=value: value for name, value in told.items()})]


def test_an_end_before_the_one_that_was_told_is_not_the_end(readers: Reader) -> None:
    readers(Given({0: 3}, (0, 0), (0, 1, "end"), (0, 1), (0, 2)))
    assert [record.offset for record in log_reader.read_log("nowhere:1", "t")] == [0, 1, 2]


def test_a_record_that_comes_again_is_one_record(readers: Reader) -> None:
    readers(Given({0: 3}, (0, 0), (0, 1), (0, 0), (0, 1), (0, 2)))
    assert [record.offset for record in log_reader.read_log("nowhere:1", "t")] == [0, 1, 2]


def test_records_of_a_partition_that_is_read_do_not_stand_for_those_of_another(readers: Reader) -> None:
    readers(Given({0: 1, 1: 1}, (0, 0), (0, 1)))  # the last one comes again and again
    with pytest.raises(LabError, match=r"partitions \[1\]"):
        log_reader.read_log("nowhere:1", "t")


class Slow(Given):
    """One that gives each message only after nearly half of the time that it has in all."""

    def consume(self, number: int, timeout: float) -> list[object]:
        time.sleep(0.09)
        return super().consume(number, timeout)


def test_who_sent_for_longer_than_anybody_may_be_silent_is_followed_by_another(readers: Reader) -> None:
    messages = [(0, offset) for offset in range(4)]
    readers(Slow({0: 4}, *messages[:3], (1, 0)), Given({0: 4}, *messages))
    assert len(log_reader.read_log("nowhere:1", "t")) == 4


def test_who_never_sends_the_last_record_is_given_up(readers: Reader) -> None:
    readers(Given({0: 2}, (0, 0), (1, 0)))
    with pytest.raises(LabError, match=r"partitions \[0\]"):
        log_reader.read_log("nowhere:1", "t")


class Cold(MadeUp):
    """One whose way in takes longer than the first consumer asks."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = 0.0

    def list_topics(self, name: str, timeout: float) -> object:
        self.begun = self.begun or time.monotonic()
        if time.monotonic() < self.begun + 0.08:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
        return super().list_topics(name, timeout)


def test_whose_way_in_is_slow_has_more_time_with_each_try(readers: Reader) -> None:
    readers(Cold(), Cold(), Cold(), Cold())
    assert len(log_reader.read_log("nowhere:1", "t")) == 1
