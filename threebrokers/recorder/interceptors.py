"""Counting what a client does, while a recording runs and only then."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeVar

from confluent_kafka import KafkaError, Message

from threebrokers import clock
from threebrokers.kafka.clients import LabConsumer, LabProducer
from threebrokers.kafka.interceptors import ConsumerInterceptor, Delivery, ProducerInterceptor, ProducerRecord
from threebrokers.recorder.counters import Notes, Tally

T = TypeVar("T")


class Tallies(dict[tuple[str | None, int | None], Tally]):
    """The tallies of one client and kind by topic and partition; a missing one is made."""

    def __init__(self, notes: Notes, client: Callable[[], str], kind: str) -> None:
        super().__init__()
        self._notes, self._client, self._kind = notes, client, kind

    def __missing__(self, place: tuple[str | None, int | None]) -> Tally:
        self[place] = self._notes.tally(self._client(), self._kind, str(place[0]), place[1])
        return self[place]


class CountedProducer(ProducerInterceptor, Delivery):
    """Counts what a producer sends, and what its delivery reports say."""

    def __init__(self, name: Callable[[], str], notes: Notes) -> None:
        self._sent, self._acknowledged, self._failed = (
            Tallies(notes, name, kind) for kind in ("sent", "acknowledged", "failed")
        )

    def on_send(self, record: ProducerRecord) -> Delivery:
        """Hear all that becomes of it."""
        return self

    def on_sent(self, record: ProducerRecord) -> None:
        """Count a record that the client has taken."""
        self._sent[record.topic, record.more.get("partition")].add(clock.now())

    def on_acknowledgement(self, error: KafkaError | None, message: Message) -> None:
        """Count a delivery report."""
        told = self._acknowledged if error is None else self._failed
        told[message.topic(), message.partition()].add(clock.now())


class CountedConsumer(ConsumerInterceptor):
    """Counts what a consumer delivers to the program."""

    def __init__(self, name: Callable[[], str], notes: Notes) -> None:
        self._delivered = Tallies(notes, name, "delivered")

    def on_consume(self, messages: Sequence[Message]) -> None:
        """Count the records, all with the same time."""
        at = clock.now()
        for message in messages:
            if message.error() is None:
                self._delivered[message.topic(), message.partition()].add(at)


def listen(client: LabProducer | LabConsumer, name: Callable[[], str], notes: Notes) -> Callable[[], None]:
    """Count what a client does from now on; return how to end that. `name()` is asked at its first record."""
    name = cache(name)
    if isinstance(client, LabProducer):
        return _added(client.interceptors, CountedProducer(name, notes))
    return _added(client.interceptors, CountedConsumer(name, notes))


def _added(interceptors: list[T], own: T) -> Callable[[], None]:
    interceptors.append(own)
    return lambda: interceptors.remove(own)
