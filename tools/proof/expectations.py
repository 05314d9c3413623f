"""What the cells of a solution promise to show, and whether a run kept it."""

import ast
import re
from dataclasses import dataclass

from threebrokers.grading.kernel import Reply
from threebrokers.predictions import VERDICT
from tools.lessons import code_names
from tools.lessons.lesson import Cell, Exercise


@dataclass(frozen=True)
class Promise:
    """One thing that a cell should show each time: an exercise, a sentence that came true, a prediction."""

    name: str
    pattern: str = ""

    def kept(self, reply: Reply) -> bool:
        """Tell whether the cell ended well, or had shown this before it failed."""
        return not reply.error or bool(self.pattern and re.search(self.pattern, reply.shown))


def of(cell: Cell, exercise: Exercise | None) -> list[Promise]:
    """Return what a cell promises; most cells promise nothing but to run."""
    if exercise and cell.is_check:
        return [Promise(f"Exercise {exercise.number}: {exercise.title}")]
    if code_names.program(cell.source) or not code_names.parses(cell.source):
        return []
    calls = [node for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.Call)]
    calls.sort(key=lambda call: (call.lineno, call.col_offset))
    return [
        Promise("✓ " + "…".join(parts), "✓ " + ".*".join(map(re.escape, parts)))
        for call in calls
        if _called(call) == "observed" and call.args and (parts := _texts(call.args[0]))
    ]


def truths(reply: Reply) -> list[str]:
    """Return the true answer of each prediction that a cell compared."""
    return [str(forms[VERDICT]["truth"]) for forms in reply.displayed if VERDICT in forms]


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _texts(node: ast.expr) -> list[str]:
    """Return the constant parts of a sentence, between which a run fills in what it measured."""
    if isinstance(node, ast.Constant):
        return [str(node.value).strip().rstrip(".")]
    if not isinstance(node, ast.JoinedStr):
        return []
    parts = [""]
    for value in node.values:
        if isinstance(value, ast.Constant):
            parts[-1] += str(value.value)
        else:
            parts.append("")
    return [part.rstrip(".") if part is parts[-1] else part for part in parts]
