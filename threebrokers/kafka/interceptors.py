"""Interceptors: who wants to see what passes through a client of a lab derives from one of these."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from confluent_kafka import KafkaError, Message, TopicPartition


@dataclass(eq=False, slots=True)
class ProducerRecord:
    """One call of produce(). `more` is what the program has given besides: partition, timestamp, headers."""

    topic: str
    value: Any
    key: Any
    more: dict[str, Any]


class Delivery:
    """Hears what becomes of a record."""

    def on_sent(self, record: ProducerRecord) -> None:
        """Hear that the client has taken the record, and will send it."""

    def on_refused(self, record: ProducerRecord, fault: BaseException) -> None:
        """Hear that produce() has raised this; if it is an Exception, the client has not taken the record."""

    def on_acknowledgement(self, error: KafkaError | None, message: Message) -> None:
        """Hear the delivery report, just before the program hears it."""


class ProducerInterceptor:
    """Sees every record of a producer."""

    def on_send(self, record: ProducerRecord) -> Delivery:
        """See a record before the client gets it; what is changed in it is sent so.

        Returns who hears what becomes of this record: one object for all of them costs least.
        """
        raise NotImplementedError


class ConsumerInterceptor:
    """Sees every message of a consumer."""

    def on_consume(self, messages: Sequence[Message]) -> None:
        """See what poll() or consume() returns, just before the program gets it; errors are among them."""
        raise NotImplementedError

    def on_assigned(self, partitions: Sequence[TopicPartition]) -> None:
        """Hear that the consumer was given these partitions, just before the program hears it."""

    def on_revoked(self, partitions: Sequence[TopicPartition], *, lost: bool) -> None:
        """Hear that these partitions were taken away, when the program has done what it does about it.

        `lost`: the group did not ask, it has given them to others, or may have.
        """
