"""Four failures of a transaction, each made to happen to a learner's function, for lab 11."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import EllipsisType
from typing import Any

from confluent_kafka import KafkaException

from threebrokers import clock
from threebrokers.kafka.clients import LabProducer
from threebrokers.kafka.log_reader import read_log
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.transactions import coordinator_of_transactions

Rows = list[tuple[str, str]]
Book = Callable[[LabProducer, Rows], Any] | EllipsisType
CASES = (
    "all is well",
    "the brokers answer late",
    "a record is refused",
    "another worker has taken over",
    "a row is too large to send",
)
CALL_SECONDS, LATE_SECONDS = 10.0, 0.5
MOST_CALLS = 12  # of begin, commit and abort: who needs more tries for ever
TOO_LARGE = 2_000_000  # bytes that a client does not even take
LARGEST = 1000  # bytes of a batch in the topic that refuses larger ones


class _ForEverError(BaseException):
    """The function under trial tries again and again; no `except` of its own should catch that."""


@dataclass(frozen=True)
class Case:
    """What a function did in one case.

    `returned` is what it returned and `raised` what it raised, None if nothing; `error` is the name of
    Kafka's error in it. `again` says that it would have tried for ever. `seen` is how many of its two rows a
    reader of committed records gets, each time counted; `goes_on` says whether its producer could do another
    transaction after that.
    """

    returned: object = None
    raised: BaseException | None = None
    error: str = ""
    again: bool = False
    seen: int = 0
    goes_on: bool = True

    def __repr__(self) -> str:
        if self.again:
            told = "tries again for ever"
        elif self.raised is not None:
            told = f"raises {type(self.raised).__name__}{f' ({self.error})' if self.error else ''}"
        else:
            told = f"returns {self.returned!r}"
        held = "" if self.goes_on else "; its transaction is still open"
        return f"{told}; readers get {self.seen} of its 2 records{held}"


@dataclass(frozen=True)
class Tried:
    """What became of a function in each case, and when the trial began (`at`, s since 1970)."""

    at: float
    cases: Mapping[str, Case] = field(default_factory=dict)
    function: object = None

    def __repr__(self) -> str:
        if not self.cases:
            return "There is no function to try yet."
        width = max(map(len, CASES))
        return "\n".join(f"{name:{width}}  {case!r}" for name, case in self.cases.items())


def tried_in_five_cases(lab: Lab, book: Book) -> Tried:
    """Call `book(producer, rows)` in five cases with a new producer each, and see what becomes of its rows.

    All is well; the coordinator of its transactions is frozen for as long as the first commit waits;
    the brokers refuse one of the records; another producer of the same transactional.id has begun meanwhile;
    the client itself refuses one of them.
    """
    at = clock.now()
    if not callable(book):
        return Tried(at)
    normal = lab.fresh_topic("booked", replication_factor=3)
    strict = lab.fresh_topic("booked-strict", config={"max.message.bytes": str(LARGEST)})
    return Tried(at, {name: _tried(lab, book, name, normal, strict) for name in CASES}, book)


def _tried(lab: Lab, book: Callable[..., Any], name: str, normal: str, strict: str) -> Case:
    its_id = lab.topic(f"booked-{CASES.index(name)}")
    settings = {"transactional.id": its_id, "linger.ms": 0}
    producer = lab.producer(settings)
    producer.init_transactions(CALL_SECONDS)
    mark = secrets.token_hex(4)
    second = "x" * {CASES[2]: 2 * LARGEST, CASES[4]: TOO_LARGE}.get(name, 1)
    rows = [(normal, f"{mark} first"), (strict, f"{mark} {second}")]
    _count(producer)
    if name == CASES[1]:
        _late_once(lab, producer, its_id)
    if name == CASES[3]:
        _replaced(producer, lambda: lab.producer(settings).init_transactions(CALL_SECONDS))
    told: dict[str, Any] = {}
    try:
        told["returned"] = book(producer, rows)
    except _ForEverError:
        told["again"] = True
    except Exception as fault:
        told["raised"], told["error"] = fault, _error_name(fault)
    lost = name == CASES[3] or "again" in told or ("raised" in told and name != CASES[4])
    goes_on = lost or _goes_on(producer, normal)  # nobody asks what a producer can do that is given up
    return Case(**told, seen=_seen(lab, mark, (normal, strict)), goes_on=goes_on)


def _count(producer: LabProducer) -> None:
    """Have a producer raise _ForEverError when its transactions are begun and ended too often."""
    calls = 0

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls > MOST_CALLS:
                raise _ForEverError
            return real(*arguments, **named)

        return call

    for name in ("begin_transaction", "commit_transaction", "abort_transaction"):
        setattr(producer, name, counted(getattr(producer, name)))


def _late_once(lab: Lab, producer: LabProducer, transactional_id: str) -> None:
    """Freeze who answers the first commit until its time is over, so that the answer comes late.

    No time at all (`commit_transaction(0)`) would do without that, but not always: where librdkafka has not
    begun with the commit when it returns, the next call takes one answer for another, and fails with _STATE.
    """
    coordinator = coordinator_of_transactions(lab, transactional_id)
    real, first = producer.commit_transaction, [True]

    def commit(*arguments: Any, **named: Any) -> Any:
        if not first:
            return real(*arguments, **named)
        first.clear()
        lab.cluster.pause(coordinator, force=True)
        try:
            return real(LATE_SECONDS)
        finally:
            lab.cluster.resume(coordinator)

    producer.commit_transaction = commit  # type: ignore[method-assign]


def _replaced(producer: LabProducer, successor: Callable[[], Any]) -> None:
    """Have a successor start when the producer has begun its first transaction."""
    real, first = producer.begin_transaction, [True]

    def begin(*arguments: Any, **named: Any) -> Any:
        result = real(*arguments, **named)
        if first:
            first.clear()
            successor()
        return result

    producer.begin_transaction = begin  # type: ignore[method-assign]


def _goes_on(producer: LabProducer, topic: str) -> bool:
    """Tell whether the producer can do one more transaction."""
    try:
        producer.begin_transaction()
        producer.produce(topic, "one more")
        producer.commit_transaction(CALL_SECONDS)
    except (KafkaException, _ForEverError):
        return False
    return True


def _seen(lab: Lab, mark: str, topics: Sequence[str]) -> int:
    """Return how many records with this mark a reader of committed records gets."""
    own = mark.encode()
    return sum(
        (record.value or b"").startswith(own) for name in topics for record in read_log(lab.bootstrap, name)
    )


def _error_name(fault: BaseException) -> str:
    inner = fault.args[0] if isinstance(fault, KafkaException) and fault.args else None
    return str(inner.name()) if inner is not None else ""
