"""Which exercises this home's learner has solved, and how the predictions went."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime

from filelock import Timeout

from threebrokers.paths import home
from threebrokers.store import JsonFile

LOCK_SECONDS = 5


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
                known[number] = datetime.now(UTC).replace(microsecond=0)
            known.setdefault(number, None)
    except (OSError, Timeout):
        return


def solved() -> dict[str, datetime]:
    """Return when (UTC) each solved exercise was solved first, by number."""
    with _exercises() as known:
        return {number: when for number, when in known.items() if when}


def tried() -> set[str]:
    """Return the numbers of all exercises that were tried, solved or not."""
    with _exercises() as known:
        return set(known)


def record_guess(name: str, guess: Guess) -> None:
    """Remember how the first prediction for a question ("4.a") went; what cannot be written is forgotten."""
    try:
        with _guesses() as known:
            known.setdefault(name, guess)
    except (OSError, Timeout):
        return


def guesses() -> dict[str, Guess]:
    """Return the first prediction for each question that was answered, by the question's name."""
    with _guesses() as known:
        return dict(known)


def _exercises() -> AbstractContextManager[dict[str, datetime | None]]:
    """Yield when each exercise that was tried has been solved; what the caller changes in it is kept."""
    file = JsonFile[dict[str, datetime | None]](home() / "progress.json", dict[str, datetime | None])
    return file.changed(dict, LOCK_SECONDS)


def _guesses() -> AbstractContextManager[dict[str, Guess]]:
    file = JsonFile[dict[str, Guess]](home() / "predictions.json", dict[str, Guess])
    return file.changed(dict, LOCK_SECONDS)
