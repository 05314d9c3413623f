"""One rule: a default that a lesson quotes stands in docs/facts.md, whose rows are asserted by tests.

Only what says of itself that it is a default is looked at: a column of a table that is headed so; a number or
a word beside "default"; and a number right behind a setting, in a table or in brackets.
"""

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from tools.lessons.lesson import Lesson
from tools.publish.facts import PAGE
from tools.rules.wording import paragraphs

Fault = tuple[str, str, str]
Quote = tuple[Sequence[str], str]  # settings, and what is said of one of them
Known = Mapping[str, set[str]]

UNITS = {"ms": 0.001, "s": 1, "seconds": 1, "min": 60, "minutes": 60, "h": 3600, "hours": 3600, "days": 86400}
UNITS |= {"second": 1, "minute": 60, "hour": 3600, "day": 86400}
BYTES = {"KB": 1, "MB": 2, "GB": 3}  # of 1000 or of 1024: lessons round
OF_SETTINGS = {".ms": 0.001, ".seconds": 1, ".minutes": 60, ".hours": 3600, ".kbytes": 1024}
ENDLESS = {"-1", "null", str(2**63 - 1)}  # a lesson says "none", or "no bound"
SWITCH = {"true", "false"}  # a lesson says "yes", or "off"

NAME = r"`([a-z]+(?:\.[a-z]+)+)`"
UNIT = rf"(?: (?:{'|'.join([*UNITS, *BYTES])})\b)"
SAID = rf"((?<![\w.`])\d[\d,]*(?:\.\d+)?{UNIT}?|\ban?{UNIT}|`[\w-]+`)"
BESIDE = (
    re.compile(rf"\bdefault(?: is| it is)? {SAID}"),
    re.compile(rf"{SAID},?(?: by| the| which is Kafka's) default\b"),
)
BEHIND = re.compile(rf"{NAME}:? {SAID}")
IN_BRACKETS = (re.compile(rf"{NAME} \({SAID}[);]"), re.compile(rf"\({NAME}, {SAID}\)"))
TOLD = re.compile(rf"{NAME} ([^\s;|]+)(?=;| \|)")  # only a value stands alone behind a name
MEND = f"quote {PAGE.shown}, or tell it there first (a row of tests/fact_defaults.py, or a test)"


def faults(lesson: Lesson, root: Path) -> Iterator[Fault]:
    """Yield each default that is not the one of docs/facts.md, or has no row there."""
    known = settings(root / PAGE.shown)
    for cell in lesson.cells:
        place = f"the cell '{cell.source.partition(chr(10))[0][:70]}'"
        for names, text in quotes(cell.source) if cell.kind == "markdown" else []:
            if wrong := _wrong(names, text, known):
                yield place, wrong, MEND


def settings(page: Path) -> Known:
    """Return each setting that a page of facts names, with the values that stand behind it."""
    text = page.read_text("utf-8") if page.exists() else ""
    found: dict[str, set[str]] = {name: set() for name in re.findall(NAME, text)}
    for name, value in TOLD.findall(text):
        found[name].add(value)
    return found


def quotes(text: str) -> Iterator[Quote]:
    """Yield what a Markdown text says of defaults."""
    head: list[str] = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if cells and head:
            yield from _row(head, cells)
        head = (head or cells) if cells else []
    for paragraph in paragraphs(text):
        prose = " ".join(paragraph.split())
        for found in (found for form in BESIDE for found in form.finditer(prose)):
            sentence_ends = f"{prose}. ".find(". ", found.end())
            if names := re.findall(NAME, prose[:sentence_ends]):
                yield names, found[1]
        yield from (([name], said) for form in IN_BRACKETS for name, said in form.findall(prose))


def _row(head: Sequence[str], cells: Sequence[str]) -> Iterator[Quote]:
    of_defaults = [place for place, title in enumerate(head[: len(cells)]) if "default" in title]
    if not of_defaults:
        yield from (([name], said) for cell in cells for name, said in BEHIND.findall(cell))
        return
    said = "; ".join(cells[place - (cells[place] == "the same")] for place in of_defaults)
    for place, cell in enumerate(cells):
        if place not in of_defaults:
            yield from (([name], said) for name in re.findall(NAME, cell))


def _wrong(names: Sequence[str], text: str, known: Known) -> str:
    values = [(name, value) for name in names for value in known.get(name, ())]
    said = {amount for found in re.findall(SAID, text) for amount in _amounts(found)}
    if not any(name in known for name in names) or (said and not values):
        return f"`{names[0]}` has no row in {PAGE.shown}"
    right = {amount for name, value in values for amount in _of(name, value)}
    if not said or said & right or any(value in ENDLESS | SWITCH for _, value in values):
        return ""
    shown = " or ".join(f"`{name}` {value}" for name, value in sorted(set(values)))
    return f"it says '{text}', and {PAGE.shown} has {shown}"


def _amounts(said: str) -> Iterable[Hashable]:
    """Return what a number or a word of a lesson may mean: with a unit, in seconds or bytes."""
    if said.startswith("`"):
        return [said.strip("`")]
    number, _, unit = said.partition(" ")
    count = 1.0 if number.startswith("a") else float(number.replace(",", ""))
    if not unit:
        return [count]
    scales = [of ** BYTES[unit] for of in (1000, 1024)] if unit in BYTES else [UNITS[unit]]
    return [("in units", round(count * scale, 6)) for scale in scales]


def _of(name: str, value: str) -> Iterable[Hashable]:
    """Return how a lesson may write a value of a setting: as it stands there, or with a unit."""
    if not re.fullmatch(r"\d+(?:\.\d+)?", value):
        return [value]
    scale = next((of for end, of in OF_SETTINGS.items() if name.endswith(end)), 1)
    return [float(value), ("in units", round(float(value) * scale, 6))]
