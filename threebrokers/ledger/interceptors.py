"""A ledger's interceptors: every record that passes is noted, nothing else changes."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from confluent_kafka import KafkaError, KafkaException, Message

from threebrokers.kafka.clients import LabProducer
from threebrokers.kafka.interceptors import ConsumerInterceptor, Delivery, ProducerInterceptor, ProducerRecord
from threebrokers.ledger.journal import Book, Number

HEADER = "ledger-number"


def stamp(run: str, number: Number) -> bytes:
    """Return what the header of a record says: run, producer and sequence."""
    return f"{run}:{number.producer}:{number.sequence}".encode()


def number_in(headers: Any, run: str) -> Number | None:
    """Return the number that a record's headers tell, None if it is not of this run."""
    own = f"{run}:".encode()
    for name, value in headers or ():
        if name == HEADER and value is not None and value.startswith(own):
            return Number(*map(int, value.removeprefix(own).split(b":")))
    return None


def is_numbered(producer: object) -> TypeGuard[LabProducer]:
    """Tell whether this is a producer that some ledger has made."""
    return isinstance(producer, LabProducer) and any(
        isinstance(interceptor, NumberedProducer) for interceptor in producer.interceptors
    )


class NumberedProducer(ProducerInterceptor):
    """Numbers the records of a producer in a header, and notes what becomes of them."""

    def __init__(self, book: Book) -> None:
        self._book, self._number, self._sequence = book, book.enlist("producer"), 0

    def on_send(self, record: ProducerRecord) -> Delivery:
        """Number the record."""
        headers = record.more.get("headers") or []
        headers = [*(headers.items() if isinstance(headers, Mapping) else headers)]
        number = Number(self._number, self._sequence)
        self._sequence += 1
        record.more["headers"] = [*headers, (HEADER, stamp(self._book.run, number))]
        self._book.note("attempted", number, record.topic)
        return _Numbered(self._book, number, record.topic)


class _Numbered(Delivery):
    """One numbered record on its way."""

    def __init__(self, book: Book, number: Number, topic: str) -> None:
        self._book, self._number, self._topic = book, number, topic

    def on_refused(self, record: ProducerRecord, fault: BaseException) -> None:
        # An interruption tells nothing: the client may have the record already, and report it later.
        if isinstance(fault, KafkaException):
            self._failed(fault.args[0])
        elif isinstance(fault, Exception):  # a full queue, or a wrong argument: the client has not taken it
            self._book.note("refused", self._number, self._topic)

    def on_acknowledgement(self, error: KafkaError | None, message: Message) -> None:
        if error is None:
            place = message.partition(), _offset(message)
            self._book.note("acknowledged", self._number, self._topic, *place)
        else:
            self._failed(error)

    def _failed(self, error: KafkaError) -> None:
        self._book.note("failed", self._number, self._topic, reason=error.name())


class NotedConsumer(ConsumerInterceptor):
    """Notes what a consumer delivers to the program."""

    def __init__(self, book: Book) -> None:
        self._book, self._number = book, book.enlist("consumer")

    def on_consume(self, messages: Sequence[Message]) -> None:
        """Note the records of this run."""
        for message in messages:
            if message.error() is None and (number := number_in(message.headers(), self._book.run)):
                place = message.partition(), message.offset()
                self._book.note("delivered", number, str(message.topic()), *place, by=self._number)


def _offset(message: Message) -> int | None:
    offset = message.offset()  # with acks=0 nobody tells it
    return None if offset is None or offset < 0 else offset
