"""Listeners of a subscription: the program's own, and the interceptors hear the same."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from confluent_kafka import Consumer, TopicPartition

from threebrokers.kafka.interceptors import ConsumerInterceptor

# The names of subscribe()'s arguments after the topics.
LISTENERS = ("on_assign", "on_revoke", "on_lost")
Listener = Callable[[Consumer, list[TopicPartition]], object]


def heard(
    interceptors: Sequence[ConsumerInterceptor], own: Mapping[str, Any], held: set[tuple[str, int]]
) -> dict[str, Any]:
    """Return the arguments for subscribe() that do what the program's `own` do, and tell the interceptors.

    `held` is kept up to date: the (topic, partition) pairs that the consumer holds. A client whose listener
    does not assign assigns by itself, so a listener more changes nothing. What is no function is left for
    confluent-kafka to refuse.
    """
    if any(not callable(listener) for listener in own.values()):
        return dict(own)
    assign, revoke = own.get("on_assign"), own.get("on_revoke")
    lose = own.get("on_lost", revoke)  # who listens to no loss hears it as a revocation

    def on_assign(consumer: Consumer, partitions: list[TopicPartition]) -> None:
        held.update((place.topic, place.partition) for place in partitions)
        for interceptor in list(interceptors):
            interceptor.on_assigned(partitions)
        if assign:
            assign(consumer, partitions)

    def taken(listener: Listener | None, *, lost: bool) -> Listener:
        def on_taken(consumer: Consumer, partitions: list[TopicPartition]) -> None:
            try:
                if listener:
                    listener(consumer, partitions)
            finally:
                held.difference_update((place.topic, place.partition) for place in partitions)
                for interceptor in list(interceptors):
                    interceptor.on_revoked(partitions, lost=lost)

        return on_taken

    mine = {"on_assign": on_assign, "on_revoke": taken(revoke, lost=False), "on_lost": taken(lose, lost=True)}
    return {**own, **mine}
