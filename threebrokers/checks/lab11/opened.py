"""What lab 11's check says of an open transaction: whether it has ended, and no other one with it."""

from threebrokers import clock
from threebrokers.checks.expect import existing_topic, log_of
from threebrokers.lab.exercise import NotYet, eventually
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.transactions import LONG_MS, Stuck, open_at

MARK_SECONDS = 1.5  # the mark is written a moment after the tool or the client has returned
TOOL = "kafka-transactions"


def judge_opened(lab: Lab, stuck: Stuck, culprit: str) -> None:
    """Raise NotYet unless the open transaction is over, the innocent one is not, and its name is right."""
    eventually(
        lambda: _judge_state(lab, stuck, culprit), what="the end of the transaction", within=MARK_SECONDS
    )
    phoned = [r for r in log_of(lab, stuck.topic) if (r.value or b"").startswith(b"phoned")]
    if len(phoned) < stuck.phoned:
        raise NotYet(
            f"a reader gets {len(phoned)} of the {stuck.phoned} records that were phoned in",
            "they should be readable, and none should be lost for that",
            "the cell of the exercise: run it again, which makes the topic anew",
        )
    _judge_name(stuck, culprit)


def _judge_state(lab: Lab, stuck: Stuck, culprit: str) -> None:
    existing_topic(lab, stuck.topic)
    if clock.now() - stuck.at > LONG_MS / 1000:
        raise NotYet(
            "the 15 minutes are over, and the coordinator has ended all that was open",
            "the transaction should be ended before that",
            "the cell of the exercise: run it again, which makes the topic anew",
        )
    places = open_at(lab, stuck.topic)
    held, shared = places.get(stuck.held), places.get(stuck.shared)
    if shared is None and held is None:
        raise NotYet(
            f"both open transactions are over: '{stuck.innocent}' was in the middle of its work in partition "
            f"{stuck.shared}, and nobody waited for it",
            f"only the one that holds up partition {stuck.held} should be ended",
            f"{TOOL} describe-producers for partition {stuck.held}: whose transaction is open there?",
        )
    if shared is None:
        raise NotYet(
            f"the transaction in partition {stuck.shared} is over: '{stuck.innocent}' was only at work; and "
            f"partition {stuck.held} stands as before",
            "the other one should be ended",
            f"{TOOL} describe-producers for partition {stuck.held}",
        )
    if held is not None and culprit == stuck.culprit:
        raise NotYet(
            f"'{culprit}' it is, and its transaction goes on: readers of partition {stuck.held} are at "
            f"offset {held}",
            "it should be ended",
            f"{TOOL} forceTerminateTransaction, or abort",
        )
    if held is not None:
        raise NotYet(
            f"readers of partition {stuck.held} still wait at offset {held}",
            "the transaction that begins there should be ended",
            f"{TOOL} describe-producers",
        )


def _judge_name(stuck: Stuck, culprit: str) -> None:
    if culprit == stuck.culprit:
        return
    if culprit.isdigit():
        raise NotYet(
            f"{culprit} is the number that the brokers gave to a producer",
            "`culprit` should be its transactional.id",
            f"{TOOL} list: which transactional.id has this ProducerId?",
        )
    why = {
        stuck.innocent: f"it is at work in partition {stuck.shared}",
        stuck.ended: "it has ended all of its transactions",
    }
    raise NotYet(
        f"`culprit` is {culprit!r}" + (f": {why[culprit]}" if culprit in why else ""),
        "it should be the transactional.id whose transaction you have ended",
        f"{TOOL} describe-producers for partition {stuck.held}",
    )
