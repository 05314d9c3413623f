"""What the checks of lab 01 ask of a list of messages and of the consumer that read them."""

from typing import Any

from confluent_kafka import Consumer, Message

from threebrokers.checks.reading import log_of, messages_only
from threebrokers.kafka.log_reader import Record
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab

GREETINGS = 10
Place = tuple[Any, Any]  # partition and offset, both numbers in a message that is stored


def settings(consumer: Consumer) -> tuple[str, str]:
    """Return the consumer's group and where that group begins if it has no place yet."""
    config = getattr(consumer, "config", None)
    if not isinstance(config, dict):
        raise NotYet("`consumer` was not made by the lab", "it should be", "lab.consumer({…})")
    return str(config.get("group.id", "")), str(config.get("auto.offset.reset", "latest"))


def ten_greetings(lab: Lab, topic: str) -> list[Record]:
    """Return the log of a topic; NotYet unless it holds what the exercise put there."""
    log = log_of(lab, topic)
    if len(log) != GREETINGS:
        raise NotYet(
            f"the topic {topic!r} holds {counted(len(log), 'message')}",
            f"it should hold the {GREETINGS} that the cell of the exercise puts there",
            "that cell: run it again from its first line",
        )
    return log


def messages_of(values: list[Message], name: str, topic: str, look_at: str) -> list[Message]:
    """Return the values if each is a message that is stored in the topic; NotYet names what is not."""
    told = messages_only(name, list(values), look_at)
    for message in told:
        fault = message.error()
        if fault is not None:
            raise NotYet(
                f"`{name}` holds an error where a message should be ({fault.str()})",
                f"each message should be stored in {topic!r}",
                look_at,
            )
        if message.topic() != topic:
            raise NotYet(
                f"`{name}` holds messages of the topic {message.topic()!r}",
                f"they should be of {topic!r}",
                look_at,
            )
    return told


def places_of(messages: list[Message], name: str, topic: str) -> list[Place]:
    """Return where the messages are stored; NotYet if one is no message of the topic, or there twice."""
    told = messages_of(messages, name, topic, "the topic's name in your code, and what the list holds")
    places = [place(message) for message in told]
    if len(set(places)) != len(places):
        raise NotYet(
            f"`{name}` holds some messages twice", "each should be there once", f"what you put into `{name}`"
        )
    return places


def in_order(places: list[Place]) -> None:
    """Raise NotYet unless the offsets of each partition rise."""
    for partition in {partition for partition, _ in places}:
        offsets = [offset for p, offset in places if p == partition]
        if offsets != sorted(offsets):
            raise NotYet(
                f"the messages of partition {partition} are not in the order of their offsets",
                "keep the order in which they came",
                "what you do with the messages after reading",
            )


def place(message: Message) -> Place:
    """Return where a message is stored."""
    return message.partition(), message.offset()


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: 1 copy, 2 copies."""
    plural = "copies" if noun == "copy" else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"
