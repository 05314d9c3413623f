"""One rule: a section of *Going further* that is said to stand alone makes or imports what it uses."""

import builtins
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tools.lessons import code_names, solution_marks
from tools.lessons.lesson import HEADING, SECTION, Cell, Lesson
from tools.lessons.minutes import FURTHER

Fault = tuple[str, str, str]
# To the end of its line: it may name sections above, in italics, whose first cell is needed, too.
PROMISE = re.compile(r"\beach section stands (?:alone|by itself)\b.*", re.IGNORECASE)
NAMED = re.compile(r"\*([^*]+)\*")


@dataclass
class _Section:
    """What stands under one heading; an exercise belongs to the section before it."""

    title: str
    text: list[str] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)


def faults(lesson: Lesson) -> Iterator[Fault]:
    """Yield each name that a section of *Going further* uses and finds only if earlier cells have run."""
    sections = list(_sections(lesson))
    titles = [section.title for section in sections]
    if FURTHER not in titles or any(_broken(cell) for section in sections for cell in section.cells):
        return  # what is broken has a rule of its own
    further = sections[titles.index(FURTHER) :]
    promise = promised(lesson)
    if promise:
        given = {*dir(builtins), *_given(sections, NAMED.findall(promise))}
        for section in further:
            for name in _lacking(section, given):
                wrong = f"it uses '{name}' of an earlier cell, and each section is said to stand alone"
                yield f"the section '{section.title}'", wrong, "import or make it there"


def promised(lesson: Lesson) -> str:
    """Return what *Going further* says of its sections if it says that each stands alone, else nothing."""
    texts = ("\n".join(section.text) for section in _sections(lesson) if section.title == FURTHER)
    found = PROMISE.search("\n".join(texts))
    return found[0] if found else ""


def _sections(lesson: Lesson) -> Iterator[_Section]:
    section = _Section("")
    for cell in lesson.cells:
        if cell.kind == "code" and not cell.is_tried:
            section.cells.append(cell)
        for line in cell.source.splitlines() if cell.kind == "markdown" else []:
            if SECTION.match(line) and not HEADING.match(line):
                yield section
                section = _Section(line.strip())
            else:
                section.text.append(line)
    yield section


def _broken(cell: Cell) -> bool:
    marked = cell.is_answer and any(solution_marks.faults(cell.source))
    return marked or not code_names.parses(cell.source)


def _given(sections: list[_Section], named: list[str]) -> Iterator[str]:
    """Yield what the set-up cell binds, and the first cell of each section that is named."""
    filled = [section for section in sections if section.cells]
    for section in filled:
        if section is filled[0] or section.title.lstrip("# ") in named:
            yield from code_names.assigned(section.cells[0].solved)


def _lacking(section: _Section, given: set[str]) -> list[str]:
    """Return the names that a section reads and neither it nor anybody else has bound by then."""
    bound, lacking = set(given), dict[str, None]()
    for cell in section.cells:
        bound |= code_names.assigned(cell.solved)
        lacking.update(dict.fromkeys(sorted(code_names.names_read(cell.solved) - bound)))
    return list(lacking)
