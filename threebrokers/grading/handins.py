"""Reads what was handed in: which lab it is of, and the learner's own cells of each exercise.

Nothing of a hand-in is believed but the text of its cells: no output, no check, no cell of the course's own.
"""

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path
from typing import Any

from threebrokers.grading.course import Cell, Course, code_cells, headings
from threebrokers.text import listed

MOST_BYTES = 20_000_000
MOST_TEXT = 1_000_000  # letters of all code cells; a file is large for its outputs, and nobody reads those
MOST_CELLS = 2_000
OPENS = re.compile(r"open_lab\(\s*[\"'](\d\d)[\"']")
OURS = re.compile(r"(?:exercise|check|task)-(\d+)-\d+$")
# What Jupyter keeps beside notebooks, and what grading itself writes.
PASSED_OVER = (".ipynb_checkpoints", "__MACOSX")


@dataclass(frozen=True)
class HandIn:
    """One file that was handed in; `fault` says in a sentence why it cannot be graded.

    `learner` is the folder of a file, or its name where it lies in none.
    """

    path: Path
    learner: str
    digest: str = ""
    lab: str = ""
    fault: str = ""
    cells: tuple[Cell, ...] = ()


@dataclass(frozen=True)
class Part:
    """One cell to run: the text, the id under which it runs, and whose it is.

    `exercise` is set for the learner's own cells of an exercise, `own` for all that the learner wrote.
    """

    id: str
    text: str
    exercise: str = ""
    own: bool = False


@dataclass(frozen=True)
class Plan:
    """What is run of a hand-in: the cells in order; a check's cell follows the exercise that it judges."""

    parts: list[Part] = field(default_factory=list)
    untouched: frozenset[str] = frozenset()


def find(folder: Path, labs: Mapping[str, Course]) -> Iterator[HandIn]:
    """Yield every hand-in under a folder, in the order of the names."""
    for path in sorted(folder.rglob("*.ipynb"), key=lambda one: one.relative_to(folder).as_posix()):
        parts = path.relative_to(folder).parts
        if any(part in PASSED_OVER or part.startswith("._") for part in parts):
            continue
        learner = parts[0] if len(parts) > 1 else path.stem
        yield _read(path, learner, labs)


def plan(course: Course, cells: tuple[Cell, ...]) -> Plan:
    """Return what is run of a hand-in: the course's cells, and the learner's in place of the exercises'.

    It ends with the last exercise that was tried, and holds no cell of a check but the course's.
    """
    answers = {task.number: _answers(task.answer, cells, course) for task in course.tasks}
    blank = {task.number: task.answer for task in course.tasks}
    untouched = frozenset(n for n, own in answers.items() if all(_same(one, blank[n]) for one in own))
    extras = _extras(course, cells)
    checked = [task.check.id for task in course.tasks if task.number not in untouched]
    last = next((n for n, cell in reversed([*enumerate(course.cells)]) if cell.id in checked), -1)
    parts = []
    for cell in course.cells[: last + 1]:
        number = _number(cell.id) if cell.id.startswith("exercise-") else ""
        if number and number not in untouched:
            # Without ids the first stands for the exercise's cell; of the others the names decide.
            places = [one.id or ("" if place else cell.id) for place, one in enumerate(answers[number])]
            parts += [
                Part(place, one.text, number, own=True)
                for place, one in zip(places, answers[number], strict=True)
            ]
        elif not cell.is_check or cell.id in checked:
            parts.append(Part(cell.id, cell.text))
        parts += [Part(one.id, one.text, own=True) for one in extras.get(cell.id, ())]
    return Plan(parts, untouched)


def _read(path: Path, learner: str, labs: Mapping[str, Course]) -> HandIn:
    # A link could name any file of the teacher's, and a pipe would never end.
    if path.is_symlink() or not path.is_file():
        return HandIn(path, learner, fault="It is no file of its own but a link or a folder.")
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            told = f"It has {size / 1e6:.0f} MB; a hand-in has {MOST_BYTES / 1e6:.0f} MB at most."
            return HandIn(path, learner, f"size {size}", fault=told)
        content = path.read_bytes()
    except OSError as fault:
        return HandIn(path, learner, fault=f"It cannot be read ({os.strerror(fault.errno or 0)}).")
    digest = hashlib.sha256(content).hexdigest()
    try:
        notebook = json.loads(content)
        cells = tuple(code_cells(notebook))
        "".join(one.id + one.text for one in cells).encode()  # half a letter is JSON, but cannot be run
        lab = _lab(notebook, cells, labs)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return HandIn(path, learner, digest, fault="It is no notebook, or it is damaged.")
    told = _fault(lab, cells, labs)
    return HandIn(path, learner, digest, lab, told, () if told else cells)


