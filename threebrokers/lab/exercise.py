"""Exercises: a check has three outcomes, each shown as one sentence."""

import functools
import html
import inspect
import traceback
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Concatenate, ParamSpec, TypeVar

from confluent_kafka import KafkaException

from threebrokers import progress, theme
from threebrokers.errors import LabError
from threebrokers.paths import home
from threebrokers.waiting import poll, shown

P = ParamSpec("P")
T = TypeVar("T")

LOG, LOG_BYTES = "checks.log", 1_000_000


class Outcome(Exception):  # noqa: N818 - not an error
    """What a check says when an exercise is not solved."""

    sign = theme.BAD.sign
    label = ""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]

    def __str__(self) -> str:
        return f"{self.sign} {self.label}  {self.args[0]}" if self.label else f"{self.sign} {self.args[0]}"


class NotAttempted(Outcome):
    """The exercise still has its blanks."""

    sign = theme.OPEN.sign


class NotYet(Outcome):
    """The answer is not right: what was found, what was expected, where to look."""

    def __init__(self, found: str, expected: str, look_at: str) -> None:
        super().__init__(f"{found}; {expected}. Look at: {look_at}")
        self.found, self.expected, self.look_at = found, expected, look_at


@dataclass(frozen=True)
class Solved:
    """The answer is right: what is now true, and why it matters."""

    number: str
    title: str
    reason: str

    def __repr__(self) -> str:
        return f"{theme.GOOD.sign} {self.number}  {self.title}: {self.reason}"

    def _repr_html_(self) -> str:
        return (
            f'<div style="border-left:4px solid {theme.GOOD.colour};padding:.4em .8em">'
            f"{theme.GOOD.sign} {html.escape(self.number)}&ensp;<b>{html.escape(self.title)}</b>: "
            f"{html.escape(self.reason)}</div>"
        )


class Check:
    """The check of one exercise. It gets the lab first, then the learner's answers."""

    def __init__(self, number: str, title: str, function: Callable[..., str]) -> None:
        self.number, self.title = number, title
        self._function = function
        self._hints, self._signature = typing.get_type_hints(function), inspect.signature(function)
        functools.update_wrapper(self, function)

    def __call__(self, lab: Any, *answers: Any, **named: Any) -> Solved:
        """Return that the exercise is solved, and remember it. Raises an Outcome if it is not."""
        try:
            _attempted(self.number, answers, named)
            bound = _bind(self._signature, lab, answers, named)
            _fitting(bound, self._hints)
            reason = _sentence(self._function, bound)
        except Outcome as outcome:
            outcome.label = self.number
            if not isinstance(outcome, NotAttempted):
                progress.record(self.number, solved=False)
            raise
        progress.record(self.number, solved=True)
        return Solved(self.number, self.title, reason)


def exercise(number: str, title: str) -> Callable[[Callable[Concatenate[Any, P], str]], Check]:
    """Make a check of a function that returns the reason why the answer matters.

    The function gets the lab first, then the learner's answers. `...` among these is NotAttempted;
    a value of another type than annotated, or one that the check stumbles over, is NotYet.
    """
    return functools.partial(Check, number, title)


def eventually(look: Callable[[], T], *, what: str, within: float = 10) -> T:
    """Return what `look()` returns, once it no longer raises NotYet.

    Looks again for at most `within` seconds; then the last NotYet reaches the learner.
    """
    last: list[NotYet] = []

    def attempt() -> list[T]:
        try:
            return [look()]
        except NotYet as not_yet:
            last[:] = [not_yet]
            return []

    with shown(what, within):
        for found in poll(attempt, within):
            if found:
                return found[0]
    raise last[0]


def _attempted(number: str, answers: tuple[Any, ...], named: dict[str, Any]) -> None:
    if any(value is ... for value in (*answers, *named.values())):
        raise NotAttempted(f"Exercise {number} is not attempted yet: fill in the `...` in the cell above.")


def _bind(
    signature: inspect.Signature, lab: Any, answers: tuple[Any, ...], named: dict[str, Any]
) -> inspect.BoundArguments:
    wanted = list(signature.parameters)[1:]
    try:
        return signature.bind(lab, *answers, **named)
    except TypeError:
        count = len(answers) + len(named)
        found = f"the check got {count} value{'' if count == 1 else 's'}"
        expected = f"it takes {len(wanted)}: {', '.join(wanted)}"
        raise NotYet(found, expected, "the cell of the check; it should stand as the lab has it") from None


def _fitting(bound: inspect.BoundArguments, hints: dict[str, Any]) -> None:
    for name, value in list(bound.arguments.items())[1:]:
        accepted = _classes(hints.get(name, object))
        # True is an int to Python, and no number to anybody else.
        is_wrong_bool = isinstance(value, bool) and not {bool, object} & set(accepted)
        if not isinstance(value, accepted) or is_wrong_bool:
            kinds = " or ".join(_KINDS.get(kind, f"a {kind.__name__}") for kind in accepted)
            raise NotYet(
                f"`{name}` is {_shown(value)}", f"it should be {kinds}", "the cell of the exercise, above"
            )


_KINDS = {
    str: "text",
    bytes: "bytes",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    list: "a list",
    tuple: "a tuple",
    dict: "a dictionary",
    types.FunctionType: "a function",
}


def _classes(hint: Any) -> tuple[type, ...]:
    origin = typing.get_origin(hint)
    if hint is Any:
        return (object,)
    if origin is types.UnionType or origin is typing.Union:
        return tuple(kind for part in typing.get_args(hint) for kind in _classes(part))
    return (origin or hint,)


def _shown(value: Any) -> str:
    if value is None:
        return "None (nothing was returned or kept)"
    text = repr(value)
    return f"{text if len(text) <= 40 else text[:37] + '…'} ({type(value).__name__})"


def _sentence(check: Callable[..., str], bound: inspect.BoundArguments) -> str:
    try:
        return check(*bound.args, **bound.kwargs)
    except (Outcome, LabError):
        raise
    except KafkaException as fault:
        raise LabError(
            f"The check could not read the cluster ({fault.args[0]})",
            "run the lab's first cell again, it starts brokers that are missing",
        ) from fault
    except Exception as fault:
        _log(fault)  # it may be the check that is wrong
        values = ", ".join(f"`{name}` = {_shown(v)}" for name, v in list(bound.arguments.items())[1:])
        raise NotYet(
            f"the check cannot use {values} ({type(fault).__name__}: {fault})",
            "it needs what the task above asks for",
            "the cell of the exercise, above",
        ) from fault


def _log(fault: Exception) -> None:
    """Keep a fault's traceback in the home; a disk that is full must not hide a check's answer."""
    told = "".join(traceback.format_exception(fault))
    try:
        path = home() / LOG
        full = path.exists() and path.stat().st_size > LOG_BYTES
        with path.open("w" if full else "a", encoding="utf-8") as log:
            log.write(f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC\n{told}\n")
    except (OSError, LabError):
        return
