"""How many minutes a lesson takes: counted from what is on the page, so that its head promises no less."""

import argparse
import math
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path

from tools import ROOT
from tools.lessons import asides, notebooks, solution_marks
from tools.lessons import lesson as lessons
from tools.lessons.lesson import DETAILS, HEADING, Cell, Lesson

# A reader who is not a native speaker and thinks along reads 150 words of English in a minute. A line of code
# has about seven words and signs, which is 3 s at that speed; each of them counts, so 5 s.
WORDS_A_MINUTE, SECONDS_A_LINE = 150, 5
EXERCISE_SECONDS, PREDICTION_SECONDS = 300, 30  # to think; their texts are counted besides
QUESTION_SECONDS = 30  # to read a question of a quiz and its answers, and to choose
STEP = 5  # minutes; what a page promises is rounded up to these

FURTHER = "## Going further"
LIMITS, LIMIT = {"00": 20, "01": 35, "04": 50}, 45


@dataclass(frozen=True)
class Load:
    """What one section asks of a learner: words and lines to read, seconds to wait, things to do."""

    words: int = 0
    lines: int = 0
    waits: float = 0
    exercises: int = 0
    predictions: int = 0
    questions: int = 0

    def __add__(self, other: "Load") -> "Load":
        return Load(*(getattr(self, part.name) + getattr(other, part.name) for part in fields(self)))

    @property
    def minutes(self) -> float:
        """The time that it takes."""
        doing = self.exercises * EXERCISE_SECONDS + self.predictions * PREDICTION_SECONDS
        doing += self.questions * QUESTION_SECONDS
        return self.words / WORDS_A_MINUTE + (self.lines * SECONDS_A_LINE + self.waits + doing) / 60


@dataclass(frozen=True)
class Section:
    """A section of a lesson, under its heading; `further` says that the core path does without it."""

    title: str
    further: bool
    load: Load


@dataclass(frozen=True)
class Minutes:
    """What a lesson takes, section by section."""

    number: str
    sections: tuple[Section, ...]

    @property
    def core(self) -> float:
        """The minutes of the path that everybody goes, without the questions at its start and its end."""
        return sum(section.load.minutes for section in self.sections if not section.further) - self.asked

    @property
    def asked(self) -> float:
        """The minutes of the questions of earlier labs and of the quiz."""
        return sum(section.load.questions for section in self.sections) * QUESTION_SECONDS / 60

    @property
    def further(self) -> float:
        """The minutes of what stands under *Going further*."""
        return sum(section.load.minutes for section in self.sections if section.further)

    @property
    def limit(self) -> int:
        """The minutes that the core path may take."""
        return LIMITS.get(self.number, LIMIT)

    @property
    def too_long(self) -> bool:
        """Whether it takes more than that."""
        return self.core > self.limit


def counted(lesson: Lesson, waits: Mapping[str, float], root: Path) -> Minutes:
    """Count a lesson; `waits` are the seconds of its solution's cells, by id."""
    questions = {call: len(shown) for call, shown in asides.asked(root, lesson.number).items()}
    sections: dict[str, Section] = {}
    heading = ""
    for cell, name in notebooks.ids(lesson):
        asked = questions.get(cell.source.strip(), 0) if cell.kind == "code" else 0
        loads = list(_loads(cell, heading, waits.get(name, 0), asked))
        for under, load in loads:
            title = under.lstrip("# ")
            before = sections.get(title, Section(title, under == FURTHER, Load()))
            sections[title] = replace(before, load=before.load + load)
        heading = loads[-1][0] if loads else heading
    return Minutes(lesson.number, tuple(sections.values()))


def of(path: Path, root: Path) -> Minutes:
    """Count the lesson of this file, with the waits that its solution holds."""
    lesson = lessons.read(path)
    return counted(lesson, notebooks.waits(notebooks.read(notebooks.solution_path(root, lesson))), root)


def rounded(minutes: float) -> int:
    """Return minutes as a page promises them."""
    return math.ceil(minutes / STEP) * STEP


def filled(lesson: Lesson, minutes: Minutes) -> Lesson:
    """Return the lesson with the minutes in its head."""
    first, *rest = lesson.cells
    core, further = str(rounded(minutes.core)), str(rounded(minutes.further))
    text = first.source.replace("{minutes}", core).replace("{further}", further)
    return replace(lesson, cells=(replace(first, source=text), *rest))


def words(text: str) -> int:
    """Count the words of a Markdown text; addresses, signs and folded hints do not count."""
    shown = DETAILS.sub(lambda found: "" if "hint" in found[1].lower() else f"{found[1]} {found[2]}", text)
    plain = re.sub(r"\]\([^)]*\)|<[^>]+>", " ", shown)
    return sum(any(sign.isalnum() for sign in word) for word in plain.split())


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Run the command line; return 1 with --check if a core path is too long."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lesson", nargs="*", metavar="02", help="only these, section by section")
    parser.add_argument("--check", action="store_true", help="fail if a core path takes longer than it may")
    chosen = parser.parse_args(arguments)
    known = [of(path, root) for path in lessons.lessons(root)]
    if chosen.lesson:
        known = [minutes for minutes in known if minutes.number in chosen.lesson]
        print(*(line for minutes in known for line in _by_section(minutes)), sep="\n")
    print("lab   core  limit  further")
    for minutes in known:
        sign = "✗ too long" if minutes.too_long else ""
        told = f"{minutes.number}  {minutes.core:7.1f} {minutes.limit:6} {minutes.further:8.1f}  {sign}"
        print(told.rstrip())
    too_long = [minutes for minutes in known if minutes.too_long]
    if chosen.check:
        for minutes in too_long:
            print(f"Lab {minutes.number} takes too long: move a part under *Going further*.", file=sys.stderr)
    return int(chosen.check and bool(too_long))


def _loads(cell: Cell, heading: str, seconds: float, questions: int) -> Iterator[tuple[str, Load]]:
    """Yield what a cell asks for, under the heading of each section that it is part of."""
    if cell.kind == "code":
        text = cell.source
        if cell.is_answer and not any(solution_marks.faults(text)):
            text = solution_marks.untouched(text, [])
        lines = sum(bool(line.strip()) for line in text.splitlines())
        lines, predictions = (0 if questions else lines), text.count("lab.predict(")
        yield heading, Load(0, lines, seconds, predictions=predictions, questions=questions)
    for part in re.split(r"^(?=## )", cell.source, flags=re.MULTILINE) if cell.kind == "markdown" else []:
        first = part.partition("\n")[0].strip()
        if first.startswith("## "):
            heading = first
        yield heading, Load(words=words(part), exercises=len(HEADING.findall(part)))


def _by_section(minutes: Minutes) -> Iterator[str]:
    yield f"Lab {minutes.number}"
    yield "minutes  words  lines  waits  exercises  predictions  questions  section"
    for section in minutes.sections:
        load = section.load
        numbers = f"{load.minutes:7.1f} {load.words:6} {load.lines:6} {load.waits:5.0f}s"
        more = "  (further)" if section.further else ""
        things = f"{load.exercises:10} {load.predictions:12} {load.questions:10}"
        yield f"{numbers} {things}  {section.title or '(head)'}{more}"
    yield ""
