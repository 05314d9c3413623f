"""The exercises inside a lab's notebook: their names, and one of them as it was handed out."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from threebrokers.errors import LabError
from threebrokers.files import write_whole
from threebrokers.paths import is_clone
from threebrokers.workspace import keep_beside, lab, mine

# Plain JSON: nbformat takes more than a second to import, and the command line should answer at once.
Notebook = dict[str, Any]
Cell = dict[str, Any]

EXERCISE = re.compile(r"^### Exercise (?P<number>\d+\.\d+):? *(?P<title>.*)$", re.MULTILINE)
WITH_IDS = 5  # of nbformat 4: cells have ids since then
TITLE = re.compile(r"^# (?P<title>.+)$", re.MULTILINE)
MINUTES = re.compile(r"^\*(\d+) minutes", re.MULTILINE)  # of the path that everybody goes
SECTION = re.compile(r"^#{1,3} ", re.MULTILINE)


class Outline(NamedTuple):
    """What a lab asks, the title of each of its exercises by number ("2.1"), in order, and its minutes."""

    title: str
    exercises: Mapping[str, str]
    minutes: int = 0


def outline(notebook: Path) -> Outline:
    """Return the outline of a lab. Raises LabError if the file is no notebook."""
    cells = _cells(_read(notebook))
    title = next((match["title"] for cell in cells if (match := TITLE.search(_text(cell)))), notebook.stem)
    minutes = next((int(match[1]) for cell in cells if (match := MINUTES.search(_text(cell)))), 0)
    exercises = {match["number"]: match["title"] for cell in cells if (match := _exercise(cell))}
    return Outline(title, exercises, minutes)


def restore_exercise(number: str, exercise: str) -> str:
    """Put one exercise ("3" or "2.3") of a lab back as it was handed out and return what was done.

    The learner's other cells stay; the old notebook is kept beside it. Raises LabError if the lab has
    no such exercise or the learner's file is no notebook.
    """
    source = lab(number)
    wanted = exercise if "." in exercise else f"{int(source.name[:2])}.{exercise}"
    untouched = _of_exercise(_read(source), wanted)
    if not untouched:
        known = ", ".join(outline(source).exercises) or "none"
        raise LabError(f"Lab {source.name[:2]} has no exercise {wanted}: it has {known}.")
    target = mine(source)
    if not target.exists():
        raise LabError(f"work/{target.name} is not there yet: `threebrokers restore {source.name[:2]}`.")
    learners = _read(target)
    _put_back(learners, untouched, wanted)
    if learners == _read(target):
        return f"Exercise {wanted} in work/{target.name} is untouched already."
    kept = keep_beside(target)
    write_whole(target, (json.dumps(learners, indent=1, ensure_ascii=False) + "\n").encode())
    return (
        f"Exercise {wanted} in work/{target.name} is as it was handed out; what you had is in {kept.name}. "
        "If the lab is open: File, Reload Notebook from Disk."
    )


def _put_back(learners: Notebook, untouched: list[Cell], exercise: str) -> None:
    """Replace the cells of the same id; one that the learner deleted comes back after the cell before it.

    A program that knows no ids may have saved the notebook: then the exercise is known by its heading.
    """
    cells = _cells(learners)
    if int(learners.get("nbformat_minor", 5)) < WITH_IDS:
        untouched = [{key: value for key, value in cell.items() if key != "id"} for cell in untouched]
    known = {cell.get("id") for cell in cells} & {cell.get("id") for cell in untouched} - {None}
    theirs = [] if known else _of_exercise(learners, exercise)
    if theirs:
        place = next(n for n, cell in enumerate(cells) if cell is theirs[0])
        cells[place : place + len(theirs)] = untouched
        return
    after = len(cells) - 1
    for cell in untouched:
        places = [place for place, own in enumerate(cells) if own.get("id") == cell.get("id", cell)]
        if places:
            after = places[0]
            cells[after] = cell
        else:
            after += 1
            cells.insert(after, cell)


def _of_exercise(notebook: Notebook, exercise: str) -> list[Cell]:
    """Return the cells of one exercise: from its heading to the next."""
    inside, found = False, []
    for cell in _cells(notebook):
        if cell["cell_type"] == "markdown" and SECTION.search(_text(cell)):
            match = _exercise(cell)
            inside = match is not None and match["number"] == exercise
        if inside:
            found.append(cell)
    return found


def _exercise(cell: Cell) -> re.Match[str] | None:
    return EXERCISE.search(_text(cell)) if cell["cell_type"] == "markdown" else None


def _text(cell: Cell) -> str:
    return "".join(cell["source"])  # it stands there as one text or as a list of lines


def _cells(notebook: Notebook) -> list[Cell]:
    cells: list[Cell] = notebook["cells"]
    return cells


def _read(path: Path) -> Notebook:
    try:
        notebook: Notebook = json.loads(path.read_bytes())
        for cell in _cells(notebook):
            _exercise(cell)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as fault:
        cure = f"`threebrokers restore {path.name[:2]}` brings the untouched lab back and keeps this file"
        if path.parent.name == "labs":
            again = (
                f"`git checkout labs/{path.name}` brings it back"
                if is_clone()
                else "install threebrokers again"
            )
            cure = f"it was damaged; {again}"
        raise LabError(
            f"{path.parent.name}/{path.name} is not a notebook ({type(fault).__name__}): {cure}."
        ) from fault
    return notebook
