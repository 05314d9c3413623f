"""What threebrokers/checks/labNN.py registers, read without importing it."""

import ast
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Check:
    """A function under `@exercise(number, title)`; `takes` are its parameters after the lab."""

    name: str
    number: str
    title: str
    takes: tuple[str, ...]


def registered(root: Path, lab: str) -> list[Check]:
    """Return the checks of a lab in the order of its files; none if there is none. Raises SyntaxError."""
    functions = [
        node
        for path in modules(root, lab)
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef)
    ]
    return [check for function in functions if (check := _check(function))]


def modules(root: Path, lab: str) -> list[Path]:
    """Return the files of a lab's checks: one module, or all of a package."""
    one = root / where(lab)
    return [one] if one.exists() else sorted(one.with_suffix("").glob("*.py"))


def where(lab: str) -> str:
    """Return the place of a lab's checks, seen from the root, where they are one module."""
    return f"threebrokers/checks/lab{lab}.py"


def _check(function: ast.FunctionDef) -> Check | None:
    takes = tuple(argument.arg for argument in [*function.args.args, *function.args.kwonlyargs][1:])
    for decorator in function.decorator_list:
        match decorator:
            case ast.Call(
                func=ast.Name(id="exercise") | ast.Attribute(attr="exercise"),
                args=[ast.Constant(value=str(number)), ast.Constant(value=str(title))],
            ):
                return Check(function.name, number, title, takes)
    return None