def _fault(lab: str, cells: tuple[Cell, ...], labs: Mapping[str, Course]) -> str:
    if not lab:
        return "It is a notebook, but of no lab of this course."
    if lab not in labs:
        return f"It says that it is of lab {lab}, and there is none; the labs are {listed([*labs])}."
    if len(cells) > MOST_CELLS:
        return f"It has {len(cells)} code cells; {MOST_CELLS} are the most."
    letters = sum(len(cell.text) for cell in cells)
    told = f"Its code cells have {letters / 1e6:.1f} MB of text; {MOST_TEXT / 1e6:.0f} MB is the most."
    return told if letters > MOST_TEXT else ""


def _lab(notebook: dict[str, Any], cells: tuple[Cell, ...], labs: Mapping[str, Course]) -> str:
    """Return the number of the lab: by the ids of its exercises, their headings, or the lab it opens."""
    ids = [str(cell.get("id", "")) for cell in notebook["cells"]]
    by_ids = [found[1] for name in ids if (found := OURS.match(name))]
    by_headings = [number.partition(".")[0] for number, _ in headings(notebook)]
    votes = Counter(f"{int(number):02}" for number in by_ids or by_headings)
    opened = [number for cell in cells for number in OPENS.findall(cell.text)]
    if not votes:
        return opened[0] if opened else ""
    # A lab that it opens itself wins where two are equally likely.
    return max(votes, key=lambda number: (votes[number], number in opened))


def _answers(answer: Cell, cells: tuple[Cell, ...], course: Course) -> list[Cell]:
    """Return the learner's cells of an exercise, in order.

    They are the cell with the course's id, and those of their own in its section, up to the check. One
    after the check is of another thought, unless the course's own cell was left as it is.
    """
    number = _number(answer.id)
    near = [c for c in cells if c.id == answer.id or c.exercise == number]
    checks = [place for place, cell in enumerate(near) if cell.is_check and cell.exercise == number]
    mine = [not cell.is_check and (cell.id == answer.id or _own(cell, course)) for cell in near]
    kept = [*compress(near, mine)]
    before = [*compress(near[: checks[0]], mine)] if checks else kept
    tried = [cell for cell in before if not _same(cell, answer)]
    return before if tried else kept


def _extras(course: Course, cells: tuple[Cell, ...]) -> dict[str, list[Cell]]:
    """Return the learner's cells outside of exercises, by the id of the course's cell that they follow.

    Those above all cells of the course follow the one that opens the lab: nothing of theirs runs before it.
    """
    after, found = _opening(course), dict[str, list[Cell]]()
    for cell in cells:
        if place := _place(cell, course):
            after = place
        elif not cell.exercise and _own(cell, course) and not cell.is_check:
            found.setdefault(after, []).append(cell)
    return found


def _opening(course: Course) -> str:
    return next((cell.id for cell in course.cells if OPENS.search(cell.text)), course.cells[0].id)


def _place(cell: Cell, course: Course) -> str:
    """Return the id of the course's cell that this one is, or that it stands for where ids are lost."""
    if cell.id in course.ids:
        return cell.id
    if OPENS.search(cell.text):
        return _opening(course)
    if cell.exercise:
        check = f"check-{cell.exercise.replace('.', '-')}"
        return check if check in course.ids else ""
    return next((ours.id for ours in _given(course) if _same(cell, ours)), "")


def _given(course: Course) -> list[Cell]:
    return [cell for cell in course.cells if cell.id.startswith("code-")]


def _own(cell: Cell, course: Course) -> bool:
    """Tell whether the learner has written a cell: the course's own are run as the course has them."""
    if cell.id in course.ids or OPENS.search(cell.text):
        return False
    # Without ids of the course's, its cells are known by their text.
    return all(not _same(cell, ours) for ours in _given(course))


def _same(cell: Cell, other: Cell) -> bool:
    return cell.words == other.words


def _number(cell: str) -> str:
    return cell.partition("-")[2].replace("-", ".")
