"""Delivery reports of a producer: counted, and passed on to the program's callback."""

import inspect
from collections import Counter
from collections.abc import Callable
from typing import Any

from confluent_kafka import KafkaError, Message

from threebrokers.errors import LabError
from threebrokers.kafka.interceptors import Delivery

Report = Callable[[KafkaError | None, Message], Any]


class Reports:
    """What was sent, what was reported, and what a callback has raised meanwhile.

    confluent-kafka crashes if a callback raises, and then once more for each report that is left. So an
    exception is kept here, every record gets its report, and `settle` raises the first one. `errors` are the
    codes of all errors that were ever reported, `told` is how often the program's callbacks were called.
    """

    def __init__(self) -> None:
        # Two counters: a program may send in one thread and poll in another.
        self._sent: Counter[str] = Counter()
        self._reported: Counter[str] = Counter()
        self._given: Counter[str] = Counter()
        self.errors: set[int] = set()
        self.told = 0
        self._raised: BaseException | None = None
        self._muted = False
        self._checked: object = None
        self._last: tuple[Report | None, list[Delivery], Report] | None = None

    def told_to(self, heard: list[Delivery], theirs: Report | None) -> Report:
        """Return what tells a delivery report to these, and then to the program's callback."""
        # Most programs pass the same function again and again, and a function for each record is not cheap.
        last = self._last
        if last is None or last[0] is not theirs or last[1] != heard:
            self._check(theirs)

            def report(error: KafkaError | None, message: Message) -> None:
                self._reported[str(message.topic())] += 1
                if error is not None:
                    self.errors.add(error.code())
                for delivery in heard:
                    delivery.on_acknowledgement(error, message)
                if theirs is not None and not self._muted:
                    self._tell(theirs, error, message)

            self._last = last = theirs, heard, report
        return last[2]

    def expect(self, topic: str) -> None:
        """Note that a record was given to the client."""
        self._sent[topic] += 1
        self._given[topic] += 1

    def given(self, topic: str) -> int:
        """Return how many records of this topic were ever given to the client."""
        return self._given[topic]

    def missing(self, topic: str) -> int:
        """Return how many reports are missing, of this topic or (empty) of all."""
        if topic:
            return self._sent[topic] - self._reported[topic]
        return self._sent.total() - self._reported.total()

    def open_topics(self) -> list[str]:
        """Return the topics of which reports are missing."""
        return [topic for topic in self._sent if self.missing(topic) > 0]

    def settle(self, waiting: int) -> None:
        """Forget records without a callback if nothing waits any more; raise what a callback has raised."""
        if not waiting:
            self._sent, self._reported = Counter(), Counter()
        raised, self._raised = self._raised, None
        if raised is not None:
            raise raised

    def mute(self) -> None:
        """Tell the program's callbacks nothing from now on."""
        self._muted = True

    def _tell(self, theirs: Report, error: KafkaError | None, message: Message) -> None:
        self.told += 1
        try:
            theirs(error, message)
        except BaseException as fault:
            if self._raised is None:
                self._raised = fault

    def _check(self, theirs: Report | None) -> None:
        # A lambda in a loop is a new function each time, with the same code.
        known = getattr(theirs, "__code__", theirs)
        if known is not self._checked:
            expect_two_arguments(theirs)
            self._checked = known


def expect_two_arguments(callback: object) -> None:
    """Raise LabError if a delivery callback cannot be called with an error and a message."""
    if not callable(callback):
        return  # confluent-kafka says so itself
    try:
        signature = inspect.signature(callback)
    except ValueError:  # some functions written in C do not tell
        return
    try:
        signature.bind(None, None)
    except TypeError:
        name = getattr(callback, "__name__", type(callback).__name__)
        raise LabError(
            f"A delivery callback is called with two arguments, (error, message), and `{name}{signature}` "
            "cannot be",
            "give produce() a function that takes both; error is None if the record was stored",
        ) from None
