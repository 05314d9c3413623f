"""The rules of predictions: chosen in a region of their own, each question with a name of its own."""

import ast
import re
from collections.abc import Iterator

from tools.lessons import code_names, solution_marks
from tools.lessons.lesson import Cell, Lesson

Fault = tuple[str, str, str]


def is_meant(cell: Cell) -> bool:
    """Tell whether a cell with marks is meant to choose an answer."""
    return cell.is_answer and ".choose(" in cell.source


def faults(lesson: Lesson) -> Iterator[Fault]:
    """Yield every broken rule of the lesson's predictions."""
    answers = {cell.place for exercise in lesson.exercises for cell in exercise.answers}
    for cell in lesson.cells:
        if is_meant(cell) and cell.place not in answers:
            yield from _region(cell)
    yield from _questions(lesson)


def _region(cell: Cell) -> Iterator[Fault]:
    place = f"the cell '{cell.source.partition(chr(10))[0]}'"
    found = list(solution_marks.faults(cell.source))
    for wrong, mend in found:
        yield place, wrong, mend
    if not found and not cell.chooses:
        mend = "write `guess.choose(…)` alone there"
        yield place, "the region of a prediction does more than choose", mend


def _questions(lesson: Lesson) -> Iterator[Fault]:
    asked: set[str] = set()
    lab = str(int(lesson.number)) if lesson.number.isdigit() else ""
    for cell in lesson.cells:
        if (
            cell.kind != "code"
            or cell.is_wrong
            or code_names.program(cell.source)
            or not code_names.parses(cell.source)
        ):
            continue
        for name in _names(cell.source):
            place = f"the prediction '{name}'"
            if not re.fullmatch(rf"{lab}\.[a-z]", name):
                yield place, "its id is not understood", f'call it id="{lab}.a", "{lab}.b", …'
            if name in asked:
                yield place, "another question has this id", "give each question an id of its own"
            asked.add(name)


def _names(text: str) -> Iterator[str]:
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    for call in calls:
        if ast.unparse(call.func) == "lab.predict":
            given = {keyword.arg: keyword.value for keyword in call.keywords}
            name = given.get("id")
            yield str(name.value) if isinstance(name, ast.Constant) else ""
