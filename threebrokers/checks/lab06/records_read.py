"""Which names of a program hold records that its consumer has read, and which of its lines ask only these.

What is not certain is left out: a name that also holds something else, or that a function is given.
"""

import ast
from collections.abc import Collection

from threebrokers.checks.lab06.loops import READS
from threebrokers.checks.lab06.program_text import Nodes, assigned, name_of

SAME = ("enumerate", "list", "iter", "reversed", "tuple")  # they return what they are given, in another form


def ends_of_records(source: ast.Module, nodes: Collection[ast.AST], kept: Collection[str]) -> Nodes:
    """Return every `raise` and `assert` among these nodes that asks only for errors of records.

    `kept` are names that hold something else.
    """
    records = _names(source, nodes) - {*kept}
    asking = [node for node in nodes if isinstance(node, ast.If | ast.Assert)]
    asking = [node for node in asking if _asks_records_only(node.test, records)]
    parts = [part for node in asking for part in (node.body if isinstance(node, ast.If) else [node])]
    return {part for part in parts if isinstance(part, ast.Raise | ast.Assert)}


def _names(source: ast.Module, nodes: Collection[ast.AST]) -> set[str]:
    """Return the names that hold records that were read, and nothing else."""
    bound = list(assigned(source))
    bound += [(node.target, node.iter) for node in ast.walk(source) if isinstance(node, ast.For)]
    bound += [(node.target, node.iter) for node in ast.walk(source) if isinstance(node, ast.comprehension)]
    other = {node.arg for node in nodes if isinstance(node, ast.arg)}
    found: set[str] = set()
    while True:
        read = {name for target, value in bound if _is_read(value, found) for name in _targets(target)}
        if read <= found:
            break
        found |= read
    for target, value in bound:
        nothing = isinstance(value, ast.Constant) and value.value is None
        if not nothing and not _is_read(value, found):
            other |= {*_targets(target)}
    return found - other


def _is_read(value: ast.expr, names: set[str]) -> bool:
    """Tell whether this is what poll() or consume() returns, one of it, or some of it."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        return value.func.attr in READS
    if isinstance(value, ast.Call):
        return name_of(value.func) in SAME and bool(value.args) and _is_read(value.args[0], names)
    if isinstance(value, ast.Subscript):
        return _is_read(value.value, names)
    if isinstance(value, ast.ListComp | ast.GeneratorExp):
        first = value.generators[0]
        return ast.unparse(value.elt) == ast.unparse(first.target) and _is_read(first.iter, names)
    return isinstance(value, ast.Name) and value.id in names


def _targets(target: ast.expr) -> list[str]:
    return [node.id for node in ast.walk(target) if isinstance(node, ast.Name)]


def _asks_records_only(test: ast.expr, records: set[str]) -> bool:
    """Tell whether a test asks `.error()` of records; a name with a capital is that of a class."""
    asks = any(isinstance(node, ast.Attribute) and node.attr == "error" for node in ast.walk(test))
    names = [node.id for node in ast.walk(test) if isinstance(node, ast.Name)]
    return asks and all(name in records or name[:1].isupper() for name in names)
