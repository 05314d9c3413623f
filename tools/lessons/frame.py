"""The line under a lab's title: which lab of the course it is, and the way to the ones beside it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tools.lessons.lesson import Lesson, title

COURSE = "Three Brokers"


def framed(lesson: Lesson, paths: Sequence[Path]) -> Lesson:
    """Return the lesson with that line; `paths` are the lessons of the course, in order."""
    first, *rest = lesson.cells
    heading, _, text = first.source.partition("\n")
    source = f"{heading}\n\n{_line(lesson.path, paths)}\n{text}"
    return replace(lesson, cells=(replace(first, source=source), *rest))


def _line(path: Path, paths: Sequence[Path]) -> str:
    place = paths.index(path)
    parts = [COURSE, f"lab {path.stem[:2]} ({place + 1} of {len(paths)})"]
    if place > 0:
        parts.append(f"before: {_link(paths[place - 1])}")
    if place + 1 < len(paths):
        parts.append(f"next: {_link(paths[place + 1])}")
    return " · ".join(parts)


def _link(path: Path) -> str:
    return f"[{title(path)}]({path.stem}.ipynb)"
