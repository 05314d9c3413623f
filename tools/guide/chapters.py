"""What the guide says of one lab, taken from its lesson, its questions and its executed solution."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from threebrokers.predictions import question as questions
from threebrokers.predictions.prediction import VERDICT
from threebrokers.quiz import question as quizzes
from tools.lessons import asides, minutes, notebooks, solution_marks
from tools.lessons import lesson as lessons
from tools.lessons.lesson import DETAILS, HEADING, Cell, Lesson
from tools.lessons.minutes import Minutes

PREDICT = re.compile(r'(\w+) = lab\.predict\("([^"]+)"\)')
COMPARES = re.compile(r"(\w+)\.compare\(")
SAME = "…"  # stands for the lines that a wrong answer has in common with the right one


@dataclass(frozen=True)
class Prediction:
    """A question before an experiment; `truths` are the answers that the executed solution measured."""

    name: str
    question: str
    answers: tuple[questions.Answer, ...]
    truths: tuple[str, ...]


@dataclass(frozen=True)
class WrongAnswer:
    """What a learner may have in mind, what the check's sentence then holds, and the lines that differ."""

    idea: str
    message: str
    code: str


@dataclass(frozen=True)
class Task:
    """An exercise as a teacher needs it; `goal` and `hints` are Markdown, `reason` is what *solved* says."""

    number: str
    title: str
    goal: str
    by_hand: str
    hints: tuple[str, ...]
    answer: str
    reason: str
    wrong: tuple[WrongAnswer, ...]
    right: tuple[str, ...]


@dataclass(frozen=True)
class Chapter:
    """One lab."""

    stem: str
    title: str
    minutes: Minutes
    predictions: tuple[Prediction, ...]
    tasks: tuple[Task, ...]
    remember: str
    quiz: tuple[quizzes.Question, ...] = ()

    @property
    def number(self) -> str:
        """The lab's two digits."""
        return self.stem[:2]


def chapters(root: Path) -> list[Chapter]:
    """Return what is said of each lab of the course, in order."""
    return [chapter(path, root) for path in lessons.lessons(root)]


def chapter(path: Path, root: Path) -> Chapter:
    """Return what is said of the lab with this lesson."""
    lesson = lessons.read(path)
    solution = notebooks.read(notebooks.solution_path(root, lesson))
    cells = notebooks.codes(solution) if solution is not None else []
    outputs = {cell.id: list(cell.outputs) for cell in cells}
    return Chapter(
        lesson.stem,
        lessons.title(path),
        minutes.of(path, root),
        tuple(_predictions(lesson, root, [pair for cell in cells for pair in _measured(cell)])),
        tuple(_tasks(lesson, outputs)),
        _remember(lesson),
        tuple(asides.asked(root, lesson.number)[asides.QUIZ].values()),
    )


def differing(code: str, solution: str) -> str:
    """Return the lines of an answer that the solution does not have; SAME for each run of the others.

    The whole answer if only lines are missing from it.
    """
    known = set(solution.splitlines())
    told: list[str] = []
    for line in code.strip("\n").splitlines():
        shown = SAME if line in known else line
        if shown.strip() and (shown != SAME or told[-1:] != [SAME]):
            told.append(shown)
    return "\n".join(told) if set(told) > {SAME} or set(told) - {SAME} else code.strip("\n")


def _measured(cell: Any) -> Iterator[tuple[str, str]]:
    """Yield the variable of each prediction that an executed cell compares, and the truth."""
    truths = [o["data"][VERDICT]["truth"] for o in cell.outputs if VERDICT in o.get("data", {})]
    compared = COMPARES.findall(cell.source)
    if len(set(compared)) == 1:  # in a loop one line may compare several times
        compared = compared[:1] * len(truths)
    yield from zip(compared, truths, strict=True)


def _predictions(lesson: Lesson, root: Path, measured: list[tuple[str, str]]) -> Iterator[Prediction]:
    place = root / "threebrokers" / "predictions" / "questions" / questions.file_name(int(lesson.number))
    asked = questions.read(place) if place.exists() else {}
    for variable, name in _asked(lesson).items():
        truths = dict.fromkeys(truth for compared, truth in measured if compared == variable)
        known = asked[name]
        yield Prediction(name, known.question, tuple(known.answers), tuple(truths))


def _asked(lesson: Lesson) -> dict[str, str]:
    """Return the predictions of a lesson, each by its variable, in order."""
    sources = [cell.source for cell in lesson.cells if cell.kind == "code" and not cell.is_tried]
    return {variable: name for source in sources for variable, name in PREDICT.findall(source)}


def _tasks(lesson: Lesson, outputs: dict[str, list[dict[str, dict[str, str]]]]) -> Iterator[Task]:
    for exercise in lesson.exercises:
        answer = solution_marks.split(exercise.answers[0].source).region if exercise.answers else ""
        wrong = (WrongAnswer(each.name, each.text, _told(each.cell, answer)) for each in exercise.wrongs)
        said = [
            output["data"]["text/plain"]
            for output in outputs.get(f"check-{exercise.number.replace('.', '-')}", [])
            if output.get("data", {}).get("text/plain")
        ]
        yield Task(
            exercise.number,
            exercise.title,
            _goal(exercise.cells[0]),
            exercise.by_hand,
            tuple(exercise.hints),
            answer,
            said[-1].partition(": ")[2] if said else "",
            tuple(wrong),
            tuple(each.name for each in exercise.rights),
        )


def _told(cell: Cell, answer: str) -> str:
    """Return what a tried answer does otherwise; its first line, with the name, is left out."""
    return differing(cell.source.partition("\n")[2], answer)


def _goal(cell: Cell) -> str:
    return DETAILS.sub("", HEADING.sub("", cell.source, count=1)).strip()


def _remember(lesson: Lesson) -> str:
    prose = "\n\n".join(cell.source for cell in lesson.cells if cell.kind == "markdown")
    found = re.search(r"^## What to remember\n(.*?)(?=^## |\Z)", prose, re.DOTALL | re.MULTILINE)
    return found[1].strip() if found else ""
