"""confluent-kafka's clients with a ledger: every record that passes is noted, nothing else changes."""

from collections.abc import Callable, Mapping
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message

from threebrokers.kafka.clients import LabConsumer, LabProducer
from threebrokers.ledger.journal import Book, Number

HEADER = "ledger-number"
PLACES = ("partition", "callback", "on_delivery", "timestamp", "headers")  # after topic, value, key
Report = Callable[[KafkaError | None, Message], None]


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


class LedgerProducer(LabProducer):
    """A producer whose records are numbered in a header, and noted with what became of them."""

    def __init__(self, config: Mapping[str, Any], filled: Mapping[str, Any], book: Book) -> None:
        super().__init__(config, filled)
        self._book, self.number, self._sequence = book, book.enlist("producer"), 0

    def produce(self, topic: str, value: Any = None, key: Any = None, *places: Any, **named: Any) -> None:
        """Produce as confluent-kafka does."""
        named |= dict(zip(PLACES, places, strict=False))
        given = named.pop("callback", None), named.pop("on_delivery", None), self.config.get("on_delivery")
        own: Report | None = next((report for report in given if report is not None), None)
        number = Number(self.number, self._sequence)
        headers = named.pop("headers", None) or []
        headers = [*(headers.items() if isinstance(headers, Mapping) else headers)]
        headers.append((HEADER, stamp(self._book.run, number)))
        self._book.note("attempted", number, topic)

        def report(error: KafkaError | None, message: Message) -> None:
            if error is None:
                self._book.note("acknowledged", number, topic, message.partition(), _offset(message))
            else:
                self._book.note("failed", number, topic, reason=error.name())
            if own is not None:
                own(error, message)

        try:
            super().produce(topic, value, key, on_delivery=report, headers=headers, **named)
        except BaseException as fault:
            if isinstance(fault, KafkaException):
                self._book.note("failed", number, topic, reason=fault.args[0].name())
            else:  # a full queue, or a wrong argument: the client has not taken it
                self._book.note("refused", number, topic)
            raise
        finally:
            self._sequence += 1


class LedgerConsumer(LabConsumer):
    """A consumer that notes what it delivers to the program."""

    def __init__(self, config: Mapping[str, Any], filled: Mapping[str, Any], book: Book) -> None:
        super().__init__(config, filled)
        self._book, self.number = book, book.enlist("consumer")

    def poll(self, timeout: float = -1) -> Message | None:
        """Poll as confluent-kafka does."""
        message = super().poll(timeout)
        if message is not None:
            self._delivered(message)
        return message

    def consume(self, num_messages: int = 1, timeout: float = -1) -> list[Message]:
        """Consume as confluent-kafka does."""
        messages: list[Message] = super().consume(num_messages, timeout)
        for message in messages:
            self._delivered(message)
        return messages

    def _delivered(self, message: Message) -> None:
        if message.error() is None and (number := number_in(message.headers(), self._book.run)):
            topic, place = str(message.topic()), (message.partition(), message.offset())
            self._book.note("delivered", number, topic, *place, by=self.number)


def _offset(message: Message) -> int | None:
    offset = message.offset()  # with acks=0 nobody tells it
    return None if offset is None or offset < 0 else offset
