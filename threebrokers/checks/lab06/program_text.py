"""What every reading of a lab 06 program's text begins with: its names, and what runs by way of them."""

import ast
from collections.abc import Iterable, Iterator
from types import UnionType

Nodes = set[ast.AST]
NAMED = ast.Name | ast.Attribute


def name_of(node: ast.AST) -> str:
    """Return the last part of a name, `Thread` of threading.Thread; empty if this is none."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def functions_of(program: ast.AST) -> dict[str, ast.FunctionDef]:
    """Return the functions that a program defines, also those of its classes, by their names."""
    return {node.name: node for node in ast.walk(program) if isinstance(node, ast.FunctionDef)}


def assigned(program: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield all that a program assigns to, each with its value: `a = 1`, `a: int = 1`, `a, b = 1, 2`."""
    for node in ast.walk(program):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from _pairs(target, node.value)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            yield node.target, node.value


def reached(program: ast.AST, begun: Iterable[ast.AST], by: type[ast.AST] | UnionType = NAMED) -> Nodes:
    """Return these nodes with all that is in them, and in the functions of the program that they name.

    `by` is what counts as a name: `close` of itself, or also that of `worker.close`; with ast.Call it is only
    what they call.
    """
    functions = functions_of(program)
    found: Nodes = set()
    left = list(begun)
    while left:
        inner = set(ast.walk(left.pop())) - found
        found |= inner
        chosen = [node for node in inner if isinstance(node, by)]
        named = (name_of(node.func if isinstance(node, ast.Call) else node) for node in chosen)
        left += [functions[name] for name in named if name in functions]
    return found


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """Return the parts of `a, b = 1, 2`, or the whole if its parts are not known."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]
