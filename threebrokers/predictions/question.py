"""The questions of each lab: its answers, and the idea behind each of them, off the page."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from threebrokers.errors import LabError
from threebrokers.store import own_file
from threebrokers.text import quoted

QUESTIONS = Path(__file__).parent / "questions"
ID = re.compile(r"(\d+)\.[a-z]")


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An answer to choose, and `why` somebody would: the idea behind it, or why it is right."""

    answer: str
    why: str


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question and its answers, in the order in which they are offered; the texts may hold `code`."""

    question: str
    answers: Sequence[Answer]

    @property
    def why(self) -> dict[str, str]:
        """The idea behind each answer, by answer."""
        return {answer.answer: answer.why for answer in self.answers}


def file_name(lab: int) -> str:
    """Return the name of the file that holds a lab's questions."""
    return f"lab{lab:02}.toml"


def read(path: Path) -> dict[str, Question]:
    """Return the questions of one file by id. Raises OSError, and ValueError if it holds something else."""
    found: dict[str, Question] = msgspec.toml.decode(path.read_bytes(), type=dict[str, Question])
    return found


def of_lab(lab: str) -> dict[str, Question]:
    """Return the questions of a lab ("04") by id, if it has any. Raises LabError if they are damaged."""
    path = QUESTIONS / file_name(int(lab))
    return own_file(f"The questions of lab {lab}", path, dict[str, Question]) if path.exists() else {}


def question_of(name: Any) -> Question:
    """Return the question of this id ("4.a"). Raises LabError if there is none, or its file is damaged."""
    known = ID.fullmatch(name) if isinstance(name, str) else None
    cure = 'give an id like lab.predict("4.a")'
    if known is None:
        raise LabError(f"{name!r} names no question", cure)
    path = QUESTIONS / file_name(int(known[1]))
    if not path.exists():
        raise LabError(f"{name!r} names no question, as there is no {path}", cure)
    asked = own_file(f"The questions of lab {known[1]}", path, dict[str, Question])
    if name not in asked:
        raise LabError(f"Lab {known[1]} has no question '{name}'", f"choose one of {quoted(asked)}")
    return asked[name]
