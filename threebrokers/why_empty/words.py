"""Words that several explanations use."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from threebrokers.kafka.state import BrokerState
from threebrokers.text import counted, listed
from threebrokers.why_empty.facts import Place

STATES = {"down": "is down", "paused": "is paused", "unknown": "answers nobody"}
MEND = {
    "down": "start it with `lab.cluster.start({n})` or `threebrokers up`",
    "paused": "let it go on with `lab.cluster.resume({n})` or `threebrokers up`",
    "unknown": "`threebrokers doctor` looks for the cause",
}


class Told(NamedTuple):
    """A reason: one word for programs, one paragraph for people, and the partitions that it is about."""

    cause: str
    text: str
    about: tuple[int, ...] = ()


def ids(places: Iterable[Place]) -> tuple[int, ...]:
    """Return the numbers of these partitions."""
    return tuple(place.id for place in places)


def partitions(places: Iterable[Place | int]) -> str:
    """Return for example "partition 1" or "partitions 0 and 2"."""
    numbers = [str(place.id if isinstance(place, Place) else place) for place in places]
    return f"partition{'' if len(numbers) == 1 else 's'} {listed(numbers)}"


def wait(count: int) -> str:
    """Return for example "1 record waits" or "20 records wait"."""
    return f"{counted(count, 'record')} {'waits' if count == 1 else 'wait'}"


def ill(brokers: Iterable[BrokerState], of: Collection[int]) -> list[BrokerState]:
    """Return those of these brokers that cannot serve anybody now."""
    return [broker for broker in brokers if broker.id in of and broker.state != "up"]


def told(brokers: list[BrokerState]) -> str:
    """Say what is the matter with brokers, and how to mend it."""
    states = listed([f"broker {b.id} {STATES[b.state]}" for b in brokers])
    return f"{states}: {MEND[brokers[0].state].format(n=brokers[0].id)}"
