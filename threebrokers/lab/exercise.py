"""Exercises: a check has three outcomes, each shown as one sentence."""

import functools
import inspect
import time
import traceback
import typing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Concatenate, ParamSpec, TypeVar

from confluent_kafka import KafkaException

from threebrokers import progress
from threebrokers.errors import LabError, NotYoursError
from threebrokers.lab import outage
from threebrokers.lab.attempt import Errors, attempt, expect_judgeable, judging
from threebrokers.lab.bound import bounded, left
from threebrokers.lab.not_yours import skipped
from threebrokers.lab.outcomes import NotAttempted, NotYet, Outcome, Skipped, Solved
from threebrokers.lab.values import fitted, told
from threebrokers.paths import home
from threebrokers.waiting import POLL_SECONDS, poll, shown

__all__ = ["Check", "NotAttempted", "NotYet", "Outcome", "Solved", "attempt", "eventually", "exercise"]

P = ParamSpec("P")
T = TypeVar("T")

LOG, LOG_BYTES = "checks.log", 1_000_000
AGAIN_SECONDS = 3.0  # a check is worth another call if it has as much time left


class Check:
    """The check of one exercise. It gets the lab first, then the learner's answers."""

    def __init__(
        self, number: str, title: str, every_broker: bool, errors: Errors, function: Callable[..., str]
    ) -> None:
        self.number, self.title, self.every_broker, self.errors = number, title, every_broker, errors
        self.__name__ = function.__name__
        self._function = function
        self._hints, self._signature = (
            typing.get_type_hints(function, include_extras=True),
            inspect.signature(function),
        )
        functools.update_wrapper(self, function)

    def expect_judgeable(self) -> None:
        """Raise an Outcome if the exercise's cell ended in an error, or if an answer does not exist."""
        with self._outcomes():
            expect_judgeable(self.number, self.__name__, self.errors)

    def __call__(self, lab: Any, *answers: Any, **named: Any) -> Solved:
        """Return that the exercise is solved, and remember it. Raises an Outcome if it is not."""
        with self._outcomes(), judging(self.number, self.__name__):
            _attempted(self.number, answers, named)
            bound = _bind(self._signature, lab, answers, named)
            for name in list(bound.arguments)[1:]:
                bound.arguments[name] = fitted(name, bound.arguments[name], self._hints.get(name, object))
            reason = self._judge(lab, bound)
        progress.record(self.number, solved=True)
        return Solved(self.number, self.title, reason)

    def _judge(self, lab: Any, bound: inspect.BoundArguments) -> str:
        if not hasattr(lab, "cluster"):
            return _sentence(self._function, lab, bound)
        with bounded(lambda: _no_answer(lab)):
            if self.every_broker:
                outage.expect_every_broker(lab)
            return _sentence(self._function, lab, bound)

    @contextmanager
    def _outcomes(self) -> Iterator[None]:
        """Tell an outcome, or a fault, which exercise it is about, and remember the try."""
        try:
            yield
        except (Outcome, LabError) as fault:
            said = skipped(self.number, self.__name__, fault) or fault
            said.label, said.title = self.number, self.title
            if isinstance(said, Outcome) and not isinstance(said, NotAttempted | Skipped):
                progress.record(self.number, solved=False)
            if said is fault:
                raise
            raise said from None


def exercise(
    number: str, title: str, *, every_broker: bool = False, errors: Errors | None = None
) -> Callable[[Callable[Concatenate[Any, P], str]], Check]:
    """Make a check of a function that returns the reason why the answer matters.

    The function gets the lab first, then the learner's answers, as its annotations want them (np.int64(3)
    as 3, a tuple as a list). `...` among these is NotAttempted; a value of another kind, or one that the
    check stumbles over, is NotYet. With `every_broker` brokers that are away are told before it is called:
    for a check that would wait long for them, as Spark does. `errors` has, for a part of the text of an error
    in which the exercise's cell may end, what is expected and where to look.
    """
    return functools.partial(Check, number, title, every_broker, errors or {})


def eventually(look: Callable[[], T], *, what: str, within: float) -> T:
    """Return what `look()` returns, once it no longer raises NotYet.

    Looks again for at most `within` seconds, and not beyond the time of the whole check; then the last
    NotYet reaches the learner.
    """
    last: list[NotYet] = []

    def look_once() -> list[T]:
        try:
            return [look()]
        except NotYet as not_yet:
            last[:] = [not_yet]
            return []

    seconds = left(within)
    with shown(what, seconds):
        for found in poll(look_once, seconds):
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


def _no_answer(lab: Any) -> LabError | None:
    """Return why the brokers do not answer: some are away. None if all run, or if enough do.

    Enough do while only one is away that the experiment has left so: the others answer for it, in the end.
    """
    found = outage.away(lab)
    return outage.no_answer(lab) if found and not outage.is_left_so(lab, found) else None


def _sentence(check: Callable[..., str], lab: Any, bound: inspect.BoundArguments) -> str:
    while True:
        try:
            return check(*bound.args, **bound.kwargs)
        except (Outcome, outage.UnansweredError, NotYoursError):
            raise
        except LabError as fault:
            found = outage.away(lab) if hasattr(lab, "cluster") else None
            if found and not outage.is_left_so(lab, found):
                raise LabError(f"{fault.what} ({found.what})", outage.next_step(found)) from fault
            raise
        except KafkaException as fault:
            if not hasattr(lab, "cluster"):
                raise
            # Another broker may take over in this moment.
            if not outage.passes(fault) or left(AGAIN_SECONDS) < AGAIN_SECONDS:
                raise outage.refused(lab, fault) from fault
            time.sleep(POLL_SECONDS)
        except Exception as fault:
            _log(fault)  # it may be the check that is wrong
            values = ", ".join(f"`{name}` = {told(v)}" for name, v in list(bound.arguments.items())[1:])
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
