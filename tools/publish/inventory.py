"""The rows of the course's inventories, from tools/publish/coverage/, and where lessons meet them."""

import csv
from dataclasses import dataclass
from pathlib import Path

from tools.lessons import lesson as lessons


@dataclass(frozen=True)
class Row:
    """One teachable item of the founding documents, and the lab that is its home."""

    id: str
    item: str
    lab: str


@dataclass(frozen=True)
class Place:
    """Where a row is met: a lesson's stem and title, and the section's heading."""

    stem: str
    title: str
    section: str


@dataclass(frozen=True)
class Undone:
    """Why a row is done in no lab."""

    id: str
    kind: str
    reason: str


def inventory(folder: Path) -> dict[str, Row]:
    """Return all rows by id, in order."""
    rows = [Row(*line) for path in sorted(folder.glob("inventory-*.tsv")) for line in _lines(path)]
    return {row.id: row for row in rows}


def undone(folder: Path) -> list[Undone]:
    """Return the rows that are text only or out of date, each with its reason."""
    return [Undone(*line) for line in _lines(folder / "not_done.tsv")]


def met(root: Path) -> list[tuple[str, Place]]:
    """Return each id that a Markdown cell names in `covers`, and where; in the order of the course."""
    found = []
    for path in lessons.lessons(root):
        lesson = lessons.read(path)
        title = section = _heading(lesson.cells[0].source) or lesson.stem
        for cell in lesson.cells:
            if cell.kind == "markdown":
                section = _heading(cell.source) or section
                names = str(cell.metadata.get("covers", "")).split()
                found += [(name, Place(lesson.stem, title, section)) for name in names]
    return found


def _lines(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]


def _heading(source: str) -> str:
    """Return the first heading in a cell's text, without its signs."""
    lines = [line for line in source.splitlines() if line.startswith("#")]
    return lines[0].lstrip("#").strip() if lines else ""
