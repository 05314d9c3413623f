"""Which exercises this bench's learner has solved, and how the predictions went."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from filelock import Timeout

from threebrokers import store


@dataclass(frozen=True)
class Guess:
    """A prediction that was chosen and then compared: the first one for its question counts."""

    answer: str
    truth: str

    @property
    def right(self) -> bool:
        """Whether it was as predicted."""
        return self.answer == self.truth


def record(number: str, solved: bool) -> None:
    """Remember that exercise `number` ("3.1") was tried, and that it is solved if it now is.

    An exercise that was solved once stays solved. What cannot be written is not remembered, and
    nothing is raised: a full disk must not hide a check's answer.
    """
    try:
        with _exercises() as known:
            if solved and not known.get(number):
                known[number] = datetime.now(UTC).isoformat(timespec="seconds")
            known.setdefault(number, None)
    except (OSError, Timeout):
        return


def solved() -> dict[str, datetime]:
    """Return when (UTC) each solved exercise was solved first, by number."""
    with _exercises() as known:
        return {number: datetime.fromisoformat(when) for number, when in known.items() if when}


def tried() -> set[str]:
    """Return the numbers of all exercises that were tried, solved or not."""
    with _exercises() as known:
        return set(known)


def record_guess(name: str, guess: Guess) -> None:
    """Remember how the first prediction for a question ("4.a") went; what cannot be written is forgotten."""
    try:
        with _guesses() as known:
            known.setdefault(name, {"answer": guess.answer, "truth": guess.truth})
    except (OSError, Timeout):
        return


def guesses() -> dict[str, Guess]:
    """Return the first prediction for each question that was answered, by the question's name."""
    with _guesses() as known:
        return {name: Guess(**told) for name, told in known.items()}


@contextmanager
def _exercises() -> Iterator[dict[str, Any]]:
    def look(known: dict[str, Any]) -> None:
        for when in known.values():
            _ = when is None or datetime.fromisoformat(when)

    with store.opened("progress", look) as known:
        yield known


@contextmanager
def _guesses() -> Iterator[dict[str, Any]]:
    with store.opened("predictions", lambda known: [Guess(**told) for told in known.values()]) as known:
        yield known
