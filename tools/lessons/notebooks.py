"""The two notebooks of a lesson, and how a notebook is written."""

import hashlib
from collections import Counter
from pathlib import Path
from typing import Any

import nbformat

from tools.lessons import asides, solution_marks
from tools.lessons.lesson import NEEDED, Cell, Exercise, Lesson

METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python", "pygments_lexer": "ipython3"},
}
MARK = (
    "> **Solution.** This page shows the answers, and what came of them. It opens read-only: its cells can "
    "be run, and nothing is saved. Your own copy is [work/{name}](../work/{name})."
)
SECONDS = "seconds"  # in the metadata of a solution's cell that makes a learner wait


def lab(lesson: Lesson) -> Any:
    """Return the learner's notebook: blanks in place of answers, nothing executed."""
    return _notebook(lesson, solution_marks.untouched)


def solution(lesson: Lesson, before: Any | None, root: Path) -> Any:
    """Return the notebook with the answers; each cell that the one `before` has too keeps its outputs.

    Only if no code is new does it keep what says of which sources the outputs are.
    """
    notebook = _marked(_notebook(lesson, lambda text, _: solution_marks.solved(text)), f"{lesson.stem}.ipynb")
    asides.fill(notebook, root, lesson.number)
    if before is None:
        return notebook
    earlier = {(cell.id, cell.source): cell for cell in codes(before)}
    for cell in codes(notebook):
        if (old := earlier.get((cell.id, cell.source))) and not asides.is_aside(cell.source):
            cell.outputs, cell.execution_count = old.outputs, old.execution_count
            if SECONDS in old.metadata:
                cell.metadata[SECONDS] = old.metadata[SECONDS]
    if code(before) == code(notebook) and "threebrokers" in before.metadata:
        notebook.metadata["threebrokers"] = before.metadata["threebrokers"]
    return notebook


def solution_path(root: Path, lesson: Lesson) -> Path:
    """Return the place of a lesson's solution."""
    return root / "solutions" / f"{lesson.stem}.ipynb"


def waits(notebook: Any | None) -> dict[str, float]:
    """Return the seconds for which cells of an executed solution make wait, by their ids."""
    found = codes(notebook) if notebook is not None else []
    return {cell.id: float(cell.metadata[SECONDS]) for cell in found if SECONDS in cell.metadata}


def codes(notebook: Any) -> list[Any]:
    """Return the code cells."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def results(notebook: Any) -> dict[str, str]:
    """Return the last value of each cell, as the text that an executed notebook keeps, by the cells' ids."""
    return {
        cell.id: output.data["text/plain"]
        for cell in codes(notebook)
        for output in cell.outputs
        if output.output_type == "execute_result"
    }


def code(notebook: Any) -> list[tuple[str, str]]:
    """Return what is executed: id and text of each code cell, but for those that only ask questions."""
    return [(cell.id, cell.source) for cell in codes(notebook) if not asides.is_aside(cell.source)]


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


def ids(lesson: Lesson) -> list[tuple[Cell, str]]:
    """Return the lesson's cells that become cells of its notebooks, each with the id that it has there."""
    taken: Counter[str] = Counter()
    owners = _owners(lesson)
    found = []
    for cell in lesson.cells:
        if not cell.is_tried:
            name = _name(cell, owners.get(cell.place))
            taken[name] += 1
            found.append((cell, name if taken[name] == 1 else f"{name}-{taken[name]}"))
    return found


def _marked(notebook: Any, name: str) -> Any:
    """Say at the top of a solution what it is."""
    note = nbformat.v4.new_markdown_cell(MARK.format(name=name), id="solution")  # type: ignore[no-untyped-call]
    notebook.cells.insert(0, note)
    return notebook


def _notebook(lesson: Lesson, fill: Any) -> Any:
    owners = _owners(lesson)
    cells = [_cell(cell, owners.get(cell.place), fill, name) for cell, name in ids(lesson)]
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=METADATA)  # type: ignore[no-untyped-call]
    notebook.nbformat_minor = 5
    nbformat.validate(notebook)
    return notebook


def _owners(lesson: Lesson) -> dict[int, Exercise]:
    return {cell.place: exercise for exercise in lesson.exercises for cell in exercise.cells}


def _cell(cell: Cell, exercise: Exercise | None, fill: Any, name: str) -> Any:
    if cell.kind == "markdown":
        return nbformat.v4.new_markdown_cell(cell.source, id=name)  # type: ignore[no-untyped-call]
    blanks = exercise.blanks if exercise and cell in exercise.answers else []
    body = fill(cell.source, blanks) if cell.is_answer else cell.source
    tags = [tag for tag in cell.tags if tag != NEEDED]  # which is only for who tries the exercises
    metadata = {"tags": tags} if tags else {}
    return nbformat.v4.new_code_cell(body, id=name, metadata=metadata)  # type: ignore[no-untyped-call]


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
