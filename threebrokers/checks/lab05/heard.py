"""Exercise 5.7: whether a program that is wrapped hears its delivery reports, each once and as it is."""

from collections.abc import Callable, Mapping
from typing import Any

from confluent_kafka import KafkaError, Message

from threebrokers.lab.exercise import NotYet
from threebrokers.text import counted

CALLS = "where `Traced` calls the program's callback"


class Heard:
    """The program's own callbacks: they take whatever they are called with, and note it.

    Each record has one of its own, as each call of a program that writes a lambda there.
    """

    def __init__(self) -> None:
        self.calls: list[tuple[bytes, tuple[Any, ...], dict[str, Any]]] = []

    def of(self, order: Mapping[str, Any]) -> Callable[..., None]:
        """Return the callback that the program gives with this order."""

        def callback(*arguments: Any, **named: Any) -> None:
            self.calls.append((order["value"], arguments, named))

        return callback

    def judge(self, records: int) -> None:
        """Raise NotYet unless each of these records was told once, to its callback; the last one failed."""
        self.judge_each()
        count, failed = len(self.calls), sum(arguments[0] is not None for _, arguments, _ in self.calls)
        if count > records:
            raise NotYet(
                f"the program's own callback was called {count} times for {records} orders",
                "it should hear of each report once",
                "where `Traced` calls it, and whether it passes it to the producer, too",
            )
        if count < records:
            not_of = ", not of the one that failed" if count == records - 1 and not failed else ""
            raise NotYet(
                f"the program's own callback heard of {count} of {records} orders{not_of}",
                "whoever wraps a producer should not take its reports away",
                "on_delivery, which the program may have given",
            )
        for own, (_, message), _ in self.calls:
            if message.value() != own:
                other = (message.value() or b"")[:12]
                raise NotYet(
                    f"the program's callback for {own[:12]!r}… heard of {other!r}…",
                    "each should hear of its own record: many are on their way at once",
                    "where `Traced` keeps a record's callback until its report comes",
                )

    def judge_each(self) -> None:
        """Raise NotYet unless each call was with the error and the message of a report."""
        for _, arguments, named in self.calls:
            if named:
                raise NotYet(
                    f"`Traced` calls the program's own callback with names: {', '.join(sorted(named))}",
                    "it is called as on_delivery(error, message), because a program may name them otherwise",
                    CALLS,
                )
            if len(arguments) != 2:
                raise NotYet(
                    f"`Traced` calls the program's own callback with {counted(len(arguments), 'argument')}",
                    "as a callback of the producer it takes two, (error, message)",
                    CALLS,
                )
            error, message = arguments
            if not isinstance(message, Message):
                raise NotYet(
                    f"`Traced` calls the program's own callback with ({_brief(error)}, {_brief(message)})",
                    "it should hear what the report says, (error, message), when the report comes",
                    CALLS,
                )
            if (error is None) != (message.error() is None):
                raise NotYet(
                    f"the program's own callback was told the error {_brief(error)}, and the report says "
                    f"{_brief(message.error())}",
                    "it should hear what the report says, (error, message)",
                    CALLS,
                )


def _brief(value: Any) -> str:
    return value.name() if isinstance(value, KafkaError) else f"{value!r:.40}"
