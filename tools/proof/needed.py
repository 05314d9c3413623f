"""What exercises need of the cells between them, so that they can be tried without the rest of a lesson."""

import ast
import builtins
from collections.abc import Iterator
from itertools import chain

from tools.lessons import code_names, solution_marks
from tools.lessons.lesson import Cell, Exercise, Lesson
from tools.proof.steps import chosen

# Nearly every cell uses these, and none changes what another one gets from them.
SHARED = frozenset({"lab", "spark", "admin"})
# Calls that only show something, or compare it with what was expected.
SHOWS = frozenset({"print", "show", "observed", "compare"})
IMPORTS = (ast.Import, ast.ImportFrom)


def places_of(exercise: Exercise) -> range:
    """Return the places of an exercise's cells, from its answer to its check."""
    return range(exercise.answers[0].place, exercise.checks[0].place + 1)


def needed(lesson: Lesson, answers: int | None = None) -> dict[int, str]:
    """Return for each code cell between exercises the statements on which these rely, by the cell's place.

    These are imports, and what binds a name that is read later. A cell that may change its value is needed as
    it is: one that reads it, unless it is a function, a class or a module. So is a program (`%%program`), and
    what no name shows: a cell with the tag "needed". With `answers` only so many wrong ones of each exercise
    count, those that are tried.
    """
    of = {place: exercise for exercise in lesson.exercises for place in places_of(exercise)}
    cells = [cell for cell in lesson.cells if cell.kind == "code"]
    fixed = SHARED | set(dir(builtins)) | {name for cell in cells for name in _fixed(cell)}
    wanted, found = set(SHARED), {}
    for cell in reversed(cells):
        if cell.place in of:
            if not cell.is_tried:
                wanted = set().union(
                    *(_before(text, wanted) for text in _tries(cell, of[cell.place], answers))
                )
        else:
            found[cell.place], wanted = _kept(cell, wanted, fixed)
    return found


def _tries(cell: Cell, exercise: Exercise, answers: int | None) -> Iterator[str]:
    """Yield the texts that a cell of an exercise has in turn."""
    yield cell.source
    if cell.is_answer:
        yield solution_marks.untouched(cell.source, exercise.blanks)
        for tried in chain.from_iterable(chosen(exercise, answers)):
            yield solution_marks.replaced(cell.source, tried.cell.source)


def _before(text: str, wanted: set[str]) -> set[str]:
    """Return which names are wanted before a text so that these are there after it."""
    if code_names.program(text):
        return wanted
    for line in reversed(ast.parse(text).body):
        wanted = (wanted - _rebound(line)) | _read(line)
    return wanted


def _kept(cell: Cell, wanted: set[str], fixed: frozenset[str]) -> tuple[str, set[str]]:
    """Return what is needed of a cell after which these names are wanted, and which are wanted before it.

    Where a value is changed, by what another line may end (as flush does), the cell is needed as it is.
    """
    text, kept, before = cell.solved, [], wanted
    if cell.is_needed or code_names.program(text):
        return text, _before(text, wanted)
    for line in reversed(ast.parse(text).body):
        code = ast.unparse(line)
        if (_changed(line) - fixed) & before:
            return text, _before(text, wanted)
        if isinstance(line, IMPORTS) or code_names.assigned(code) & before:
            before = (before - _rebound(line)) | _read(line)
            kept.append(code)
    return "\n".join(reversed(kept)), before


def _read(line: ast.stmt) -> set[str]:
    """Return the names that must be there before a statement: a loop binds its own before it reads them."""
    found = code_names.names_read(ast.unparse(line))
    if isinstance(line, ast.For) and not line.orelse:
        found -= code_names.assigned(f"{ast.unparse(line.target)} = ...") - code_names.names_read(
            ast.unparse(line.iter)
        )
    return found


def _rebound(line: ast.stmt) -> set[str]:
    """Return the names that a statement binds whatever they were before."""
    return code_names.assigned(ast.unparse(line)) - SHARED if isinstance(line, ast.Assign) else set()


def _changed(line: ast.stmt) -> set[str]:
    """Return the names whose values a statement may change: of a call, what it is called on and gets."""
    match line:
        case ast.Assign() | ast.FunctionDef() | ast.ClassDef() | ast.Import() | ast.ImportFrom():
            return set()
        case ast.Expr(value=ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name))) if name in SHOWS:
            return set()
        case ast.Expr(value=ast.Call(func=called, args=values)):
            return {node.id for node in (_root(called), *values) if isinstance(node, ast.Name)}
        case _:
            return code_names.names_read(ast.unparse(line))


def _root(called: ast.expr) -> ast.expr:
    """Return what a chain of attributes and calls begins with."""
    while isinstance(called, ast.Attribute | ast.Call):
        called = called.value if isinstance(called, ast.Attribute) else called.func
    return called


def _fixed(cell: Cell) -> Iterator[str]:
    """Yield the modules, functions and classes that a cell binds: who uses them does not change them."""
    for line in [] if code_names.program(cell.source) else ast.parse(cell.source).body:
        if isinstance(line, IMPORTS):
            yield from code_names.assigned(ast.unparse(line))
        elif isinstance(line, ast.FunctionDef | ast.ClassDef):
            yield line.name
