"""What the course itself says of a lab: its cells in order, its exercises, and the calls of their checks."""

import ast
import importlib
import inspect
import json
import re
import types
import typing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from threebrokers.errors import LabError
from threebrokers.lab.exercise import Check

HEADING = re.compile(r"^### Exercise (?P<number>\d+\.\d+):? *(?P<title>.*)$", re.MULTILINE)
SECTION = re.compile(r"^#{1,3} ", re.MULTILINE)
CHECK = re.compile(r"lab\.check\.\w+\([^()]*\)")
BUTTONS = ("broker_killed",)  # what its check looks at is done with buttons, which no notebook keeps


# These take anything, so that they can say what is wrong with it; what is right is text.
OF_TEXT = ("topic_created", "policies_chosen")
SCALARS = (str, bytes, int, float, bool, types.NoneType)
HOLDING = (list, tuple, set, frozenset, dict, typing.Union, types.UnionType)


@dataclass(frozen=True)
class Cell:
    """One code cell: the id that the front end gave it (or empty), its text, and in which exercise it stands.

    `exercise` is empty outside of any.
    """

    id: str
    text: str
    exercise: str = ""

    @property
    def is_check(self) -> bool:
        """Whether it is a call of a check and nothing else; one inside an answer is the learner's."""
        return self.id.startswith("check-") or bool(CHECK.fullmatch(self.text.strip()))

    @cached_property
    def words(self) -> str:
        """Its text with one space between words: a front end may change spaces and line breaks."""
        return " ".join(self.text.split())


@dataclass(frozen=True)
class Task:
    """One exercise of the course: where its answer is written, and the call of its check."""

    number: str
    title: str
    answer: Cell
    check: Cell

    @cached_property
    def call(self) -> ast.Call:
        """The call of the check."""
        body = ast.parse(self.check.text).body
        assert len(body) == 1
        assert isinstance(body[0], ast.Expr)
        assert isinstance(body[0].value, ast.Call)
        return body[0].value

    @property
    def function(self) -> str:
        """The name of the check."""
        assert isinstance(self.call.func, ast.Attribute)
        return self.call.func.attr

    @property
    def names(self) -> list[str]:
        """The names that the check is given, in order."""
        return [value.id for value in self.call.args if isinstance(value, ast.Name)]

    @property
    def by_hand(self) -> bool:
        """Whether it is done with buttons."""
        return self.function in BUTTONS


@dataclass(frozen=True)
class Course:
    """One lab as the course has it: its code cells in order, and its exercises."""

    lab: str
    cells: tuple[Cell, ...]
    tasks: tuple[Task, ...]

    @cached_property
    def ids(self) -> frozenset[str]:
        """The ids of its code cells."""
        return frozenset(cell.id for cell in self.cells)


def read(path: Path) -> Course:
    """Read a lab of the course. Raises LabError if it is damaged."""
    try:
        raw = json.loads(path.read_bytes())
        cells = tuple(code_cells(raw))
        titles = dict(headings(raw))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as fault:
        raise LabError(
            f"{path.name} of the course cannot be read ({fault})", f"`git checkout labs/{path.name}`"
        ) from fault
    return Course(path.name[:2], cells, tuple(_tasks(cells, titles)))


def code_cells(notebook: dict[str, Any]) -> list[Cell]:
    """Return the code cells of a notebook, each with the exercise in whose section it stands."""
    inside, found = "", []
    for cell in notebook["cells"]:
        text = "".join(cell["source"])  # it stands there as one text or as a list of lines
        if cell["cell_type"] == "markdown" and SECTION.search(text):
            heading = HEADING.search(text)
            inside = heading["number"] if heading else ""
        elif cell["cell_type"] == "code":
            found.append(Cell(str(cell.get("id", "")), text, inside))
    return found


def headings(notebook: dict[str, Any]) -> list[tuple[str, str]]:
    """Return number and title of each exercise that a notebook has a heading of."""
    texts = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    return [(found["number"], found["title"]) for text in texts if (found := HEADING.search(text))]


def checks(lab: str) -> dict[str, Check]:
    """Return the checks of a lab by name."""
    module = importlib.import_module(f"threebrokers.checks.lab{lab}")
    return {name: value for name, value in vars(module).items() if isinstance(value, Check)}


def is_plain(check: Check) -> bool:
    """Tell whether a check takes nothing but plain values, so that it can be asked in another process."""
    function = inspect.unwrap(check)
    hints, names = typing.get_type_hints(function), [*inspect.signature(function).parameters][1:]
    return check.__name__ in OF_TEXT or all(_is_plain(hints.get(name, object)) for name in names)


def _is_plain(hint: Any) -> bool:
    parts = typing.get_args(hint)
    if typing.get_origin(hint) in HOLDING:
        return all(map(_is_plain, parts))
    return hint in SCALARS


def _tasks(cells: tuple[Cell, ...], titles: dict[str, str]) -> list[Task]:
    by_id = {cell.id: cell for cell in cells}
    found = []
    for cell in cells:
        if cell.id.startswith("exercise-"):
            number = cell.id.removeprefix("exercise-").replace("-", ".")
            check = by_id[f"check-{number.replace('.', '-')}"]
            found.append(Task(number, titles.get(number, ""), cell, check))
    return found
