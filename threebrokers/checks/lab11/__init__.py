"""The checks of lab 11."""

from collections.abc import Callable
from typing import Annotated, Any

from threebrokers.checks.expect import TopicName
from threebrokers.checks.lab11.booked import judge_booked
from threebrokers.checks.lab11.choosing import judge_choices
from threebrokers.checks.lab11.failures import judge_failures
from threebrokers.checks.lab11.gaps import judge_gaps
from threebrokers.checks.lab11.opened import judge_opened
from threebrokers.checks.lab11.shop import judge_shop
from threebrokers.lab.exercise import exercise
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios import Booked, Stuck, Tried

STATES = {
    "Operation not valid in state InTransaction": (
        "the transaction of the basket before should be ended first, and flush() does not end it",
        "commit_transaction(), and abort_transaction() where the bank refuses",
    ),
    "Operation not valid in state Init": (
        "a producer with a transactional.id should be made ready first, once",
        "init_transactions(), before the first begin_transaction()",
    ),
    "Unable to produce message: Local: Erroneous state": (
        "each record should be sent between the beginning of a transaction and its end",
        "begin_transaction(), once for each basket",
    ),
}

Runs = Annotated[Booked, "what killed_in_ten_places(…) returns"]
Held = Annotated[Stuck, "what stuck_readers(…) returns"]
Trial = Annotated[Tried, "what tried_in_five_cases(…) returns"]


@exercise("11.1", "All three, or none", errors=STATES)
def all_or_none(lab: Lab, orders: TopicName, payments: TopicName, audit: TopicName, desk: object) -> str:
    """Solved if each basket that was paid is in all three topics, by one transaction, and no other."""
    judge_shop(lab, orders, payments, audit, desk)
    return (
        "ten baskets are in all three topics, and of the two that were refused no reader of committed "
        "records gets any: a transaction holds records of several topics; such readers get all, or nothing."
    )


@exercise("11.2", "Let the readers go on")
def readers_go_on(lab: Lab, stuck: Held, culprit: str) -> str:
    """Solved if the open transaction has ended, the other one has not, and the answer names the right one."""
    judge_opened(lab, stuck, culprit)
    return (
        "the records behind it can be read now, and the program that is at work goes on with its own "
        "transaction: an open transaction holds up the readers of committed records in its own partitions "
        "only."
    )


@exercise("11.3", "Each transfer once")
def each_once(lab: Lab, runs: Runs) -> str:
    """Solved if ten kills have left each transfer with one debit and one credit, and no transaction open."""
    judge_booked(runs)
    return (
        "18 transfers are booked once each, through ten kills: entries and offset are in one transaction, so "
        "a dead worker has left both or neither, and the next one goes on where it ended."
    )


@exercise("11.4", "What to do with an error")
def right_thing_done(lab: Lab, book: Callable[..., Any], tried: Trial) -> str:
    """Solved if the function goes on, gives up its transaction, or stops, each where it is right."""
    judge_failures(book, tried)
    return (
        "it commits again when the answer is late, takes back what cannot be written, and stops when another "
        "worker has its name: the error itself says which of the three it is."
    )


@exercise("11.5", "Find the gaps")
def gaps_found(lab: Lab, gapped_topic: TopicName, counts: dict[str, int]) -> str:
    """Solved if records, aborted records and marks are counted as they stand in the log."""
    judge_gaps(lab, gapped_topic, counts)
    return "the three add up to the end of the log: nothing was lost, and no offset is without a reason."


@exercise("11.6", "What does a transaction cover?")
def fitting_choices(lab: Lab, choices: dict[str, str]) -> str:
    """Solved if each of the four programs gets what makes it right, and not more."""
    judge_choices(choices)
    return (
        "a transaction covers what one Kafka cluster holds; whatever else a program does needs a database of "
        "its own, or a number by which the other side knows it again, or does not need it at all."
    )
