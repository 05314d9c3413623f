"""The rules of a lesson; each broken one is a sentence that names file, place and the way to mend it."""

import re
from collections.abc import Iterator
from pathlib import Path

from tools.lessons.lesson import NAME, Lesson, lessons
from tools.rules import exercise as rules_exercise
from tools.rules import imports, names, page, predictions, programs
from tools.rules.checks import Check, registered, where

Fault = tuple[str, str, str]  # place in the lesson, what is wrong, what to do


def problems(lesson: Lesson, root: Path) -> list[str]:
    """Return every broken rule of one lesson, all at once."""
    paths = lessons(root)
    try:
        checks = registered(root, lesson.number)
    except SyntaxError as fault:
        return [f"{where(lesson.number)}: Python cannot read line {fault.lineno}; correct it."]
    found = [
        *_name(lesson, paths),
        *page.faults(lesson, [path.stem for path in paths]),
        *(fault for exercise in lesson.exercises for fault in rules_exercise.faults(exercise, checks)),
        *_numbers(lesson),
        *_orphans(lesson, checks),
        *names.faults(lesson),
        *imports.faults(lesson),
        *predictions.faults(lesson),
        *programs.faults(lesson),
    ]
    return [f"{_shown(lesson.path, root)}, {place}: {wrong}; {mend}." for place, wrong, mend in found]


def _name(lesson: Lesson, paths: list[Path]) -> Iterator[Fault]:
    if not NAME.fullmatch(lesson.stem):
        yield "file name", f"'{lesson.path.name}' is not understood", "call it like 02_the_log.py"
    for path in paths:
        if path.stem[:2] == lesson.number and path.stem != lesson.stem:
            yield "file name", f"{path.name} has the same number", "give each lesson a number of its own"


def _numbers(lesson: Lesson) -> Iterator[Fault]:
    lab = int(lesson.number) if lesson.number.isdigit() else 0
    for count, exercise in enumerate(lesson.exercises, 1):
        if exercise.number != f"{lab}.{count}":
            yield (
                f"exercise {exercise.number}",
                f"this is exercise {count} of lab {lab}",
                f"number it {lab}.{count}, here and in {where(lesson.number)}",
            )


def _orphans(lesson: Lesson, checks: list[Check]) -> Iterator[Fault]:
    called = {cell.source for exercise in lesson.exercises for cell in exercise.checks}
    for check in checks:
        if not any(re.search(rf"\blab\.check\.{check.name}\b", text) for text in called):
            yield (
                f"exercise {check.number}",
                f"no exercise calls '{check.name}' of {where(lesson.number)}",
                "write the exercise or delete the check",
            )


def _shown(path: Path, root: Path) -> str:
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
