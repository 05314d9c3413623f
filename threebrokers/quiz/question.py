"""The questions of each lab's quiz, off the page: one answer of each is right, and all are explained."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from threebrokers.store import own_file

QUESTIONS = Path(__file__).parent / "questions"
ID = re.compile(r"(\d+)\.q\d+")
FILE = re.compile(r"lab(\d\d)\.toml")


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An answer to choose, and `why` it is right, or which idea behind it is not."""

    answer: str
    why: str
    right: bool = False


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question and its answers, in the order in which they are offered; the texts may hold `code`."""

    question: str
    answers: Sequence[Answer]

    @property
    def truth(self) -> str:
        """The right answer."""
        return next(answer.answer for answer in self.answers if answer.right)

    @property
    def why(self) -> dict[str, str]:
        """What there is to learn from each answer, by answer."""
        return {answer.answer: answer.why for answer in self.answers}

    def told(self, chosen: str) -> str:
        """Return what is said to whoever has chosen this answer: whether it is right, and why."""
        right = self.why[self.truth]
        if chosen == self.truth:
            return f"Right. {right}"
        return f"No. {self.why[chosen]} The right answer is “{self.truth}”. {right}"


Questions = Mapping[str, Question]


def file_name(lab: str) -> str:
    """Return the name of the file that holds the quiz of a lab ("04")."""
    return f"lab{lab}.toml"


def lab_of(name: str) -> str:
    """Return the lab ("04") of a question's name ("4.q1"); "" if it is no such name."""
    known = ID.fullmatch(name)
    return f"{int(known[1]):02}" if known else ""


def labs(folder: Path | None = None) -> list[str]:
    """Return the labs that have a quiz, in order."""
    return sorted(
        match[1] for path in (folder or QUESTIONS).glob("*.toml") if (match := FILE.fullmatch(path.name))
    )


def read(lab: str, folder: Path | None = None) -> dict[str, Question]:
    """Return the questions of a lab's quiz by name, in order. Raises LabError if the file is damaged."""
    place = (folder or QUESTIONS) / file_name(lab)
    return own_file(f"The quiz of lab {lab}", place, dict[str, Question])


def of_lab(lab: str) -> dict[str, Question]:
    """Return the same; none if the lab has no quiz."""
    return read(lab) if (QUESTIONS / file_name(lab)).exists() else {}


def every(folder: Path | None = None) -> dict[str, Question]:
    """Return the questions of all labs by name, in order. Raises LabError if a file is damaged."""
    return {name: question for lab in labs(folder) for name, question in read(lab, folder).items()}
