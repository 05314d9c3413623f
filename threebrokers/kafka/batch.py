"""Many records in one call: what confluent-kafka says of its produce_batch(), done with produce()."""

from collections.abc import Callable, Mapping
from typing import Any

from confluent_kafka import KafkaError, KafkaException

TEXT = (bytes, str), "bytes or str"
NUMBER = (int,), "int"
KINDS = {"value": TEXT, "key": TEXT, "partition": NUMBER, "timestamp": NUMBER}
OF_EACH = ("partition", "timestamp", "callback")  # what a message may say besides; it knows no headers


def produce_each(
    produce: Callable[..., None], topic: str, messages: list[dict[str, Any]], shared: Mapping[str, Any]
) -> int:
    """Produce each of these messages; return how many the client has taken.

    `shared` are the arguments of all. A message that is not taken has the error as its '_error' after that.
    Raises TypeError before the first one is produced if any is of a wrong form.
    """
    _expect_form(messages)
    taken = 0
    for message in messages:
        own = {name: message[name] for name in OF_EACH if message.get(name) is not None}
        try:
            produce(topic, message.get("value"), message.get("key"), **{**shared, **own})
        except BufferError:
            message["_error"] = KafkaError(KafkaError._QUEUE_FULL)
        except KafkaException as fault:
            message["_error"] = fault.args[0]
        else:
            taken += 1
    return taken


def _expect_form(messages: object) -> None:
    if not isinstance(messages, list):
        raise TypeError("messages must be a list")
    for index, message in enumerate(messages):
        if not isinstance(message, dict):
            raise TypeError(f"Message at index {index} must be a dict")
        for name, (kinds, words) in KINDS.items():
            if message.get(name) is not None and not isinstance(message[name], kinds):
                raise TypeError(f"Message {name} at index {index} must be {words}")
