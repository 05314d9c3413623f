"""One rule: a lesson imports the public face of threebrokers, and no module behind it."""

import ast
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from threebrokers import PUBLIC
from tools.lessons import code_names
from tools.lessons.lesson import Cell, Lesson

Fault = tuple[str, str, str]


def faults(lesson: Lesson) -> Iterator[Fault]:
    """Yield each import from threebrokers that is not public, also in wrong answers and programs."""
    for cell in lesson.cells:
        if cell.kind == "code" and code_names.parses(cell.source):
            for wrong, mend in _of_cell(cell):
                yield f"the cell '{cell.source.partition(chr(10))[0]}'", wrong, mend


def _of_cell(cell: Cell) -> Iterator[tuple[str, str]]:
    held = code_names.program(cell.source)
    for node in ast.walk(ast.parse(held[1] if held else cell.source)):
        match node:
            case ast.Import(names=aliases):
                modules = [alias.name for alias in aliases if _is_ours(alias.name)]
            case ast.ImportFrom(module=str(module)) if module in PUBLIC:
                modules = []
                for alias in node.names:
                    if alias.name not in _offered(module):
                        yield (
                            f"{module} does not offer '{alias.name}'",
                            f"it offers {_list(_offered(module))}",
                        )
            case ast.ImportFrom(module=str(module)) if _is_ours(module):
                modules = [module]
            case _:
                modules = []
        for module in modules:
            if module not in PUBLIC:
                mend = f"import from one of {_list(PUBLIC)}, or offer there what is needed"
                yield f"it imports {module}, which is not public", mend


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == "threebrokers"


@cache
def _offered(module: str) -> tuple[str, ...]:
    """Return what a module offers, read without running it: its `__all__`, else what it defines."""
    found = find_spec(module)
    assert found is not None
    assert found.origin is not None
    defined: list[str] = []
    for node in ast.parse(Path(found.origin).read_text("utf-8")).body:
        match node:
            case ast.Assign(targets=[ast.Name(id="__all__")]):
                return tuple(ast.literal_eval(node.value))
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                defined.append(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                defined.append(name)
    return tuple(name for name in defined if not name.startswith("_"))


def _list(names: tuple[str, ...]) -> str:
    return ", ".join(names)
