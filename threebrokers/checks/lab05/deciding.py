"""Exercise 5.4: what a program does about each error of a producer, and what becomes of the records."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from confluent_kafka import KafkaError, KafkaException

from threebrokers.checks.expect_calls import called
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.refusals import AGAIN, ASIDE, STOP, Followed, Raised, followed
from threebrokers.lab.values import told

WORDS = (AGAIN, ASIDE, STOP)
WORDS_WANTED = 'it should return "again", "aside" or "stop"'


class Answer(NamedTuple):
    """What to do about an error, and why: `goes_on` is why not to stop, if `why` does not say that, too."""

    right: str
    why: str
    goes_on: str = ""

    def against(self, said: str) -> str:
        """Return the reason why another answer than the right one is wrong."""
        return self.goes_on if said == STOP and self.goes_on else self.why


class Case(NamedTuple):
    """An error that the lab does not make happen, as a program gets it, and what to do about it.

    `made` is the code with which a learner can make it.
    """

    name: str
    made: str
    error: Exception | KafkaError
    answer: Answer


# By the names of the errors that happen in the run.
MET = {
    "queue full": Answer(
        AGAIN, "produce() has not taken the record, and there is room as soon as reports are taken"
    ),
    "too large": Answer(
        ASIDE,
        "it will be as large the next time",
        "only this record is too large, and the producer can go on",
    ),
    "timed out": Answer(
        AGAIN,
        "nothing is wrong with the record: nobody answered in time",
        "nobody answered in time, and this producer can still send",
    ),
    "no such topic": Answer(
        ASIDE,
        "the client has looked for the topic for some time, and nothing changes until somebody makes it",
        "only this topic is missing, and the producer can send to others",
    ),
    "fenced": Answer(STOP, "this producer can never send again"),
    "not allowed": Answer(
        ASIDE,
        "it stays forbidden until somebody changes the rights",
        "only this topic is forbidden, and the producer can send to others",
    ),
}
OTHER_TOPICS = "only this topic is meant, and the producer can send to others"
ANY_FATAL = Answer(STOP, "after any fatal error a producer refuses every record")


def _case(name: str, code: str, answer: Answer, *, fatal: bool = False, raised: bool = False) -> Case:
    error = KafkaError(getattr(KafkaError, code), fatal=fatal)
    made = f"KafkaError(KafkaError.{code}{', fatal=True' if fatal else ''})"
    if raised:
        return Case(name, f"KafkaException({made})", KafkaException(error), answer)
    return Case(name, made, error, answer)


OTHERS = (
    _case(
        "MSG_SIZE_TOO_LARGE in a report",
        "MSG_SIZE_TOO_LARGE",
        Answer(ASIDE, "a leader too can say that a record is too large", MET["too large"].goes_on),
    ),
    _case(
        "UNKNOWN_TOPIC_OR_PART in a report",
        "UNKNOWN_TOPIC_OR_PART",
        Answer(ASIDE, "a leader too can say that it does not know the topic", OTHER_TOPICS),
    ),
    _case(
        "_UNKNOWN_TOPIC in a report",
        "_UNKNOWN_TOPIC",
        Answer(ASIDE, "the client too can say that there is no such topic", OTHER_TOPICS),
    ),
    _case(
        "_FENCED, fatal, in a report",
        "_FENCED",
        Answer(STOP, "a report too can tell it, and this producer can never send again"),
        fatal=True,
    ),
    _case(
        "the KafkaException of a producer that was fenced, fatal",
        "_FENCED",
        MET["fenced"],
        fatal=True,
        raised=True,
    ),
    _case(
        "another error that is fatal (OUT_OF_ORDER_SEQUENCE_NUMBER)",
        "OUT_OF_ORDER_SEQUENCE_NUMBER",
        ANY_FATAL,
        fatal=True,
    ),
    _case(
        "a fatal error with the code of a time-out (_MSG_TIMED_OUT)", "_MSG_TIMED_OUT", ANY_FATAL, fatal=True
    ),
)


def judge_decisions(lab: Lab, decide: Callable[..., Any]) -> None:
    """Raise NotYet at the first error about which the function decides wrongly, in a run or elsewhere."""
    judge_run(followed(lab, decide))
    judge_others(decide)


def judge_run(run: Sequence[Followed]) -> None:
    """Raise NotYet at the first error of a run after which a record became what it should not."""
    for one in run:
        what = f"after {one.name!r} `decide`"
        if isinstance(one.says, Raised):
            how = "in a report, as a" if isinstance(one.error, KafkaError) else "raised, as a"
            raise NotYet(
                f"{what} ended with {one.says}",
                WORDS_WANTED,
                f"the error, which comes {how} {type(one.error).__name__}: what can be asked of that?",
            )
        became = f"the record was {one.record}, and a good one behind it was {one.behind}"
        where = f"the row {one.name!r} of the table under that cell, and the list above the exercise"
        _judge(what, one.says, became, MET[one.name], where)


def judge_others(decide: Callable[..., Any]) -> None:
    """Raise NotYet at the first error that no run meets, and about which the function decides wrongly."""
    for case in OTHERS:
        what, where = f"`decide` of {case.name}", f"`decide({case.made})`: call it yourself"
        _judge(what, called(what, decide, case.error, look_at=where), "", case.answer, where)


def _judge(what: str, word: Any, became: str, answer: Answer, where: str) -> None:
    said = word.strip().lower() if isinstance(word, str) else word
    so = f": {became}" if became else ""
    if said not in WORDS:
        raise NotYet(f"{what} returned {told(word)}{so}", WORDS_WANTED, "its `return`")
    if said != answer.right:
        raise NotYet(
            f"{what} says {said!r}{so}", f"it should be {answer.right!r}: {answer.against(said)}", where
        )
