"""Exercise 5.4: what a program does about each error of a producer, and what becomes of the records."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from confluent_kafka import KafkaError, KafkaException

from threebrokers.checks.lab05.calls import called
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.refusals import AGAIN, ASIDE, STOP, Followed, followed
from threebrokers.lab.values import told

WORDS = (AGAIN, ASIDE, STOP)


class Answer(NamedTuple):
    """What to do about an error, and why."""

    right: str
    why: str


class Case(NamedTuple):
    """An error that the lab does not make happen, as a program gets it, and what to do about it."""

    name: str
    error: Exception | KafkaError
    answer: Answer


# By the names of the errors that happen in the run.
MET = {
    "queue full": Answer(
        AGAIN, "produce() has not taken the record, and there is room as soon as reports are taken"
    ),
    "too large": Answer(ASIDE, "it will be as large the next time, and other records are fine"),
    "timed out": Answer(AGAIN, "nothing is wrong with the record: nobody answered in time"),
    "no such topic": Answer(
        ASIDE, "the client has looked for the topic for some time, and records for other topics are fine"
    ),
    "fenced": Answer(STOP, "this producer can never send again"),
    "not allowed": Answer(ASIDE, "it stays forbidden until somebody changes the rights"),
}


def _error(code: int, *, fatal: bool = False) -> KafkaError:
    return KafkaError(code, fatal=fatal)


OTHERS = (
    Case(
        "MSG_SIZE_TOO_LARGE in a report",
        _error(KafkaError.MSG_SIZE_TOO_LARGE),
        Answer(ASIDE, "a leader too can say that a record is too large"),
    ),
    Case(
        "UNKNOWN_TOPIC_OR_PART in a report",
        _error(KafkaError.UNKNOWN_TOPIC_OR_PART),
        Answer(ASIDE, "a leader too can say that it does not know the topic"),
    ),
    Case(
        "_UNKNOWN_TOPIC in a report",
        _error(KafkaError._UNKNOWN_TOPIC),
        Answer(ASIDE, "the client too can say that there is no such topic"),
    ),
    Case(
        "_FENCED, fatal, in a report",
        _error(KafkaError._FENCED, fatal=True),
        Answer(STOP, "a report too can tell it, and this producer can never send again"),
    ),
    Case(
        "the KafkaException of a producer that was fenced, fatal",
        KafkaException(_error(KafkaError._FENCED, fatal=True)),
        MET["fenced"],
    ),
    Case(
        "another error that is fatal (OUT_OF_ORDER_SEQUENCE_NUMBER)",
        _error(KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER, fatal=True),
        Answer(STOP, "after any fatal error a producer refuses every record"),
    ),
)


def judge_decisions(lab: Lab, decide: Callable[..., Any]) -> None:
    """Raise NotYet at the first error about which the function decides wrongly, in a run or elsewhere."""
    judge_run(called("`decide` of one of the six errors", followed, lab, decide))
    judge_others(decide)


def judge_run(run: Sequence[Followed]) -> None:
    """Raise NotYet at the first error of a run after which a record became what it should not."""
    for one in run:
        became = f"the record was {one.record}, and a good one behind it was {one.behind}"
        _judge(f"after {one.name!r} `decide`", one.says, became, MET[one.name])


def judge_others(decide: Callable[..., Any]) -> None:
    """Raise NotYet at the first error that no run meets, and about which the function decides wrongly."""
    for case in OTHERS:
        what = f"`decide` of {case.name}"
        _judge(what, called(what, decide, case.error), "", case.answer)


def _judge(what: str, word: Any, became: str, answer: Answer) -> None:
    said = word.strip().lower() if isinstance(word, str) else word
    so = f": {became}" if became else ""
    if said not in WORDS:
        raise NotYet(
            f"{what} returned {told(word)}{so}",
            'it should return "again", "aside" or "stop"',
            "its `return`",
        )
    if said != answer.right:
        raise NotYet(
            f"{what} says {said!r}{so}",
            f"it should be {answer.right!r}: {answer.why}",
            "the table of errors above: where does it come from, and what does it say of itself?",
        )
