"""What the text of lab 06's programs tells of their threads: what runs in them, and what keeps them waiting.

What is not certain counts as harmless: a check asks only when something has gone wrong, and a right answer
may be written in many ways.
"""

import ast
from collections.abc import Iterator

from threebrokers.checks.lab06.program_text import NAMED, Nodes, functions_of, name_of

# Who calls one of them may wait for a thread: a queue and a lock tell of its end, too.
WAITS = ("join", "result", "shutdown", "wait", "is_alive", "acquire", "get")


def given_to_threads(program: ast.Module) -> list[ast.expr | ast.FunctionDef]:
    """Return the functions that threads are to run, as the program names them."""
    return [function for node in ast.walk(program) for function in _given(node)]


def in_threads(program: ast.Module) -> Nodes:
    """Return all that runs in threads: the functions that they are given, and what these call."""
    functions = functions_of(program)
    found: Nodes = set()
    begun: list[ast.AST] = [*given_to_threads(program)]
    while begun:
        function: ast.AST | None = begun.pop()
        if isinstance(function, ast.Name | ast.Attribute):
            function = functions.get(name_of(function))
        if function is None or function in found:
            continue
        nodes = set(ast.walk(function))
        found |= nodes
        begun += [node.func for node in nodes if isinstance(node, ast.Call)]
    return found


def longest_sleep(program: ast.Module) -> float:
    """Return how long (s) the program sleeps at most, where neither Ctrl-C nor an event wakes it."""
    return max((_sleep_of(node, program) for node in deaf(program)), default=0.0)


def deaf(program: ast.Module) -> Nodes:
    """Return all that Ctrl-C does not wake.

    It ends a sleep or a poll() of the main thread by its KeyboardInterrupt. It ends none in another thread,
    none that begins afterwards, and none at all if the program has a handler of its own.
    """
    if _has_handler(program):
        return set(ast.walk(program))
    return in_threads(program) | _after_ctrl_c(program)


def closes_elsewhere(program: ast.Module) -> bool:
    """Tell whether a consumer is polled in a thread, and closed outside it while that one may still run."""
    threads = in_threads(program)
    calls = [node for node in ast.walk(program) if isinstance(node, ast.Call)]
    polls = [call for call in calls if _method(call) in ("poll", "consume")]
    closes = [call for call in calls if _method(call) == "close"]
    if not polls or not closes or any(call not in threads for call in polls):
        return False
    harmless = threads | _locked(program)
    if any(call in harmless for call in closes):
        return False
    if any(name_of(call.func).endswith("Executor") for call in calls):
        return False  # an executor waits for its threads, where its block ends
    # An event without a name is one that nobody sets: it waits for Ctrl-C, and for no thread.
    waits = [call for call in calls if _method(call) in WAITS and not _is_new(call) and call not in threads]
    return not any(
        min(_lines(wait, program, beside=close)) <= max(_lines(close, program, beside=wait))
        for wait in waits
        for close in closes
    )


def catches_ctrl_c(handler: ast.ExceptHandler) -> bool:
    """Tell whether an `except` catches what Ctrl-C raises."""
    caught = ("KeyboardInterrupt", "BaseException")
    return handler.type is None or any(name in ast.unparse(handler.type) for name in caught)


def _lines(call: ast.Call, program: ast.Module, *, beside: ast.Call) -> set[int]:
    """Return where a call may run: its own line, and those that name a function in which it stands.

    A function in which both stand does not tell which of them comes first.
    """
    nodes = list(ast.walk(program))
    functions = {node: set(ast.walk(node)) for node in nodes if isinstance(node, ast.FunctionDef)}
    found: set[int] = set()
    left: list[ast.expr] = [call]
    while left:
        node = left.pop()
        if node.lineno in found:
            continue
        found.add(node.lineno)
        around = {f.name for f, inside in functions.items() if node in inside and beside not in inside}
        left += [n for n in nodes if isinstance(n, NAMED) and name_of(n) in around]
    return found


def _locked(program: ast.Module) -> Nodes:
    """Return all that runs in a block of `with lock:`, which may keep the thread out meanwhile."""
    blocks = [node for node in ast.walk(program) if isinstance(node, ast.With)]
    locked = [b for b in blocks if any(isinstance(i.context_expr, ast.Name | ast.Attribute) for i in b.items)]
    return {node for block in locked for node in ast.walk(block)}


def _given(node: ast.AST) -> Iterator[ast.expr | ast.FunctionDef]:
    if isinstance(node, ast.ClassDef) and any(name_of(base) == "Thread" for base in node.bases):
        yield from (part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "run")
    if isinstance(node, ast.Call) and name_of(node.func) == "Thread":
        yield from node.args[1:2]
        yield from (word.value for word in node.keywords if word.arg == "target")
    if isinstance(node, ast.Call) and name_of(node.func) == "submit":
        yield from node.args[:1]


def _after_ctrl_c(program: ast.Module) -> Nodes:
    """Return what the main thread runs when Ctrl-C has come: behind until_ctrl_c(), and as it cleans up."""
    nodes = list(ast.walk(program))
    parts: list[ast.AST] = [part for node in nodes if isinstance(node, ast.Try) for part in node.finalbody]
    parts += [node for node in nodes if isinstance(node, ast.ExceptHandler) and catches_ctrl_c(node)]
    waited = False
    for statement in program.body:
        if waited and not isinstance(statement, ast.FunctionDef | ast.ClassDef):
            parts.append(statement)
        call = statement.value if isinstance(statement, ast.Expr) else None
        waited = waited or (isinstance(call, ast.Call) and name_of(call.func) == "until_ctrl_c")
    return {node for part in parts for node in ast.walk(part)}


def _has_handler(program: ast.Module) -> bool:
    """Tell whether the program has a handler for signals that raises nothing, so that a sleep goes on."""
    nodes = list(ast.walk(program))
    called = {name_of(node.func) for node in nodes if isinstance(node, ast.Call)}
    return "signal" in called and "exit" not in called and not any(isinstance(n, ast.Raise) for n in nodes)


def _sleep_of(node: ast.AST, program: ast.Module) -> float:
    """Return how long (s) a call sleeps; 0 for all else, and for a wait that an event may end."""
    if not isinstance(node, ast.Call):
        return 0.0
    sleeps = name_of(node.func) == "sleep" or (_method(node) == "wait" and _is_deaf(node, program))
    given = [*node.args[:1], *(word.value for word in node.keywords if word.arg == "timeout")]
    known = given[0].value if sleeps and given and isinstance(given[0], ast.Constant) else 0.0
    return float(known) if isinstance(known, int | float) else 0.0


def _is_deaf(wait: ast.Call, program: ast.Module) -> bool:
    """Tell whether this is the wait(…) of an event that the program never sets."""
    if _is_new(wait):
        return True
    assert isinstance(wait.func, ast.Attribute)
    event = ast.unparse(wait.func.value)
    nodes = list(ast.walk(program))
    made = [node for node in nodes if isinstance(node, ast.Assign) and _is_event(node.value)]
    known = {ast.unparse(target) for node in made for target in node.targets}
    set_ = {ast.unparse(n.value) for n in nodes if isinstance(n, ast.Attribute) and n.attr == "set"}
    return event in known - set_


def _is_new(wait: ast.Call) -> bool:
    return isinstance(wait.func, ast.Attribute) and _is_event(wait.func.value)


def _is_event(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and name_of(node.func) == "Event"


def _method(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""
