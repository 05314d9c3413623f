"""Exercise 5.4: what a program does about each error of a producer."""

from collections.abc import Callable
from typing import Any, NamedTuple

from confluent_kafka import KafkaError, KafkaException

from threebrokers.checks.lab05.calls import called
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.values import told

AGAIN, ASIDE, STOP = "again", "aside", "stop"
WORDS = (AGAIN, ASIDE, STOP)


class Case(NamedTuple):
    """An error as a program gets it, what to do about it, and why."""

    name: str
    error: Exception | KafkaError
    right: str
    why: str


def _error(code: int, *, fatal: bool = False) -> KafkaError:
    return KafkaError(code, fatal=fatal)


CASES = (
    Case(
        "BufferError, a full queue",
        BufferError("Local: Queue full"),
        AGAIN,
        "produce() has not taken the record, and there is room as soon as reports are taken",
    ),
    Case(
        "the KafkaException of a record that is too large",
        KafkaException(_error(KafkaError.MSG_SIZE_TOO_LARGE)),
        ASIDE,
        "it will be as large the next time, and other records are fine",
    ),
    Case(
        "_MSG_TIMED_OUT in a report",
        _error(KafkaError._MSG_TIMED_OUT),
        AGAIN,
        "nothing is wrong with the record: nobody answered in time",
    ),
    Case(
        "_UNKNOWN_TOPIC in a report",
        _error(KafkaError._UNKNOWN_TOPIC),
        ASIDE,
        "the client has looked for the topic for some time, and records for other topics are fine",
    ),
    Case(
        "TOPIC_AUTHORIZATION_FAILED in a report",
        _error(KafkaError.TOPIC_AUTHORIZATION_FAILED),
        ASIDE,
        "it stays forbidden until somebody changes the rights",
    ),
    Case(
        "MSG_SIZE_TOO_LARGE in a report",
        _error(KafkaError.MSG_SIZE_TOO_LARGE),
        ASIDE,
        "a leader too can say that a record is too large",
    ),
    Case(
        "UNKNOWN_TOPIC_OR_PART in a report",
        _error(KafkaError.UNKNOWN_TOPIC_OR_PART),
        ASIDE,
        "a leader too can say that it does not know the topic",
    ),
    Case(
        "_FENCED, fatal, in a report",
        _error(KafkaError._FENCED, fatal=True),
        STOP,
        "this producer can never send again",
    ),
    Case(
        "the KafkaException of a producer that was fenced, fatal",
        KafkaException(_error(KafkaError._FENCED, fatal=True)),
        STOP,
        "this producer can never send again",
    ),
    Case(
        "another error that is fatal (OUT_OF_ORDER_SEQUENCE_NUMBER)",
        _error(KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER, fatal=True),
        STOP,
        "after any fatal error a producer refuses every record",
    ),
)


def judge_decisions(decide: Callable[..., Any]) -> None:
    """Raise NotYet at the first error about which the function decides wrongly."""
    for case in CASES:
        word = called(f"`decide` of {case.name}", decide, case.error)
        said = word.strip().lower() if isinstance(word, str) else word
        if said not in WORDS:
            raise NotYet(
                f"`decide` of {case.name} returned {told(word)}",
                'it should return "again", "aside" or "stop"',
                "its `return`",
            )
        if said != case.right:
            raise NotYet(
                f"`decide` of {case.name} says {said!r}",
                f"it should be {case.right!r}: {case.why}",
                "the table of errors above: where does it come from, and what does it say of itself?",
            )
