"""The rules of predictions: a question off the page, a name of its own, chosen first and compared later."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from threebrokers.predictions.question import Question, file_name, read
from threebrokers.text import quoted
from tools.lessons import code_names, solution_marks
from tools.lessons.lesson import Cell, Lesson

Fault = tuple[str, str, str]
Questions = Mapping[str, Question]
ASK, ANSWER, COMPARE = "lab.predict", "choose", "compare"


def is_meant(cell: Cell) -> bool:
    """Tell whether a cell with marks is meant to choose an answer."""
    return cell.is_answer and ".choose(" in cell.source


def where(root: Path, lab: str) -> Path:
    """Return the file of a lab's questions."""
    return root / "threebrokers" / "predictions" / "questions" / file_name(int(lab) if lab.isdigit() else 0)


def variable(name: str) -> str:
    """Return the variable of a question: `guess_2a` for "2.a"."""
    return f"guess_{name.replace('.', '')}"


def faults(lesson: Lesson, root: Path) -> Iterator[Fault]:
    """Yield every broken rule of the lesson's predictions."""
    answers = {cell.place for exercise in lesson.exercises for cell in exercise.answers}
    for cell in lesson.cells:
        if is_meant(cell) and cell.place not in answers:
            yield from _region(cell)
    if not lesson.number.isdigit():
        return  # the name of its file is told elsewhere
    file = where(root, lesson.number)
    shown = str(file.relative_to(root))
    try:
        questions = read(file) if file.exists() else {}
    except ValueError as fault:
        yield shown, f"it cannot be read ({fault})", "write it as CONTRIBUTING.md shows"
        return
    yield from _asked(lesson, questions, shown)
    yield from _texts(questions, shown)
    yield from _given_away(lesson, questions)


def _region(cell: Cell) -> Iterator[Fault]:
    place = _place(cell)
    found = list(solution_marks.faults(cell.source))
    for wrong, mend in found:
        yield place, wrong, mend
    if not found and not cell.chooses:
        mend = "write `guess_….choose(…)` alone there"
        yield place, "the region of a prediction does more than choose", mend


def _asked(lesson: Lesson, questions: Questions, file: str) -> Iterator[Fault]:
    """Yield what is wrong between the lesson and the file of its questions."""
    lab = str(int(lesson.number))
    trees = [(cell, tree) for cell in lesson.cells if (tree := _tree(cell))]
    asked: list[str] = []
    for cell, tree in trees:
        yield from _chosen(cell, tree, questions)
        for call in [] if cell.is_tried else _calls(tree, ASK):
            name = _text(call.args[0]) if len(call.args) == 1 and not call.keywords else ""
            place = f"the prediction '{name}'"
            if not re.fullmatch(rf"{lab}\.[a-z]", name):
                yield place, "its id is not understood", f'write lab.predict("{lab}.a"), and nothing else'
                continue
            if name in asked:
                yield place, "another cell asks it too", "ask each question once"
            if not any(_binds(line, name) for line in tree.body):
                wrong = "its cell has no line of its own for it"
                yield place, wrong, f'write `{variable(name)} = lab.predict("{name}")`'
            asked.append(name)
    for name in dict.fromkeys(asked):
        if name not in questions:
            yield f"the prediction '{name}'", f"it has no question in {file}", "write it there"
        yield from _used(name, trees)
    for name in sorted(questions.keys() - set(asked)):
        yield file, f"no cell of the lesson asks '{name}'", f'write lab.predict("{name}"), or delete it'


def _used(name: str, trees: list[tuple[Cell, ast.Module]]) -> Iterator[Fault]:
    """Yield what is wrong with the variable of a question that is asked."""
    place, own = f"the prediction '{name}'", variable(name)
    for cell, tree in trees:
        lines = [line for line in tree.body if not _binds(line, name)]
        if own in code_names.assigned(ast.unparse(ast.Module(lines, []))):
            yield place, f"{_place(cell)} binds {own} again", "use this name for nothing else"
    seen = [tree for cell, tree in trees if not cell.is_tried]
    if not any(_calls(tree, f"{own}.{COMPARE}") for tree in seen):
        yield place, "it is never compared", f"write `{own}.compare(…)` where the truth is known"


def _chosen(cell: Cell, tree: ast.Module, questions: Questions) -> Iterator[Fault]:
    """Yield each answer that a cell chooses, and that is none of its question's."""
    for name, question in questions.items():
        for call in _calls(tree, f"{variable(name)}.{ANSWER}"):
            given = call.args[0] if len(call.args) == 1 else None
            answer = str(given.value) if isinstance(given, ast.Constant) else ""
            if answer not in question.why:
                wrong = f"it chooses '{answer}', which is no answer of '{name}'"
                yield _place(cell), wrong, f"choose one of {quoted(question.why)}"


def _texts(questions: Questions, file: str) -> Iterator[Fault]:
    for name, question in questions.items():
        if len(question.why) < 2:
            yield file, f"'{name}' has fewer than two answers", "write two or more, each another one"
        if len(question.why) < len(question.answers):
            yield file, f"two answers of '{name}' are the same", "write another one"
        texts = [question.question, *question.why.keys(), *question.why.values()]
        if not all(text.strip() for text in texts):
            yield file, f"a text of '{name}' is empty", "write the question, each answer, and why"
        if any(text.count("`") % 2 for text in texts):
            yield file, f"a backtick of '{name}' has no partner", "close the code with another one"


def _given_away(lesson: Lesson, questions: Questions) -> Iterator[Fault]:
    """Yield each cell that shows why an answer is chosen, or shows answers beside the question."""
    for cell in lesson.cells:
        text = "" if cell.is_tried else _visible(cell)
        for name, question in questions.items():
            if any(why in text for why in question.why.values()):
                yield _place(cell), f"it shows the explanation of an answer to '{name}'", "leave it out"
            if f'{ASK}("{name}")' in text and any(f'"{answer}"' in text for answer in question.why):
                yield _place(cell), f"it shows an answer to '{name}' beside the question", "leave it out"


def _visible(cell: Cell) -> str:
    if cell.is_answer and not any(solution_marks.faults(cell.source)):
        part = solution_marks.split(cell.source)
        return f"{part.before}\n{part.after}"
    return cell.source


def _binds(line: ast.stmt, name: str) -> bool:
    return ast.unparse(line) == f"{variable(name)} = {ASK}({name!r})"


def _tree(cell: Cell) -> ast.Module | None:
    """Return the code of a cell of the notebook, or None: text, another program, or not Python."""
    text = cell.source
    if cell.kind != "code" or code_names.program(text) or not code_names.parses(text):
        return None
    return ast.parse(text)


def _calls(tree: ast.Module, function: str) -> list[ast.Call]:
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [call for call in calls if ast.unparse(call.func) == function]


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _place(cell: Cell) -> str:
    return f"the cell '{cell.source.partition(chr(10))[0]}'"
