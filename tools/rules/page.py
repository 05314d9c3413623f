"""The rules of a whole lesson: what stands at its head, at its end, and in its metadata."""

import re
from collections.abc import Iterator

from tools.lessons import code_names, solution_marks
from tools.lessons.lesson import HEADING, NEEDED, Cell, Lesson
from tools.lessons.minutes import FURTHER
from tools.rules import predictions

Fault = tuple[str, str, str]
TAGS = {"wrong", "right", "nbval-check-output", "raises-exception", NEEDED}
METADATA = {"markdown": {"covers", "explains", "fewer", "by_hand"}, "code": {"tags", "reading"}}
CELL_LINES = 20
LINK = re.compile(r"\]\(([^)\s]+\.ipynb)(?:#[^)]*)?\)")


def faults(lesson: Lesson, stems: list[str]) -> Iterator[Fault]:
    """Yield every broken rule of the page; `stems` are the names of all lessons in order."""
    yield from _head(lesson)
    yield from _end(lesson, stems)
    yield from _cells(lesson)
    yield from _lengths(lesson)
    yield from _links(lesson, stems)


def _head(lesson: Lesson) -> Iterator[Fault]:
    first = lesson.cells[0] if lesson.cells else Cell(0, "markdown", "", {})
    title = first.source.partition("\n")[0]
    if first.kind != "markdown" or not re.fullmatch(r"# \S.*\?", title):
        yield "first cell", "the title is not a question", "begin with '# …?' (no header above it)"
    if "**You will** " not in first.source:
        yield "first cell", "'**You will** …' is missing", "say in three verbs what the learner will do"
    yield from _time(lesson, first.source)
    codes = [cell for cell in lesson.cells if cell.kind == "code"]
    lines = [line for line in codes[0].source.splitlines() if line.strip()] if codes else []
    wanted = ["from threebrokers import open_lab", f'lab = open_lab("{lesson.number}")']
    if lines != wanted:
        yield "set-up cell", "the first code cell is not the set-up", f"write two lines: {' / '.join(wanted)}"


def _time(lesson: Lesson, head: str) -> Iterator[Fault]:
    """Yield what is wrong with the minutes in the head, which are counted, and with *Going further*."""
    headings = [line for line in _lines(lesson) if line.startswith("## ")]
    further = headings.count(FURTHER)
    if "{minutes} minutes" not in head or re.search(r"\*\d+ minutes", head):
        yield "first cell", "the time is missing", "write it like '*{minutes} minutes.*': it is counted"
    if bool(further) != ("{further}" in head):
        mend = f"write both or none: '{{further}} more' in the head, and the heading '{FURTHER}'"
        yield "first cell", "it does not say what going further takes", mend
    if further > 1:
        yield "the end", f"'{FURTHER}' stands there {further} times", "keep one, with ### under it"
    later = headings[headings.index(FURTHER) + 1 :] if further else []
    for heading in later:
        yield f"the section '{heading}'", "it stands behind *Going further*", "give it ###, or move it up"


def _lines(lesson: Lesson) -> list[str]:
    return [
        line.strip() for cell in lesson.cells if cell.kind == "markdown" for line in cell.source.splitlines()
    ]


def _end(lesson: Lesson, stems: list[str]) -> Iterator[Fault]:
    remember = _section(lesson, "## What to remember")
    lines = [line for line in remember.splitlines() if re.match(r"[-*] |\d\. ", line)]
    if len(lines) != 3:
        wrong = f"'## What to remember' has {len(lines)} lines"
        yield "the end", wrong, "write the section with three lines, each beginning with '- '"
    last = lesson.cells[-1] if lesson.cells else Cell(0, "markdown", "", {})
    targets = LINK.findall(last.source) if last.kind == "markdown" else []
    if f"../solutions/{lesson.stem}.ipynb" not in targets:
        yield "last cell", "the link to the solution is missing", f"link ../solutions/{lesson.stem}.ipynb"
    following = [stem for stem in stems if stem > lesson.stem]
    if following and f"{following[0]}.ipynb" not in targets:
        yield "last cell", "the link to the next lab is missing", f"link {following[0]}.ipynb"


def _section(lesson: Lesson, heading: str) -> str:
    text = "\n\n".join(cell.source for cell in lesson.cells if cell.kind == "markdown")
    _, _, rest = f"\n{text}".partition(f"\n{heading}\n")
    return re.split(r"\n#{1,2} ", rest)[0]


def _cells(lesson: Lesson) -> Iterator[Fault]:
    owned = {cell.place for exercise in lesson.exercises for cell in exercise.cells}
    for cell in lesson.cells:
        place = f"the cell '{cell.source.partition(chr(10))[0]}'"
        known = METADATA.get(cell.kind)
        if known is None:
            yield (
                place,
                f"it is a {cell.kind} cell",
                "use text and code only; no header stands above the title",
            )
            continue
        odd = [key for key in cell.metadata if key not in known and key != "lines_to_next_cell"]
        odd += [tag for tag in cell.tags if tag not in TAGS]
        if odd:
            yield place, f"'{odd[0]}' is not understood", f"known: {', '.join(sorted(known | TAGS))}"
        if _odd_heading(cell):
            yield place, "the heading is not understood", "write it like '### Exercise 2.1: key the flights'"
        stray = cell.is_tried or cell.is_check or (cell.is_answer and not predictions.is_meant(cell))
        if cell.place not in owned and stray:
            yield place, "it belongs to no exercise", "put it under a heading '### Exercise …'"


def _lengths(lesson: Lesson) -> Iterator[Fault]:
    """Yield cells of more lines than a learner reads at a glance; comments and blank lines do not count.

    What a learner does not see does not count: wrong answers, and what stands between the marks, which has
    a bound of its own. Where reading the lines is the point, `reading="…"` gives the reason: the text before
    the cell takes them up one by one, and code out of sight would be an experiment that nobody can follow.
    """
    for cell in lesson.cells:
        if cell.kind != "code" or cell.is_tried or cell.metadata.get("reading"):
            continue
        text = cell.source
        if cell.is_answer and not any(solution_marks.faults(text)):
            part = solution_marks.split(text)
            text = f"{part.before}\n{part.after}"
        lines = sum(code_names.is_code(line) for line in text.splitlines())
        if lines > CELL_LINES:
            place = f"the cell '{cell.source.partition(chr(10))[0]}'"
            mend = (
                'move what need not be read to threebrokers.lab.scenarios, or say why it must in reading="…"'
            )
            yield place, f"it has {lines} lines of code (at most {CELL_LINES})", mend


def _odd_heading(cell: Cell) -> bool:
    exercise = re.search(r"^#+ *Exercise\b", cell.source, re.MULTILINE)
    return cell.kind == "markdown" and exercise is not None and not HEADING.match(cell.source)


def _links(lesson: Lesson, stems: list[str]) -> Iterator[Fault]:
    known = {f"{stem}.ipynb" for stem in stems} | {f"../solutions/{stem}.ipynb" for stem in stems}
    for cell in lesson.cells:
        for target in LINK.findall(cell.source) if cell.kind == "markdown" else []:
            if target not in known and not target.startswith("http"):
                yield f"the link to {target}", "no lesson builds it", "link a lab that is there"
