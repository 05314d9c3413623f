"""Errors of a producer, each made to happen, as a program gets them."""

import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from confluent_kafka import KafkaError, KafkaException, Message

from threebrokers.errors import LabError
from threebrokers.kafka.clients import LabProducer
from threebrokers.lab.lab import Lab

if TYPE_CHECKING:
    import pandas as pd

TOO_LARGE = 1_000_001  # bytes; the client's own bound for a whole record is message.max.bytes, 1,000,000
QUICK = {"linger.ms": 0, "message.timeout.ms": 100}


def six_errors(lab: Lab, topic: str) -> dict[str, Exception | KafkaError]:
    """Return six errors as a program gets them: raised, or in a delivery report.

    The last one is made by hand: the course's brokers let everybody write.
    """
    return {
        "queue full": _raised(lambda: _fill(lab, topic)),
        "too large": _raised(lambda: lab.producer().produce(topic, bytes(TOO_LARGE))),
        "timed out": _told(lab.producer({**QUICK, "bootstrap.servers": _silent_address()}), topic),
        "no such topic": _told(
            lab.producer({"topic.metadata.propagation.max.ms": 100}), lab.topic("no-such-topic")
        ),
        "fenced": _fenced(lab, topic),
        "not allowed": KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED),
    }


def in_words(errors: dict[str, Exception | KafkaError]) -> "pd.DataFrame":
    """Return a table of errors: where each comes from, its name, and what it says of itself."""
    import pandas as pd  # only where a table is shown

    rows = []
    for name, error in errors.items():
        inner = error.args[0] if isinstance(error, KafkaException) else error
        says = inner if isinstance(inner, KafkaError) else None
        rows.append(
            {
                "what happened": name,
                "comes as": type(error).__name__,
                "where": "in a report" if isinstance(error, KafkaError) else "raised",
                "name()": says.name() if says is not None else "–",
                "retriable()": says.retriable() if says is not None else "–",
                "fatal()": says.fatal() if says is not None else "–",
            }
        )
    return pd.DataFrame(rows).set_index("what happened")


def _raised(act: Callable[[], Any]) -> Exception:
    try:
        act()
    except (BufferError, KafkaException) as error:
        return error
    raise AssertionError("nothing was raised")


def _fill(lab: Lab, topic: str) -> None:
    producer = lab.producer({"queue.buffering.max.messages": 1, "linger.ms": 60_000})
    for _ in range(2):
        producer.produce(topic, b"one of two")


def _told(producer: LabProducer, topic: str) -> KafkaError:
    """Return the error in the report of one record."""
    found: list[KafkaError] = []

    def report(error: KafkaError | None, message: Message) -> None:
        found.extend([error] if error is not None else [])

    producer.produce(topic, b"a record", on_delivery=report)
    producer.flush(10)
    if not found:
        raise LabError("This time no error was reported within 10 s: run the cell again.")
    return found[0]


def _fenced(lab: Lab, topic: str) -> KafkaException:
    """Return what a producer gets after another one has begun with its transactional.id."""
    first, second = (lab.producer({"transactional.id": "one-name", "linger.ms": 0}) for _ in range(2))
    first.init_transactions(10)
    first.begin_transaction()
    second.init_transactions(10)
    try:
        first.produce(topic, b"of an old producer")
        first.commit_transaction(10)
    except KafkaException as error:
        return error
    raise LabError("This time the first producer was not fenced: run the cell again.")


def _silent_address() -> str:
    """Return an address of this machine at which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"
