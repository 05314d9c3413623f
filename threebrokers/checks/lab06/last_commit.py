"""Whether a try's program commits at its end in any case, and waits for the answer: its text tells."""

import ast

from threebrokers.checks.lab06.program_text import Nodes, assigned, name_of, reached
from threebrokers.checks.lab06.threads import catches_ctrl_c
from threebrokers.lab.exercise import NotYet

EITHER = "what was read should be committed then, too"
FINALLY = "`finally:`, which runs in any case"
SOME = 2  # whoever counts up to this, or further, does something only now and then


def expect_last_commit(code: ast.AST) -> None:
    """Raise NotYet if an interruption would pass over the last commit, or if nobody waits for its answer.

    A program that commits in its loop only may do that often enough to need no other commit. One that has
    set `on_commit` may hear of an answer for which it does not wait.
    """
    nodes = set(ast.walk(code))
    commits: Nodes = {n for n in nodes if isinstance(n, ast.Attribute) and n.attr == "commit"}
    loops = reached(code, [node for node in nodes if isinstance(node, ast.For | ast.While)], by=ast.Name)
    ends = reached(code, _ends(nodes), by=ast.Name)
    at_close = reached(code, _at_close(nodes))
    if _closes(code, nodes):
        ends |= at_close
    last = commits & ends
    if _goes_on(code, nodes):
        last |= commits - loops
    if not last and commits & loops and commits - loops and not _each_is_safe(code, nodes, commits & loops):
        where, then = "stands behind the loop", "it never runs"
        if commits & at_close:
            where, then = "is made when `close()` calls `on_revoke`", "`close()` is never called"
        raise NotYet(f"the last commit {where}, and if the loop is interrupted, {then}", EITHER, FINALLY)
    if not last and commits & loops and commits <= _now_and_then(code, nodes):
        raise NotYet(
            "the loop commits now and then, and if it is interrupted, nothing commits what was read since "
            "the last time",
            EITHER,
            f"{FINALLY}, and the commit in it",
        )
    heard = any(isinstance(n, ast.Constant) and n.value == "on_commit" for n in nodes)
    if commits and not heard and not _is_waited_for(nodes, last or commits):
        raise NotYet(
            "the last commit is sent, and the program does not wait for its answer: if it fails, nobody "
            "hears of it",
            "the last one should be waited for, because no later one mends it",
            "`asynchronous=False`, and which of your commits has it",
        )


def _ends(nodes: Nodes) -> list[ast.AST]:
    """Return what runs after an interruption: in `finally`, and where Ctrl-C is caught."""
    ends: list[ast.AST] = [part for node in nodes if isinstance(node, ast.Try) for part in node.finalbody]
    return [*ends, *(n for n in nodes if isinstance(n, ast.ExceptHandler) and catches_ctrl_c(n))]


def _at_close(nodes: Nodes) -> list[ast.expr]:
    """Return the functions for on_revoke: close() calls them."""
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    given = [one for call in calls if name_of(call.func) == "subscribe" for one in call.args[2:3]]
    return given + [word.value for call in calls for word in call.keywords if word.arg == "on_revoke"]


def _each_is_safe(code: ast.AST, nodes: Nodes, commits: Nodes) -> bool:
    """Tell whether a loop with these commits needs no other: one waits, and not only now and then."""
    return _is_waited_for(nodes, commits - _now_and_then(code, nodes))


def _goes_on(code: ast.AST, nodes: Nodes) -> bool:
    """Tell whether a program may go on behind its loop when that is interrupted."""
    closed = _closed(code)
    return any(
        (isinstance(node, ast.With) and not all(_is_closed(i.context_expr, closed) for i in node.items))
        or (isinstance(node, ast.ExceptHandler) and catches_ctrl_c(node) and not _raises_again(node))
        or (isinstance(node, ast.Attribute | ast.Name) and name_of(node) == "signal")
        for node in nodes
    )


def _closes(code: ast.AST, nodes: Nodes) -> bool:
    """Tell whether a consumer is closed, too, when the program is interrupted."""
    closed, ends = _closed(code), reached(code, _ends(nodes))
    return any(isinstance(node, ast.Attribute) and node.attr == "close" for node in ends) or any(
        isinstance(node, ast.With) and any(_is_closed(item.context_expr, closed) for item in node.items)
        for node in nodes
    )


def _closed(code: ast.AST) -> set[str]:
    """Return the names of the consumers that a `with` block of theirs closes."""
    return {name_of(target) for target, value in assigned(code) if _is_closed(value, set())} - {""}


def _is_closed(value: ast.expr, closed: set[str]) -> bool:
    """Tell whether the `with` block of this closes a consumer, and lets an interruption go on."""
    if isinstance(value, ast.Call):
        return name_of(value.func) in ("consumer", "Consumer", "closing")
    return name_of(value) in closed


def _raises_again(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def _now_and_then(code: ast.AST, nodes: Nodes) -> Nodes:
    """Return all that a program does only when it has counted up to something."""
    numbers = {
        target.id
        for target, value in assigned(code)
        if isinstance(target, ast.Name) and _is_some(value, set())
    }
    counted = [node for node in nodes if isinstance(node, ast.If) and _counts(node.test, numbers)]
    return reached(code, [part for node in counted for part in node.body], by=ast.Name)


def _counts(test: ast.expr, numbers: set[str]) -> bool:
    compared = [node for node in ast.walk(test) if isinstance(node, ast.Compare)]
    return any(isinstance(node, ast.Mod) for node in ast.walk(test)) or any(
        _is_some(side, numbers) for node in compared for side in (node.left, *node.comparators)
    )


def _is_some(node: ast.expr, numbers: set[str]) -> bool:
    """Tell whether this is a number that somebody counts up to, or one of the names of such numbers."""
    if isinstance(node, ast.Name):
        return node.id in numbers
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float) and node.value >= SOME


def _is_waited_for(nodes: Nodes, commits: Nodes) -> bool:
    """Tell whether one of these commits waits for its answer; what only names one is believed to."""
    calls = [node for node in nodes if isinstance(node, ast.Call) and node.func in commits]
    return len(calls) < len(commits) or any(_waits(call) for call in calls)


def _waits(call: ast.Call) -> bool:
    """Tell whether commit(message, offsets, asynchronous) waits; a value that is computed is believed to."""
    if any(word.arg is None for word in call.keywords):  # **settings
        return True
    given = [*call.args[2:3], *(word.value for word in call.keywords if word.arg == "asynchronous")]
    return any(not (isinstance(value, ast.Constant) and value.value) for value in given)
