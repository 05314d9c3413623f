"""What a check says when it gets no answer from the brokers, or asks for a topic that is not there."""

import ast
from collections.abc import Iterator
from typing import Any

from confluent_kafka import KafkaError, KafkaException

from threebrokers import cells, clock
from threebrokers.cells import CellRun
from threebrokers.cluster.actions import action_kind, last_action
from threebrokers.cluster.trouble import Trouble, trouble
from threebrokers.errors import LabError
from threebrokers.kafka import rights
from threebrokers.lab.attempt import attempt
from threebrokers.lab.bound import left
from threebrokers.lab.outcomes import NotYet
from threebrokers.waiting import poll

NO_TOPIC = (
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError._UNKNOWN_TOPIC,
    KafkaError._UNKNOWN_PARTITION,
)
# A broker went away while it was asked; who asks again is sent to another one.
PASSING = (
    KafkaError._TRANSPORT,
    KafkaError._TIMED_OUT,
    KafkaError._TIMED_OUT_QUEUE,
    KafkaError._DESTROY_BROKER,
    KafkaError._ALL_BROKERS_DOWN,
    KafkaError._WAIT_COORD,
    KafkaError._NODE_UPDATE,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.NOT_COORDINATOR,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.REQUEST_TIMED_OUT,
    KafkaError.NETWORK_EXCEPTION,
)
# By whom a topic is made, if its name stands there as a text: by the lab, by confluent-kafka.
MAKING = frozenset({"fresh_topic", "NewTopic"})
REGISTER_SECONDS = 5.0
AGAIN = "run the check again; nothing that you did is lost"


def away(lab: Any) -> Trouble | None:
    """Return which brokers are away, and what brings back those that went after the exercise's cell."""
    run = attempt()
    return trouble(lab.cluster, run.ended or run.began if run else 0.0)


def is_left_so(lab: Any, found: Trouble) -> bool:
    """Tell whether one broker alone is away, and was last harmed before the exercise's cell ended.

    The experiment wants it so: who brings it back undoes the try.
    """
    run = attempt()
    if run is None or lab.cluster.access or len(found.brokers) != 1:
        return False
    (broker,) = found.brokers
    last = last_action(lab.cluster.actions(), broker, clock.now())
    return last is not None and action_kind(last.kind).harm and last.at <= (run.ended or run.began)


class UnansweredError(LabError):
    """The brokers did not answer a check; the sentence says which are away."""


def no_answer(lab: Any, said: str = "") -> UnansweredError:
    """Return what to say when the brokers do not answer a check: who is away, and what brings them back.

    That costs nothing that the learner has made. `said` is the client's or the broker's own words.
    """
    found = away(lab)
    own = f" ({said.strip().rstrip('.')})" if said else ""
    if found is None:
        return UnansweredError(f"The brokers run, and did not answer the check in time{own}", AGAIN)
    if is_left_so(lab, found):
        return UnansweredError(f"The brokers that run did not answer the check in time{own}", AGAIN)
    return UnansweredError(f"The check got no answer, because {found.what}", next_step(found))


def expect_every_broker(lab: Any) -> None:
    """Raise UnansweredError if a broker is away; one that has just been started has 5 s to register."""
    for found in poll(lambda: away(lab), left(REGISTER_SECONDS)):
        if found is None or found.cure:
            break
    if found is not None:
        raise UnansweredError(f"This check needs every broker, and {found.what}", next_step(found))


def next_step(found: Trouble) -> str:
    """Return what to do about brokers that are away, before the check runs again."""
    return f"run {found.cure}, then the check again; nothing that you did is lost" if found.cure else AGAIN


def passes(fault: KafkaException) -> bool:
    """Tell whether what was asked may be answered soon, by another broker."""
    error = fault.args[0]
    return isinstance(error, KafkaError) and (error.retriable() or error.code() in PASSING)


def refused(lab: Any, fault: KafkaException) -> Exception:
    """Return what to say of an error of a client that a check has used."""
    error = fault.args[0]
    if not isinstance(error, KafkaError):
        return LabError(f"The check could not read the cluster ({error})", AGAIN)
    if said := rights.of_fault(fault):
        return said
    if error.code() in NO_TOPIC:
        return no_topic(lab, getattr(fault, "topic", ""))
    return no_answer(lab, error.str())


def no_topic(lab: Any, topic: str) -> NotYet:
    """Return what to say when a topic is missing: which one, and which cell makes it."""
    found = f"the cluster has no topic {topic!r}" if topic else "the cluster does not have the topic"
    maker = _maker(topic.removeprefix(lab.topic(""))) if topic else None
    if maker is None:
        return NotYet(
            found,
            "a name alone creates nothing; it should be that of a topic which the lab or you have made",
            f"the cell that makes it{f', with {topic!r} in it' if topic else ''}: run it again",
        )
    cell = "the cell of the exercise" if maker is attempt() else f"the cell that begins `{_first(maker)}`"
    if lab.opened_at > (maker.ended or maker.began):
        return NotYet(
            f"{found}: the lab's first cell, which deletes the topics of the lab, has run since it was made",
            "it should be made afresh",
            f"{cell}: run it again, and then those after it",
        )
    return NotYet(found, f"{cell} should make it", f"{cell}: run it again")


def _maker(short: str) -> CellRun | None:
    """Return the run of the last cell that makes this topic, or else of the last one that has its name in it.

    Of those that ended: the one that runs now has asked for it. A learner may have looked at a topic by its
    name in a cell of their own, which does not make it.
    """
    history = cells.history()
    runs = [run for run in history.runs if run is not history.running] if history else []
    named = [run for run in runs if _has_text(run.code, short)]
    makers = [run for run in named if any(_has_text(call, short) for call in _makes(run.code))]
    return next(reversed(makers or named), None)


def _makes(code: ast.AST) -> Iterator[ast.Call]:
    """Yield the calls that make topics."""
    for node in ast.walk(code):
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in MAKING:
                yield node


def _has_text(code: ast.AST, text: str) -> bool:
    return any(isinstance(node, ast.Constant) and node.value == text for node in ast.walk(code))


def _first(run: CellRun) -> str:
    """Return the first line of a cell's code, shortened."""
    lines = (line.strip() for line in run.source.splitlines())
    line = next((line for line in lines if line and not line.startswith("#")), "")
    return line if len(line) <= 50 else f"{line[:49]}…"
