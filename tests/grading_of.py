"""Grades made-up hand-ins, and compares what came of them with what must."""

import subprocess
from pathlib import Path

import psutil
import pytest

from tests import handed_in
from tests.handed_in import Made
from threebrokers.grading import namespaces, report
from threebrokers.grading.grader import Grader, Wish
from threebrokers.grading.grades import Grade
from threebrokers.grading.orders import NOT_YET, SOLVED, Limits
from tools import ROOT

# A machine that is busy with other tests is slow, and a hand-in that hangs need not hang for long.
LIMITS = Limits(seconds=240, cell_seconds=90, memory=700)


def graded(folder: Path, made: dict[str, Made], jobs: int = 1, apart: bool = True) -> dict[str, Grade]:
    """Grade them, and return the grades by learner; skip the test where the system makes no namespaces."""
    if apart:
        _need_namespaces()
    handed = folder / "handed in"
    lab = handed_in.write(handed, made)
    grader = Grader(Wish(handed, LIMITS, jobs=jobs, apart=apart), {"01": lab}, print)
    grades = grader.grade()
    report.write(handed, grades, grader.titles)
    return {grade.learner: grade for grade in grades}


def every_other(folder: Path, number: str) -> list[str]:
    """Grade a hand-in of a whole lab, every other answer wrong; return a sentence for each false verdict."""
    _need_namespaces()
    said = handed_in.write_every_other(folder / "handed in", number)
    [lab] = (ROOT / "labs").glob(f"{number}_*.ipynb")
    [grade] = Grader(Wish(folder / "handed in", Limits()), {number: lab}, print).grade()
    wanted = [(name, NOT_YET if text else SOLVED) for name, text in said.items()]
    right = wanted == [(mark.number, mark.verdict) for mark in grade.marks]
    right = right and all(said[mark.number] in mark.sentence for mark in grade.marks)
    told = [f"{mark.number}: {mark.verdict}, {mark.sentence}" for mark in grade.marks]
    return [] if right else told + grade.notes


def faults(made: dict[str, Made], grades: dict[str, Grade]) -> list[str]:
    """Return a sentence for each verdict that is not as it must be."""
    return [told for learner, one in made.items() for told in _faults(learner, one, grades[learner])]


def left_behind(word: str) -> list[int]:
    """Return the processes that have this word in their command line."""
    return [one.pid for one in psutil.process_iter(["cmdline"]) if word in (one.info["cmdline"] or [])]


def _need_namespaces() -> None:
    if subprocess.run([*namespaces.command(), "true"], check=False).returncode:
        pytest.skip("this system makes no namespaces")


def _faults(learner: str, made: Made, grade: Grade) -> list[str]:
    wanted = [verdict for verdict in made.verdicts if verdict]
    got = [mark.verdict for mark in grade.marks]
    told = " ".join(report.happened(grade))
    sentences = [mark.sentence for mark in grade.marks]
    found = [] if got == wanted else [f"{learner}: {wanted} is right, and it got {got}: {sentences} {told}"]
    return found if made.note in told else [*found, f"{learner}: '{made.note}' is not in '{told}'"]
