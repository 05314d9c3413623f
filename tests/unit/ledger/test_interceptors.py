"""A ledger notes what passes through its clients, and others that see the same do not disturb it."""

from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer

from threebrokers.errors import LabError
from threebrokers.kafka.clients import LabConsumer, LabProducer
from threebrokers.ledger.balance import Balance
from threebrokers.ledger.interceptors import (
    HEADER,
    NotedConsumer,
    NumberedProducer,
    is_numbered,
    number_in,
)
from threebrokers.ledger.journal import Book, Number
from threebrokers.recorder.counters import Notes
from threebrokers.recorder.interceptors import listen

NOWHERE = {"bootstrap.servers": "127.0.0.1:1", "log_level": 0}


class Stored:
    """A record at its place."""

    def __init__(self, offset: int | None = 0, headers: Any = None, error: Any = None) -> None:
        self._offset, self._headers, self._error = offset, headers, error

    def topic(self) -> str:
        return "orders"

    def partition(self) -> int:
        return 2

    def offset(self) -> int | None:
        return self._offset

    def headers(self) -> Any:
        return self._headers

    def error(self) -> Any:
        return self._error


class Arriving(Producer):
    """confluent-kafka's producer, to which one thing happens with every record."""

    happens: Any = None

    def produce(self, topic: str, value: Any = None, key: Any = None, **named: Any) -> None:
        self.sent = value, key, named["headers"]
        if isinstance(self.happens, BaseException):
            raise self.happens
        named["on_delivery"](self.happens, Stored(7))


class StandIn(LabProducer, Arriving):
    """A lab's producer above that one."""


class Filled(Consumer):
    """confluent-kafka's consumer, which has one message."""

    message: Any = None

    def poll(self, timeout: float = -1) -> Any:
        return self.message

    def consume(self, num_messages: int = 1, timeout: float = -1) -> Any:
        return [self.message] * num_messages


class Reader(LabConsumer, Filled):
    """A lab's consumer above that one."""


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return Book.fresh(tmp_path / "a.jsonl")


@pytest.fixture
def producer(book: Book) -> StandIn:
    made = StandIn({}, NOWHERE)
    made.interceptors.append(NumberedProducer(book))
    return made


def noted(book: Book) -> list[tuple[Any, ...]]:
    return [(note.what, note.number.sequence, note.offset, note.reason) for note in book.notes()]


@pytest.mark.parametrize("headers", [None, {"trace": b"1"}, [("trace", b"1")]])
def test_the_number_stands_behind_the_programs_own_headers(
    book: Book, producer: StandIn, headers: Any
) -> None:
    producer.produce("orders", b"a", "key", headers=headers)
    value, key, sent = producer.sent
    assert (value, key, sent[:-1]) == (b"a", "key", [("trace", b"1")] if headers else [])
    assert sent[-1][0] == HEADER
    assert number_in(sent, book.run) == Number(1, 0)
    assert noted(book) == [("attempted", 0, None, ""), ("acknowledged", 0, 7, "")]


@pytest.mark.parametrize(
    ("happens", "ends"),
    [
        (KafkaError(KafkaError._TIMED_OUT), ("failed", 0, None, "_TIMED_OUT")),
        (
            KafkaException(KafkaError(KafkaError.MSG_SIZE_TOO_LARGE)),
            ("failed", 0, None, "MSG_SIZE_TOO_LARGE"),
        ),
        (BufferError("full"), ("refused", 0, None, "")),
        (TypeError("no text"), ("refused", 0, None, "")),
    ],
)
def test_every_attempt_has_its_end(book: Book, producer: StandIn, happens: Any, ends: Any) -> None:
    producer.happens = happens
    if isinstance(happens, BaseException):
        with pytest.raises(type(happens)):
            producer.produce("orders")
    else:
        producer.produce("orders")
    producer.happens = None
    producer.produce("orders")
    assert noted(book)[:3] == [("attempted", 0, None, ""), ends, ("attempted", 1, None, "")]


def test_a_callback_that_is_refused_leaves_no_record_that_was_attempted(
    book: Book, producer: StandIn
) -> None:
    with pytest.raises(LabError, match="two arguments"):
        producer.produce("orders", on_delivery=lambda message: None)
    assert noted(book) == [("attempted", 0, None, ""), ("refused", 0, None, "")]
    assert Balance.of("orders", book.notes(), [], []).attempted == []


def test_an_interruption_does_not_say_that_the_client_has_no_record(book: Book, producer: StandIn) -> None:
    producer.happens = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        producer.produce("orders")
    assert noted(book) == [("attempted", 0, None, "")]
    assert Balance.of("orders", book.notes(), [], []).unknown == [Number(1, 0)]


def test_every_record_of_a_batch_is_numbered(book: Book, producer: StandIn) -> None:
    assert producer.produce_batch("orders", [{"value": b"a"}, {"value": b"b", "key": "k"}]) == 2
    assert producer.sent[:2] == (b"b", "k")
    assert number_in(producer.sent[2], book.run) == Number(1, 1)
    assert [(what, place) for what, place, *_ in noted(book)] == [
        ("attempted", 0),
        ("acknowledged", 0),
        ("attempted", 1),
        ("acknowledged", 1),
    ]


@pytest.mark.parametrize(
    ("happens", "code"),
    [
        (BufferError("full"), KafkaError._QUEUE_FULL),
        (KafkaException(KafkaError(KafkaError.MSG_SIZE_TOO_LARGE)), KafkaError.MSG_SIZE_TOO_LARGE),
    ],
)
def test_what_is_not_taken_of_a_batch_has_its_error(producer: StandIn, happens: Any, code: int) -> None:
    producer.happens = happens
    batch: list[dict[str, Any]] = [{"value": b"a"}, {"value": b"b"}]
    assert producer.produce_batch("orders", batch) == 0
    assert [message["_error"].code() for message in batch] == [code, code]


def test_a_recording_and_the_learner_are_told_too(book: Book, producer: StandIn) -> None:
    notes, told = Notes(), []
    end = listen(producer, lambda: "p", notes)
    for _ in range(2):
        producer.produce("orders", on_delivery=lambda error, message: told.append(message.offset()))
    end()
    producer.produce("orders")
    assert told == [7, 7]
    assert [(flow.kind, flow.records) for flow in notes.flows()] == [("sent", 2), ("acknowledged", 2)]
    assert len(noted(book)) == 6


def test_only_a_ledgers_producer_is_numbered(producer: StandIn) -> None:
    assert is_numbered(producer)
    assert not is_numbered(StandIn({}, NOWHERE))
    assert not is_numbered("producer")


def test_what_is_delivered_is_noted(book: Book, producer: StandIn) -> None:
    producer.produce("orders")
    reader = Reader({"group.id": "g"}, NOWHERE)
    reader.interceptors.append(NotedConsumer(book))
    for message in (Stored(7, producer.sent[2]), Stored(8), Stored(9, producer.sent[2], "end")):
        reader.message = message
        assert reader.poll(1) is message
        assert reader.consume(2, timeout=1) == [message] * 2
    assert noted(book)[2:] == [("delivered", 0, 7, "")] * 3
    assert {note.by for note in book.notes() if note.what == "delivered"} == {1}
    reader.close()


def test_jupyter_shows_what_confluent_kafka_says() -> None:
    assert "on_delivery" in (StandIn.produce.__doc__ or "")
    assert "timeout" in (LabConsumer.poll.__doc__ or "")
