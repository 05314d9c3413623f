"""Noting what a client does, from the outside: while a recording runs, and only then."""

from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

from confluent_kafka import KafkaError, Message

from threebrokers import clock
from threebrokers.kafka.clients import LabConsumer, LabProducer
from threebrokers.recorder.counters import Notes, Tally

Report = Callable[[KafkaError | None, Message], Any]
# The names of produce()'s arguments after topic, value and key.
NAMES = ("partition", "callback", "on_delivery", "timestamp", "headers")


class Tallies(dict[tuple[str | None, int | None], Tally]):
    """The tallies of one client and kind by topic and partition; a missing one is made."""

    def __init__(self, notes: Notes, client: Callable[[], str], kind: str) -> None:
        super().__init__()
        self._notes, self._client, self._kind = notes, client, kind

    def __missing__(self, place: tuple[str | None, int | None]) -> Tally:
        self[place] = self._notes.tally(self._client(), self._kind, str(place[0]), place[1])
        return self[place]


def listen(client: LabProducer | LabConsumer, name: Callable[[], str], notes: Notes) -> Callable[[], None]:
    """Note what this client does from now on; return how to end that. `name()` is asked at its first record.

    The client's methods are covered on the object itself, so that no client pays for it before or after.
    """
    name = cache(name)
    covers = (
        _produced(client, name, notes) if isinstance(client, LabProducer) else _polled(client, name, notes)
    )
    before = {method: vars(client).get(method) for method in covers}
    vars(client).update(covers)

    def end() -> None:
        for method in covers:
            if vars(client).get(method) is covers[method]:
                del vars(client)[method]
                if before[method] is not None:  # another recording, which began earlier
                    vars(client)[method] = before[method]

    return end


def _produced(client: LabProducer, name: Callable[[], str], notes: Notes) -> dict[str, Callable[..., Any]]:
    real, general = client.produce, client.config.get("on_delivery")
    sent, acknowledged, failed = (Tallies(notes, name, kind) for kind in ("sent", "acknowledged", "failed"))

    def reporting(theirs: Report | None) -> Report:
        def report(error: KafkaError | None, message: Message) -> None:
            told = acknowledged if error is None else failed
            told[message.topic(), message.partition()].add(clock.now())
            if theirs is not None:
                theirs(error, message)

        return report

    last: Report | None = general
    report = reporting(general)

    def produce(topic: str, *places: Any, **named: Any) -> None:
        nonlocal last, report
        if len(places) > 2:
            named.update(zip(NAMES, places[2:], strict=False))
            places = places[:2]
        theirs = named.get("on_delivery") or named.pop("callback", None) or general
        if theirs is not last:  # most programs pass the same function again and again
            last, report = theirs, reporting(theirs)
        named["on_delivery"] = report
        real(topic, *places, **named)
        sent[topic, named.get("partition")].add(clock.now())

    return {"produce": produce}


def _polled(client: LabConsumer, name: Callable[[], str], notes: Notes) -> dict[str, Callable[..., Any]]:
    poll_one, consume_many = client.poll, client.consume
    delivered = Tallies(notes, name, "delivered")

    def poll(*timeout: Any, **named: Any) -> Message | None:
        message = poll_one(*timeout, **named)
        if message is not None and message.error() is None:
            delivered[message.topic(), message.partition()].add(clock.now())
        return message

    def consume(*limits: Any, **named: Any) -> list[Message]:
        messages: list[Message] = consume_many(*limits, **named)
        at = clock.now()
        places = Counter((m.topic(), m.partition()) for m in messages if m.error() is None)
        for place, count in places.items():
            delivered[place].add(at, count)
        return messages

    return {"poll": poll, "consume": consume}
