"""A lesson as its author wrote it."""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import jupytext

from tools.cells import Cell, Exercise

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
    notebook = jupytext.reads(path.read_text("utf-8"), fmt="py:percent")
    cells = (
        Cell(place, cell.cell_type, cell.source.strip("\n"), dict(cell.metadata))
        for place, cell in enumerate(notebook.cells)
    )
    return Lesson(path, tuple(cells))


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
