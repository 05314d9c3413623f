"""Errors of a producer, each made to happen, as a program gets them."""

import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from confluent_kafka import KafkaError, KafkaException, Message

from threebrokers import theme
from threebrokers.errors import LabError
from threebrokers.kafka.clients import LabProducer
from threebrokers.lab.lab import Lab

if TYPE_CHECKING:
    import pandas as pd

TOO_LARGE = 1_000_001  # bytes; the client's own bound for a whole record is message.max.bytes, 1,000,000
QUICK = {"linger.ms": 0, "message.timeout.ms": 100}
REPORT_SECONDS = 10.0
TIMES = 3  # so often a record is sent again
A_RECORD = b"a record"
AGAIN, ASIDE, STOP = "again", "aside", "stop"
STORED, APART, UNSENT, FORGOTTEN = "stored", "kept apart", "not sent", "forgotten"
Fault = Exception | KafkaError


def six_errors(lab: Lab, topic: str) -> dict[str, Fault]:
    """Return six errors as a program gets them: raised, or in a delivery report.

    The last one is made by hand: the course's brokers let everybody write.
    """
    return {name: met.error for name, met in _six(lab, topic).items()}


@dataclass(frozen=True)
class Raised:
    """Stands for an answer that was not given, because the function ended with this error."""

    fault: Exception

    def __str__(self) -> str:
        said = (str(self.fault).splitlines() or [""])[0].rstrip(".")
        return f"{type(self.fault).__name__}{': ' if said else ''}{said}"


@dataclass(frozen=True)
class Followed:
    """What became of a record after its error, and of a good one behind it.

    A program did what `says` says, the answer to `error`; `name` is what happened. `record` and `behind` are
    what became of the two, in words.
    """

    name: str
    error: Fault
    says: Any
    record: str
    behind: str


def after_errors(lab: Lab, decide: Any) -> "pd.DataFrame | None":
    """Let programs meet six errors, and do what `decide` says of each; return what became of the records.

    Returns None while `decide` is not written. What it raises stands in the table.
    """
    import pandas as pd  # only where a table is shown

    if not callable(decide):
        return None
    columns = ["what happened", "decide(error)", "the record", "a good record behind it"]
    rows = [[one.name, _shown(one.says), one.record, one.behind] for one in followed(lab, decide)]
    return pd.DataFrame(rows, columns=columns).set_index(columns[0])


def followed(lab: Lab, decide: Callable[[Fault], Any]) -> list[Followed]:
    """Make six errors happen, do what `decide` says of each, and return what became of the records.

    What is to be sent again is sent so up to three times more. `decide` may answer in capitals. After an
    error without an answer the program does nothing about the record, and goes on.
    """
    topic = lab.fresh_topic("after-errors")
    return [_follow(name, met, _answer(decide, met.error)) for name, met in _six(lab, topic).items()]


def _answer(decide: Callable[[Fault], Any], error: Fault) -> Any:
    try:
        return decide(error)
    except Exception as fault:
        return Raised(fault)


def _shown(says: Any) -> Any:
    return f"{theme.BAD.sign} {says}" if isinstance(says, Raised) else says


@dataclass(frozen=True)
class _Met:
    """An error, and how its program goes on: each function sends a record, and returns its error or None."""

    error: Fault
    again: Callable[[], Fault | None]
    behind: Callable[[], Fault | None]


def _six(lab: Lab, topic: str) -> dict[str, _Met]:
    good = lab.producer({"linger.ms": 0})
    lost, nowhere = lab.producer({"topic.metadata.propagation.max.ms": 100}), lab.topic("no-such-topic")
    old, fenced = _fenced(lab, topic)
    forbidden = KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED)

    def stored() -> Fault | None:
        return _sent(good, topic)

    def with_old() -> Fault | None:
        return _sent(old, topic)

    silent = lab.producer({**QUICK, "bootstrap.servers": _silent_address()})
    return {
        "queue full": _Met(_raised(lambda: _fill(lab, topic)), stored, stored),
        "too large": _met(lambda: _sent(good, topic, bytes(TOO_LARGE)), stored),
        # Who does not answer now may do so the next time.
        "timed out": _Met(_told(silent, topic), stored, stored),
        "no such topic": _met(lambda: _sent(lost, nowhere), stored),
        "fenced": _Met(fenced, with_old, with_old),
        "not allowed": _Met(forbidden, lambda: forbidden, stored),
    }


def _met(send: Callable[[], Fault | None], behind: Callable[[], Fault | None]) -> _Met:
    """Return the error of a record that is refused each time that it is sent."""
    error = send()
    if error is None:
        raise LabError("This time a bad record was stored: run the cell again.")
    return _Met(error, send, behind)


def _follow(name: str, met: _Met, says: Any) -> Followed:
    said = says.strip().lower() if isinstance(says, str) else ""
    record = _again(met) if said == AGAIN else {ASIDE: APART, STOP: UNSENT}.get(said, FORGOTTEN)
    behind = UNSENT if said == STOP else "refused" if met.behind() else STORED
    return Followed(name, met.error, says, record, behind)


def _again(met: _Met) -> str:
    for _ in range(TIMES):
        if met.again() is None:
            return STORED
    return f"refused {TIMES} times more"


def in_words(errors: dict[str, Fault]) -> "pd.DataFrame":
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


def _told(producer: LabProducer, topic: str) -> Fault:
    """Return the error of one record."""
    error = _sent(producer, topic)
    if error is None:
        raise LabError("This time no error was reported: run the cell again.")
    return error


def _sent(producer: LabProducer, topic: str, value: bytes = A_RECORD) -> Fault | None:
    """Send one record, and return its error, raised or reported; None if it is stored."""
    reports: list[KafkaError | None] = []

    def report(error: KafkaError | None, message: Message) -> None:
        reports.append(error)

    try:
        producer.produce(topic, value, on_delivery=report)
        producer.flush(REPORT_SECONDS)
    except (BufferError, KafkaException) as error:
        return error
    if not reports:
        raise LabError(f"No report of a record came within {REPORT_SECONDS:g} s: run the cell again.")
    return reports[0]


def _fenced(lab: Lab, topic: str) -> tuple[LabProducer, KafkaException]:
    """Return a producer, and what it gets after another one has begun with its transactional.id."""
    one_name = lab.topic("one-name")
    first, second = (lab.producer({"transactional.id": one_name, "linger.ms": 0}) for _ in range(2))
    first.init_transactions(10)
    first.begin_transaction()
    second.init_transactions(10)
    try:
        first.produce(topic, b"of an old producer")
        first.commit_transaction(10)
    except KafkaException as error:
        return first, error
    raise LabError("This time the first producer was not fenced: run the cell again.")


def _silent_address() -> str:
    """Return an address of this machine at which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"
