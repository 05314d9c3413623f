"""What the text of lab 06's programs tells of their loops, and of where they begin to read.

What is not certain counts as right: a right answer may be written in many ways.
"""

import ast
from collections.abc import Iterator

from threebrokers.checks.lab06.program_text import assigned, name_of, reached

READS = ("poll", "consume")
LOOPS = (ast.For, ast.While)
FUNCTIONS = (ast.FunctionDef, ast.Lambda)
SOME = 2  # whoever compares with so many counts how often nothing came, or for how long


def reads(program: ast.Module) -> bool:
    """Tell whether a program asks for records at all, or for the partitions that hold them."""
    return bool(calls(program, "subscribe", "assign", *READS))


def calls(program: ast.AST, *methods: str) -> list[ast.Call]:
    """Return the calls of methods with one of these names."""
    nodes = [node for node in ast.walk(program) if isinstance(node, ast.Call)]
    return [node for node in nodes if isinstance(node.func, ast.Attribute) and node.func.attr in methods]


def ends_when_empty(program: ast.Module) -> bool:
    """Tell whether the outermost loop of a program ends as soon as a poll() or consume() returns nothing."""
    read = [target for target, value in assigned(program) if _may_be_empty(value)]
    names = {target.id for target in read if isinstance(target, ast.Name)}
    return any(
        (isinstance(loop, ast.While) and _is_full(loop.test, names))
        or (isinstance(loop, ast.For) and _reads_until_nothing(loop.iter))
        or any(_leaves(node, names) for node in within(loop.body))
        for loop in _reading(program)
    )


def ends_by_count(program: ast.Module) -> bool:
    """Tell whether the outermost loop of a program reads as often as a range() is long.

    A `while` may call the function that has that loop, or read behind it, under any name.
    """
    functions = {node for one in ast.walk(program) if isinstance(one, FUNCTIONS) for node in ast.walk(one)}
    whiles = [node for node in ast.walk(program) if isinstance(node, ast.While)]
    outside = [loop for loop in whiles if loop not in functions and not _prepares(loop)]
    return any(
        isinstance(loop, ast.For)
        and _is_call_of(loop.iter, "range")
        and any(_is_read(n.iter if isinstance(n, ast.For) else n) for n in within(loop.body))
        and not (whiles if loop in functions else outside)
        for loop in _reading(program)
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


def _reading(program: ast.Module) -> list[ast.For | ast.While]:
    """Return the outermost loop that reads, or the one after loops that only prepare it.

    Empty if there are more: one may go on where another ends.
    """
    loops = [loop for loop in _outermost(program) if _reads_there(program, loop)]
    in_turn = all(loop in program.body for loop in loops)
    return loops[-1:] if len(loops) == 1 or (in_turn and all(map(_prepares, loops[:-1]))) else []


def _prepares(loop: ast.For | ast.While) -> bool:
    """Tell whether a loop only waits for the consumer's partitions, or reads so many times."""
    if isinstance(loop, ast.For):
        return _is_call_of(loop.iter, "range")
    return any(isinstance(node, ast.Attribute) and node.attr == "assignment" for node in ast.walk(loop.test))


def _reads_there(program: ast.Module, loop: ast.For | ast.While) -> bool:
    """Tell whether a loop reads; one over a generator of the program leaves that to the loop in there."""
    head = loop.iter if isinstance(loop, ast.For) else loop.test
    nodes = reached(program, loop.body) | set(ast.walk(head))
    return any(isinstance(node, ast.Attribute) and node.attr in READS for node in nodes)


def _reads_until_nothing(value: ast.expr) -> bool:
    """Tell whether this is iter(lambda: c.poll(1), None)."""
    if not isinstance(value, ast.Call) or not _is_call_of(value, "iter"):
        return False
    asked, last = value.args[:1], value.args[1:]
    reads = any(isinstance(one, ast.Lambda) and _may_be_empty(one.body) for one in asked)
    return reads and any(map(_is_nothing, last))


def _is_call_of(value: ast.expr, name: str) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == name


def _leaves(node: ast.AST, names: set[str]) -> bool:
    """Tell whether this is an `if` that leaves the loop when nothing was read.

    If it asks something else before, it may leave because it was told to.
    """
    if not isinstance(node, ast.If):
        return False
    empty = node.body if _is_empty(node.test, names) else node.orelse if _is_full(node.test, names) else []
    asks = [part for part in within(empty) if isinstance(part, ast.If) and not _counts(part.test)]
    later = {part for one in asks for part in ast.walk(one)}
    return any(isinstance(part, ast.Break | ast.Return) and part not in later for part in within(empty))


def _counts(test: ast.expr) -> bool:
    """Tell whether a test compares with a number: how often nothing has come, or for how long."""
    sides = [side for one in ast.walk(test) if isinstance(one, ast.Compare) for side in one.comparators]
    numbers = [side.value for side in sides if isinstance(side, ast.Constant)]
    return any(isinstance(number, int | float) and number >= SOME for number in numbers)


def _is_empty(test: ast.expr, names: set[str]) -> bool:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _is_full(test.operand, names)
    if not isinstance(test, ast.Compare) or not _is_full(test.left, names):
        return False
    return isinstance(test.ops[0], ast.Is | ast.Eq) and _is_nothing(test.comparators[0])


def _is_nothing(value: ast.expr) -> bool:
    """Tell whether this is None, 0 or an empty list."""
    if isinstance(value, ast.List):
        return not value.elts
    return isinstance(value, ast.Constant) and not value.value


def _is_full(test: ast.expr, names: set[str]) -> bool:
    """Tell whether this is true if something was read: what was read, or its length."""
    if isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id == "len":
        return bool(test.args) and _is_full(test.args[0], names)
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot | ast.NotEq | ast.Gt):
        return _is_full(test.left, names) and _is_nothing(test.comparators[0])
    return _may_be_empty(test) or (isinstance(test, ast.Name) and test.id in names)


def _is_read(value: ast.AST) -> bool:
    """Tell whether this is the call of a poll() or consume() itself, with a name or without one."""
    if isinstance(value, ast.NamedExpr):
        value = value.value
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in READS


def _may_be_empty(value: ast.expr) -> bool:
    """Tell whether this reads, and waits only for so long: without a bound it returns something."""
    if isinstance(value, ast.NamedExpr):
        value = value.value
    if not isinstance(value, ast.Call) or not _is_read(value):
        return False
    place = 1 if name_of(value.func) == "consume" else 0
    bounds = [
        *value.args[place : place + 1],
        *(word.value for word in value.keywords if word.arg == "timeout"),
    ]
    return any(not isinstance(bound, ast.UnaryOp) for bound in bounds)  # -1: for ever


def _commits_of_offsets(program: ast.Module) -> list[ast.Call]:
    return [call for call in calls(program, "commit") if any(word.arg == "offsets" for word in call.keywords)]


def _asks_for_positions(text: object) -> bool:
    return isinstance(text, str) and "select" in text.lower() and "positions" in text
