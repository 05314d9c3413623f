"""What this home's learner has done: exercises, predictions and quizzes, in files of this machine."""

import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from threebrokers.errors import LabError
from threebrokers.paths import home
from threebrokers.store import JsonFile

T = TypeVar("T")
LOCK_SECONDS = 5
# The files of the home, with their locks, and with what was damaged and is kept beside them.
EXERCISES, PREDICTIONS, QUIZZES, TOLD = FILES = ("progress", "predictions", "quizzes", "told")


@dataclass(frozen=True)
class Guess:
    """A prediction that was chosen and then compared: the first one for its question counts."""

    answer: str
    truth: str

    @property
    def right(self) -> bool:
        """Whether it was as predicted."""
        return self.answer == self.truth


@dataclass(frozen=True)
class Answered:
    """The answer to a question of a quiz, the last one that counts, and when it was given (UTC)."""

    answer: str
    right: bool
    at: datetime


def record(number: str, solved: bool) -> None:
    """Remember that exercise `number` ("3.1") was tried, and that it is solved if it now is.

    An exercise that was solved once stays solved. What cannot be written is not remembered, and
    nothing is raised: a full disk must not hide a check's answer.
    """
    with _if_possible(), _exercises() as known:
        if solved and not known.get(number):
            known[number] = datetime.now(UTC).replace(microsecond=0)
        known.setdefault(number, None)


def solved() -> dict[str, datetime]:
    """Return when (UTC) each solved exercise was solved first, by number."""
    return {number: when for number, when in _known(_exercises_file()).items() if when}


def solved_in(lab: str) -> list[str]:
    """Return the numbers of a lab's ("03") solved exercises, in order; none if that cannot be read now."""
    known = _exercises_file().read() or {}
    mine = [number for number in known if number.partition(".")[0] == str(int(lab))]
    return sorted(number for number in mine if known[number])


def tried() -> set[str]:
    """Return the numbers of all exercises that were tried, solved or not."""
    return set(_known(_exercises_file()))


def record_guess(name: str, guess: Guess) -> None:
    """Remember how the first prediction for a question ("4.a") went; what cannot be written is forgotten."""
    with _if_possible(), _guesses() as known:
        known.setdefault(name, guess)


def guesses() -> dict[str, Guess]:
    """Return the first prediction for each question that was answered, by the question's name."""
    return _known(_guesses_file())


def record_answer(name: str, answer: str, *, right: bool) -> None:
    """Remember the answer to a question of a quiz ("4.q1"); what cannot be written is forgotten."""
    with _if_possible(), _answers() as known:
        known[name] = Answered(answer, right, datetime.now(UTC).replace(microsecond=0))


def answers() -> dict[str, Answered]:
    """Return the last answer to each question of a quiz, by the question's name."""
    return _known(_answers_file())


def export(file: Path) -> None:
    """Write all that is remembered to one file of JSON. Raises OSError."""
    content = {
        "exported": datetime.now(UTC).replace(microsecond=0),
        "exercises": _exercises_file().read() or {},
        "predictions": guesses(),
        "quizzes": answers(),
    }
    JsonFile[dict[str, Any]](file, dict[str, Any]).write(content)


def forget(lab: str = "") -> int:
    """Forget what is remembered of one lab ("03"), or of all; return how many things that were.

    Of all labs the damaged files that were kept aside go, too. Raises OSError, or filelock's Timeout.
    """
    count = 0
    files: list[JsonFile[Any]] = [_exercises_file(), _guesses_file(), _answers_file()]
    for file in files:
        with file.changed(dict, LOCK_SECONDS) as known:
            gone = [name for name in known if not lab or name.partition(".")[0] == str(int(lab))]
            count += len(gone)
            for name in gone:
                del known[name]
    if not lab:
        for path in [*(kept for file in files for kept in file.kept()), _told_file().path]:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
    return count


def lost() -> list[str]:
    """Return a sentence for each damaged file that was kept aside and that nobody was told of: each once.

    What cannot be written is told again the next time.
    """
    files: dict[str, JsonFile[Any]] = {
        "Your solved exercises": _exercises_file(),
        "Your predictions": _guesses_file(),
        "Your answers to quizzes": _answers_file(),
    }
    for file in files.values():
        with suppress(LabError):  # who asks for what it holds is told
            _known(file)  # what is damaged is kept aside
    found = {path.name: (what, path) for what, file in files.items() for path in file.kept()}
    known = _told_file().read() or []
    if set(known) != set(found):  # also if one is gone: another one may get its name
        with suppress(OSError):
            _told_file().write(sorted(found))
    return [
        f"{what} could not be read: {path} keeps what was there, and they are counted anew."
        for name, (what, path) in found.items()
        if name not in known
    ]


@contextmanager
def _if_possible() -> Iterator[None]:
    """Leave the block out if there is no home, its files cannot be written, or another program holds them."""
    from filelock import Timeout  # who only looks locks nothing

    with suppress(LabError, OSError, Timeout):
        yield


def _known(file: JsonFile[dict[str, T]]) -> dict[str, T]:
    """Return what a file holds, also where nothing may be written; a damaged one is kept aside if it can."""
    known = file.read()
    if known is None and file.path.exists():
        _expect_readable(file.path)
        with _if_possible(), file.changed(dict, LOCK_SECONDS) as known:
            pass  # so it is kept aside; another program may have done that, and begun anew
    return known or {}


def _expect_readable(path: Path) -> None:
    """Raise LabError if another user's rights keep a file from being read: it is not empty for that."""
    try:
        path.read_bytes()
    except PermissionError as fault:
        raise LabError(
            f"{path} may not be read by you", f"make it yours: `sudo chown $USER {path}`"
        ) from fault
    except OSError:
        pass  # a folder in its place, which is kept aside


def _exercises() -> AbstractContextManager[dict[str, datetime | None]]:
    """Yield when each exercise that was tried has been solved; what the caller changes in it is kept."""
    return _exercises_file().changed(dict, LOCK_SECONDS)


def _guesses() -> AbstractContextManager[dict[str, Guess]]:
    return _guesses_file().changed(dict, LOCK_SECONDS)


def _answers() -> AbstractContextManager[dict[str, Answered]]:
    return _answers_file().changed(dict, LOCK_SECONDS)


def _exercises_file() -> JsonFile[dict[str, datetime | None]]:
    return JsonFile(home() / f"{EXERCISES}.json", dict[str, datetime | None])


def _guesses_file() -> JsonFile[dict[str, Guess]]:
    return JsonFile(home() / f"{PREDICTIONS}.json", dict[str, Guess])


def _answers_file() -> JsonFile[dict[str, Answered]]:
    return JsonFile(home() / f"{QUIZZES}.json", dict[str, Answered])


def _told_file() -> JsonFile[list[str]]:
    return JsonFile(home() / f"{TOLD}.json", list[str])
