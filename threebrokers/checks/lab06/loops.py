"""What the text of lab 06's programs tells of their loops, and of where they begin to read.

What is not certain counts as right: a right answer may be written in many ways.
"""

import ast
from collections.abc import Iterator

from threebrokers.checks.lab06.program_text import reached

READS = ("poll", "consume")
LOOPS = (ast.For, ast.While)
FUNCTIONS = (ast.FunctionDef, ast.Lambda)


def reads(program: ast.Module) -> bool:
    """Tell whether a program asks for records at all, or for the partitions that hold them."""
    return bool(calls(program, "subscribe", "assign", *READS))


def calls(program: ast.AST, *methods: str) -> list[ast.Call]:
    """Return the calls of methods with one of these names."""
    nodes = [node for node in ast.walk(program) if isinstance(node, ast.Call)]
    return [node for node in nodes if isinstance(node.func, ast.Attribute) and node.func.attr in methods]


def ends_when_empty(program: ast.Module) -> bool:
    """Tell whether the outermost loop of a program ends as soon as a poll() or consume() returns nothing."""
    names = {name for node in ast.walk(program) for name in _read_into(node)}
    return any(
        (isinstance(loop, ast.While) and _is_read(loop.test))
        or any(_leaves(node, names) for node in within(loop.body))
        for loop in _outermost(program)
    )


def begins_by_database(program: ast.Module) -> bool:
    """Tell whether a program asks its table `positions` where to begin, and tells that to its consumer.

    A function that nobody names is not asked.
    """
    # What may run: all but the functions that no other part of it names.
    used = reached(program, [part for part in program.body if not isinstance(part, ast.FunctionDef)])
    asks = any(
        (isinstance(node, ast.Name) and node.id == "next_offset")
        or (isinstance(node, ast.Constant) and _asks_for_positions(node.value))
        for node in used
    )
    tells = calls(program, "assign", "incremental_assign", "seek")
    in_loops = {node for loop in _outermost(program) for node in ast.walk(loop)}
    tells += [call for call in _commits_of_offsets(program) if call not in in_loops]
    return asks and any(call in used for call in tells)


def within(statements: list[ast.stmt]) -> Iterator[ast.AST]:
    """Yield what runs in a loop's body, without loops and functions in it, which have ends of their own."""
    left: list[ast.AST] = [*statements]
    while left:
        node = left.pop()
        yield node
        if not isinstance(node, (*LOOPS, *FUNCTIONS)):
            left += ast.iter_child_nodes(node)


def _outermost(program: ast.Module) -> list[ast.For | ast.While]:
    """Return the loops that stand in no other loop, and in no function that a loop calls."""
    loops = [node for node in ast.walk(program) if isinstance(node, LOOPS)]
    inner = {node for loop in loops for part in [*loop.body, *loop.orelse] for node in ast.walk(part)}
    called = {node.id for node in inner if isinstance(node, ast.Name)}
    functions = [n for n in ast.walk(program) if isinstance(n, ast.FunctionDef) and n.name in called]
    inner |= {node for function in functions for node in ast.walk(function)}
    return [loop for loop in loops if loop not in inner]


def _leaves(node: ast.AST, names: set[str]) -> bool:
    """Tell whether this is an `if` that leaves the loop when nothing was read."""
    if not isinstance(node, ast.If):
        return False
    empty = node.body if _is_empty(node.test, names) else node.orelse if _is_full(node.test, names) else []
    return any(isinstance(part, ast.Break | ast.Return) for part in within(empty))


def _is_empty(test: ast.expr, names: set[str]) -> bool:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _is_full(test.operand, names)
    if not isinstance(test, ast.Compare) or not _is_full(test.left, names):
        return False
    against = test.comparators[0]
    nothing = isinstance(against, ast.List) and not against.elts
    return isinstance(test.ops[0], ast.Is | ast.Eq) and (
        nothing or (isinstance(against, ast.Constant) and not against.value)
    )


def _is_full(test: ast.expr, names: set[str]) -> bool:
    """Tell whether this is true if something was read: what was read, or its length."""
    if isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id == "len":
        return bool(test.args) and _is_full(test.args[0], names)
    return _is_read(test) or (isinstance(test, ast.Name) and test.id in names)


def _is_read(value: ast.expr) -> bool:
    """Tell whether this is the call of a poll() or consume() itself, with a name or without one."""
    if isinstance(value, ast.NamedExpr):
        value = value.value
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in READS


def _read_into(node: ast.AST) -> list[str]:
    """Return the names that are given what a poll() or consume() returns."""
    if isinstance(node, ast.Assign) and _is_read(node.value):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    if isinstance(node, ast.NamedExpr) and _is_read(node):
        return [node.target.id]
    return []


def _commits_of_offsets(program: ast.Module) -> list[ast.Call]:
    return [call for call in calls(program, "commit") if any(word.arg == "offsets" for word in call.keywords)]


def _asks_for_positions(text: object) -> bool:
    return isinstance(text, str) and "select" in text.lower() and "positions" in text
