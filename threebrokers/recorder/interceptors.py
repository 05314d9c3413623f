"""Counting what a client does, while a recording runs and only then."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TypeVar

from confluent_kafka import KafkaError, Message, TopicPartition

from threebrokers import clock
from threebrokers.kafka.clients import LabConsumer, LabProducer
from threebrokers.kafka.interceptors import ConsumerInterceptor, Delivery, ProducerInterceptor, ProducerRecord
from threebrokers.recorder.counters import Notes, Tally
from threebrokers.recorder.data import Holding

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
        offset = message.offset() if error is None else None
        told[message.topic(), message.partition()].add(clock.now(), offset=offset)


class CountedConsumer(ConsumerInterceptor):
    """Counts what a consumer delivers to the program, and notes which partitions its group gives to it.

    `held` are the partitions that it holds already. They are noted when it does something: a consumer of an
    earlier cell that does nothing is not in the recording.
    """

    def __init__(
        self, name: Callable[[], str], notes: Notes, group: str, held: Iterable[tuple[str, int]]
    ) -> None:
        self._delivered = Tallies(notes, name, "delivered")
        self._name, self._notes, self._group = name, notes, group
        self._before, self._since = sorted(held), clock.now()

    def on_consume(self, messages: Sequence[Message]) -> None:
        """Count the records, all with the same time."""
        at = clock.now()
        for message in messages:
            if message.error() is None:
                self._begin()
                self._delivered[message.topic(), message.partition()].add(at, offset=message.offset())

    def on_assigned(self, partitions: Sequence[TopicPartition]) -> None:
        """Note what was given."""
        self._begin()
        self._hold(clock.now(), "assigned", partitions)

    def on_revoked(self, partitions: Sequence[TopicPartition], *, lost: bool) -> None:
        """Note what was taken away."""
        self._begin()
        self._hold(clock.now(), "lost" if lost else "revoked", partitions)

    def _begin(self) -> None:
        if self._before:
            before, self._before = self._before, []
            self._note(self._since, "assigned", before)

    def _hold(self, at: float, what: str, partitions: Sequence[TopicPartition]) -> None:
        self._note(at, what, sorted((place.topic, place.partition) for place in partitions))

    def _note(self, at: float, what: str, places: Iterable[tuple[str, int]]) -> None:
        self._notes.hold(Holding(round(at, 3), self._name(), self._group, what, tuple(places)))


def listen(client: LabProducer | LabConsumer, name: Callable[[], str], notes: Notes) -> Callable[[], None]:
    """Count what a client does from now on; return how to end that. `name()` is asked at its first record."""
    name = cache(name)
    if isinstance(client, LabProducer):
        return _added(client.interceptors, CountedProducer(name, notes))
    group = str(client.config.get("group.id", ""))
    return _added(client.interceptors, CountedConsumer(name, notes, group, client.held))


def _added(interceptors: list[T], own: T) -> Callable[[], None]:
    interceptors.append(own)
    return lambda: interceptors.remove(own)
