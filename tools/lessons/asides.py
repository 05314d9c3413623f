"""The cells of a lesson that only ask questions: a quiz, and questions of earlier labs.

They touch no cluster, and nothing that is executed depends on them. So a solution is not executed again when
they or their questions change: the build draws what they show from the files of the questions.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import nbformat

from threebrokers.errors import LabError
from threebrokers.quiz import question, twin
from threebrokers.quiz.question import Question
from threebrokers.quiz.review import review

QUIZ, REVIEW = "lab.quiz()", "lab.review()"
CALLS = (QUIZ, REVIEW)


def is_aside(source: str) -> bool:
    """Tell whether a cell of this text only asks: it is the one call, and nothing else."""
    return source.strip() in CALLS


def folder(root: Path) -> Path:
    """Return where the questions of the quizzes are."""
    return root / "threebrokers" / "quiz" / "questions"


def asked(root: Path, lab: str) -> dict[str, Mapping[str, Question]]:
    """Return the questions that each such call of a lab shows to a learner who has answered none yet.

    Of a damaged file it shows none: what is wrong with it is told by tools/rules/quizzes.py.
    """
    place = folder(root)
    shown: dict[str, Mapping[str, Question]] = {QUIZ: {}, REVIEW: {}}
    with suppress(LabError):
        if (place / question.file_name(lab)).exists():
            shown[QUIZ] = question.read(lab, place)
        shown[REVIEW] = review(lab, {}, place)
    return shown


def fill(notebook: Any, root: Path, lab: str) -> None:
    """Give such cells of a solution what they show where no kernel runs."""
    shown = asked(root, lab)
    for cell in notebook.cells:
        if cell.cell_type == "code" and is_aside(cell.source):
            questions = shown[cell.source.strip()]
            forms = {"text/html": twin.page(questions), "text/plain": twin.text(questions)}
            cell.execution_count = 0  # nbval refuses outputs of a cell that has no number
            cell.metadata.pop("seconds", None)
            cell.outputs = [nbformat.v4.new_output("display_data", forms)]  # type: ignore[no-untyped-call]
