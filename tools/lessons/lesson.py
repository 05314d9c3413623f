"""The cells of a lesson, and what belongs to one exercise."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import jupytext

from tools.lessons import code_names, solution_marks

DETAILS = re.compile(r"<details>\s*<summary>(.*?)</summary>(.*?)</details>", re.DOTALL)
NEEDED = "needed"
CHECK = re.compile(r"\blab\.check\.\w+")


@dataclass(frozen=True)
class Cell:
    """One cell of a lesson; `place` counts from 0, `metadata` is as the author wrote it."""

    place: int
    kind: str
    source: str
    metadata: Mapping[str, Any]

    @property
    def tags(self) -> tuple[str, ...]:
        """The cell's tags."""
        return tuple(self.metadata.get("tags", ()))

    @property
    def is_needed(self) -> bool:
        """Whether exercises rely on this cell in a way that no name of it shows."""
        return NEEDED in self.tags

    @property
    def is_tried(self) -> bool:
        """Whether this cell holds an answer that is only tried: a wrong one, or another right one."""
        return self.kind == "code" and bool({"wrong", "right"} & set(self.tags))

    @property
    def is_check(self) -> bool:
        """Whether this cell calls a check."""
        return self.kind == "code" and not self.is_tried and bool(CHECK.search(self.source))

    @property
    def is_answer(self) -> bool:
        """Whether this cell has a mark or a TODO, and so holds the answer to an exercise."""
        return self.kind == "code" and not self.is_tried and solution_marks.is_marked(self.source)

    @property
    def solved(self) -> str:
        """The cell's text as the solution has it."""
        return solution_marks.solved(self.source) if self.is_answer else self.source

    @property
    def chooses(self) -> set[str]:
        """The predictions that this cell's region answers, if it does nothing else."""
        if not self.is_answer or any(solution_marks.faults(self.source)):
            return set()
        return code_names.chosen(solution_marks.split(self.source).region)


@dataclass(frozen=True)
class Wrong:
    """An answer to try: its name, the text that its message must hold if it is wrong, and the cell."""

    name: str
    text: str
    cell: Cell


@dataclass(frozen=True)
class Exercise:
    """The cells from an exercise's heading to the next heading."""

    number: str
    title: str
    cells: tuple[Cell, ...]

    @cached_property
    def answers(self) -> list[Cell]:
        """The cells with the answer: one, if the rules are kept.

        A region that only answers a prediction is the answer if the check receives that prediction.
        """
        marked = [cell for cell in self.cells if cell.is_answer]
        return [cell for cell in marked if not cell.chooses or cell.chooses <= set(self.passed)]

    @cached_property
    def checks(self) -> list[Cell]:
        """The cells that call a check: one, if the rules are kept."""
        return [cell for cell in self.cells if cell.is_check]

    @cached_property
    def wrongs(self) -> list[Wrong]:
        """The wrong answers; name and text are empty where the first line is not `# name | text`."""
        return [_wrong(cell) for cell in self.cells if cell.is_tried and "right" not in cell.tags]

    @cached_property
    def rights(self) -> list[Wrong]:
        """The right answers that were found in another way than the solution."""
        return [_right(cell) for cell in self.cells if cell.is_tried and "right" in cell.tags]

    @cached_property
    def hints(self) -> list[str]:
        """The text of each hint."""
        prose = "\n\n".join(cell.source for cell in self.cells if cell.kind == "markdown")
        return [text.strip() for title, text in DETAILS.findall(prose) if "hint" in title.lower()]

    @property
    def few(self) -> str:
        """The author's reason for fewer than three wrong answers, or an empty text."""
        return " ".join(str(cell.metadata.get("fewer", "")) for cell in self.cells).strip()

    @property
    def by_hand(self) -> str:
        """How it is done without writing anything, if it is; then the region only does what a hand can do."""
        return " ".join(str(cell.metadata.get("by_hand", "")) for cell in self.cells).strip()

    @cached_property
    def passed(self) -> list[str]:
        """The names that the check receives, in order."""
        return code_names.arguments(self.checks[0].source) if self.checks else []

    @cached_property
    def blanks(self) -> list[str]:
        """The names that the lab sets to `...`: those that the region assigns and the check receives."""
        bound = code_names.assigned(solution_marks.split(self.answers[0].source).region)
        return [name for name in dict.fromkeys(self.passed) if name in bound]


def _wrong(cell: Cell) -> Wrong:
    first = cell.source.partition("\n")[0]
    name, bar, text = first.removeprefix("#").partition("|")
    if not (first.startswith("# ") and bar):
        return Wrong("", "", cell)
    return Wrong(name.strip(), text.strip(), cell)


def _right(cell: Cell) -> Wrong:
    first = cell.source.partition("\n")[0]
    return Wrong(first.removeprefix("# ").strip() if first.startswith("# ") else "", "", cell)


TITLE = re.compile(r"^# # (.+)$", re.MULTILINE)
HEADING = re.compile(r"### Exercise (\d+)\.(\d+): (\S.*)")
SECTION = re.compile(r"#{1,3} ")
NAME = re.compile(r"(\d\d)_[a-z0-9_]+")


@dataclass(frozen=True)
class Lesson:
    """One file of lessons/: `stem` is the name that its lab and solution share."""

    path: Path
    cells: tuple[Cell, ...]

    @property
    def stem(self) -> str:
        """The file's name without its ending."""
        return self.path.stem

    @property
    def number(self) -> str:
        """The two digits that the file's name begins with."""
        return self.stem[:2]

    @cached_property
    def exercises(self) -> list[Exercise]:
        """The exercises, in order."""
        starts = [i for i, cell in enumerate(self.cells) if _heading(cell)]
        return [_exercise(self.cells[start:]) for start in starts]


def read(path: Path) -> Lesson:
    """Read a lesson from its Jupytext file."""
    return Lesson(path, _cells(path.read_text("utf-8")))


# Jupytext and nbformat take 0.1 s for a lesson, and each tool asks for all lessons again and again.
@lru_cache(maxsize=64)
def _cells(text: str) -> tuple[Cell, ...]:
    notebook = jupytext.reads(text, fmt="py:percent")
    return tuple(
        Cell(place, cell.cell_type, cell.source.strip("\n"), dict(cell.metadata))
        for place, cell in enumerate(notebook.cells)
    )


def title(path: Path) -> str:
    """Return the title of a lesson: the question under which it stands. Empty if it has none."""
    found = TITLE.search(path.read_text("utf-8"))
    return found[1] if found else ""


def lessons(root: Path) -> list[Path]:
    """Return the lesson files of the course, in order."""
    return sorted((root / "lessons").glob("*.py"))


def _heading(cell: Cell) -> re.Match[str] | None:
    return HEADING.match(cell.source) if cell.kind == "markdown" else None


def _exercise(cells: tuple[Cell, ...]) -> Exercise:
    heading = HEADING.match(cells[0].source)
    assert heading is not None
    lab, count, title = heading.groups()
    ends = [i for i, cell in enumerate(cells) if i and cell.kind == "markdown" and SECTION.match(cell.source)]
    return Exercise(f"{lab}.{count}", title.strip(), cells[: ends[0] if ends else len(cells)])
