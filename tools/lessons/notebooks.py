"""The two notebooks of a lesson, and how a notebook is written."""

import hashlib
from collections import Counter
from pathlib import Path
from typing import Any

import nbformat

from tools.lessons import solution_marks
from tools.lessons.lesson import Cell, Exercise, Lesson

METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python", "pygments_lexer": "ipython3"},
}


def lab(lesson: Lesson) -> Any:
    """Return the learner's notebook: blanks in place of answers, nothing executed."""
    return _notebook(lesson, solution_marks.untouched)


def solution(lesson: Lesson, before: Any | None) -> Any:
    """Return the notebook with the answers; outputs of the one `before` are kept if its code is the same."""
    notebook = _notebook(lesson, lambda text, _: solution_marks.solved(text))
    if before is not None and code(before) == code(notebook):
        for cell, old in zip(codes(notebook), codes(before), strict=True):
            cell.outputs, cell.execution_count = old.outputs, old.execution_count
        if "threebrokers" in before.metadata:
            notebook.metadata["threebrokers"] = before.metadata["threebrokers"]
    return notebook


def codes(notebook: Any) -> list[Any]:
    """Return the code cells."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def code(notebook: Any) -> list[tuple[str, str]]:
    """Return what is executed: id and text of each code cell."""
    return [(cell.id, cell.source) for cell in codes(notebook)]


def text(notebook: Any) -> str:
    """Return a notebook as the text of its file, the same text for the same notebook."""
    written: str = nbformat.writes(notebook)  # type: ignore[no-untyped-call]
    return written.rstrip("\n") + "\n"


def read(path: Path) -> Any | None:
    """Read a notebook; None if there is none or if it cannot be read."""
    try:
        return nbformat.reads(path.read_text("utf-8"), as_version=4)  # type: ignore[no-untyped-call]
    except (OSError, ValueError):
        return None


def _notebook(lesson: Lesson, fill: Any) -> Any:
    taken: Counter[str] = Counter()
    owners = {cell.place: exercise for exercise in lesson.exercises for cell in exercise.cells}
    cells = [_cell(cell, owners.get(cell.place), fill, taken) for cell in lesson.cells if not cell.is_wrong]
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=METADATA)  # type: ignore[no-untyped-call]
    notebook.nbformat_minor = 5
    nbformat.validate(notebook)
    return notebook


def _cell(cell: Cell, exercise: Exercise | None, fill: Any, taken: Counter[str]) -> Any:
    name = _name(cell, exercise)
    taken[name] += 1
    unique = name if taken[name] == 1 else f"{name}-{taken[name]}"
    if cell.kind == "markdown":
        return nbformat.v4.new_markdown_cell(cell.source, id=unique)  # type: ignore[no-untyped-call]
    blanks = exercise.blanks if exercise and cell in exercise.answers else []
    body = fill(cell.source, blanks) if cell.is_answer else cell.source
    metadata = {"tags": list(cell.tags)} if cell.tags else {}
    return nbformat.v4.new_code_cell(body, id=unique, metadata=metadata)  # type: ignore[no-untyped-call]


def _name(cell: Cell, exercise: Exercise | None) -> str:
    # An id that stays when other cells come and go; those of exercises can be found by name.
    if exercise:
        number = exercise.number.replace(".", "-")
        if cell.place == exercise.cells[0].place:
            return f"task-{number}"
        if cell in exercise.answers:
            return f"exercise-{number}"
        if cell.is_check:
            return f"check-{number}"
    digest = hashlib.sha256(cell.source.encode()).hexdigest()[:8]
    return f"{'text' if cell.kind == 'markdown' else 'code'}-{digest}"
