"""The rules of a lesson; each broken one is a sentence that names file, place and the way to mend it."""

import argparse
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from tools import ROOT
from tools.lessons import minutes
from tools.lessons.lesson import NAME, Lesson, lessons, read
from tools.rules import alone, facts, imports, names, outputs, page, predictions, programs, quizzes, wording
from tools.rules import exercise as rules_exercise
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
        *alone.faults(lesson),
        *predictions.faults(lesson, root),
        *quizzes.faults(lesson, root),
        *programs.faults(lesson),
    ]
    return _told(found, lesson, root)


def gates(lesson: Lesson, root: Path) -> list[str]:
    """Return what a lesson says or shows otherwise than readers need or tests assert, or if it is too long.

    None of it keeps a lesson from being built: what its solution shows is mended by building and running it.
    """
    found = [
        *wording.faults(lesson, root),
        *facts.faults(lesson, root),
        *_too_long(lesson, root),
        *outputs.faults(lesson, root),
    ]
    return _told(found, lesson, root)


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Run the command line; return 0 if no rule is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lesson", nargs="*", metavar="02", help="only these")
    only = parser.parse_args(arguments).lesson
    chosen = [read(path) for path in lessons(root) if not only or path.stem[:2] in only]
    told = [sentence for lesson in chosen for sentence in [*problems(lesson, root), *gates(lesson, root)]]
    print(*told, sep="\n", end="\n" if told else "")
    return int(bool(told))


def _told(found: Iterable[Fault], lesson: Lesson, root: Path) -> list[str]:
    return [f"{_shown(lesson.path, root)}, {place}: {wrong}; {mend}." for place, wrong, mend in found]


def _too_long(lesson: Lesson, root: Path) -> Iterator[Fault]:
    taken = minutes.of(lesson.path, root)
    if taken.too_long:
        wrong = f"it takes {taken.core:.0f} minutes (at most {taken.limit})"
        mend = f"leave something out, or move it under '{minutes.FURTHER}' (see `python -m tools minutes`)"
        yield "the core path", wrong, mend


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
