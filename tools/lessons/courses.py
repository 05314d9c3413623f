"""Courses that a teacher can give, and their tables in docs/teaching.md, with the minutes of the labs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tools.lessons import lesson as lessons
from tools.lessons import minutes
from tools.lessons.minutes import Minutes

BEGIN, END = "<!-- Built by `make build`: {name}. -->\n", "<!-- Built until here. -->\n"
TERM = "a term"
WEEK_MINUTES = 90


@dataclass(frozen=True)
class Part:
    """The labs that are done in one go, between two long breaks."""

    name: str
    labs: tuple[str, ...]


COURSES: Mapping[str, tuple[Part, ...]] = {
    "half a day": (Part("before the break", ("00", "01", "02")), Part("after it", ("03", "04"))),
    "a day": (Part("morning", ("00", "01", "02", "03")), Part("afternoon", ("04", "05", "06", "07"))),
    "two days": (
        Part("day 1, morning", ("00", "01", "02", "03")),
        Part("day 1, afternoon", ("04", "05", "06", "07")),
        Part("day 2, morning", ("08", "09", "10")),
        Part("day 2, afternoon", ("11", "12", "13")),
    ),
}


def built(root: Path) -> dict[Path, str]:
    """Return docs/teaching.md as it should be; nothing if there is none."""
    path = root / "docs" / "teaching.md"
    if not path.exists():
        return {}
    counted = {file.stem[:2]: minutes.of(file, root) for file in lessons.lessons(root)}
    titles = {file.stem[:2]: lessons.title(file) for file in lessons.lessons(root)}
    text = path.read_text("utf-8")
    tables = {name: course(parts, counted) for name, parts in COURSES.items()}
    tables[TERM] = term(titles, counted)
    for name, table in tables.items():
        text = _filled(text, name, table)
    return {path: text}


def course(parts: Iterable[Part], counted: Mapping[str, Minutes]) -> str:
    """Return the table of a course: its parts, their labs, the sum of their minutes, and that of all."""
    lines = ["| part | labs | minutes | going further |", "|---|---|---|---|"]
    whole: list[str] = []
    for part in parts:
        lines.append(_row(part.name, ", ".join(part.labs), part.labs, counted))
        whole += part.labs
    lines.append(_row("**in all**", f"{len(whole)} labs", whole, counted))
    return "\n".join(lines) + "\n"


def term(titles: Mapping[str, str], counted: Mapping[str, Minutes]) -> str:
    """Return the table of a term: a lab a week, with its going further, which may need a week of its own."""
    lines = ["| week | lab | minutes | going further | together |", "|---|---|---|---|---|"]
    rows: list[tuple[str, int, int]] = []
    for number, title in titles.items():
        core, further = promised([number], counted)
        if core + further <= WEEK_MINUTES:
            rows.append((f"{number} {title}", core, further))
        else:
            rows += [(f"{number} {title}", core, 0), (f"{number}, going further", 0, further)]
    for week, (lab, core, further) in enumerate(rows, 1):
        lines.append(f"| {week} | {lab} | {core} | {further} | {core + further} |")
    core, further = promised(titles, counted)
    lines.append(f"| | **in all** | {core} | {further} | {core + further} |")
    return "\n".join(lines) + "\n"


def promised(labs: Iterable[str], counted: Mapping[str, Minutes]) -> tuple[int, int]:
    """Return the minutes of these labs as their heads promise them: the core path, and going further."""
    taken = [counted[number] for number in labs]
    return (
        sum(minutes.rounded(lab.core) for lab in taken),
        sum(minutes.rounded(lab.further) for lab in taken),
    )


def _row(name: str, told: str, labs: Iterable[str], counted: Mapping[str, Minutes]) -> str:
    core, further = promised(labs, counted)
    return f"| {name} | {told} | {core} | {further} |"


def _filled(text: str, name: str, table: str) -> str:
    """Put a table in its place; a page that has none for it stays as it is."""
    begin = BEGIN.format(name=name)
    before, found, rest = text.partition(begin)
    _, end, after = rest.partition(END)
    return f"{before}{begin}{table}{END}{after}" if found and end else text
