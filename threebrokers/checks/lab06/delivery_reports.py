"""Whether a try's program looks at the delivery reports of its dead letters before it goes on.

Its text tells. What is not certain counts as right: a right answer may be written in many ways.
"""

import ast
import builtins
from collections.abc import Iterable, Iterator, Sequence

from confluent_kafka import Producer

from threebrokers.checks.expect import committed
from threebrokers.checks.expect_clients import client_setting
from threebrokers.checks.lab06.program_text import assigned, functions_of, name_of, reached
from threebrokers.checks.lab06.records_read import ends_of_records
from threebrokers.kafka.clients import LabProducer
from threebrokers.lab.attempt import attempt
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab

Function = ast.FunctionDef | ast.Lambda

NAMES = ("on_delivery", "callback")
PLACES = (4, 5)  # of the two among the arguments of produce()
KEEPS = ("append", "appendleft", "add", "extend", "insert", "put", "put_nowait", "set", "update")
RESULTS = ("set_exception", "set_result")  # what a Future is given
SHOWS = ("display", "pprint", "pp")
ENDS = ("exit", "quit", "_exit", "abort", "kill", "result")  # the last one raises what a Future was given
WAITS = ("flush", "poll", "close", "result", "wait", "wait_until", "join", "commit_transaction")
PRODUCERS = ("producer", "Producer")  # a `with` block of one of them closes it, which waits
REFUSED = "if the brokers refuse a dead letter, it should end with an error"
LOOK_AT = "`on_delivery`, and what your loop does before `commit(…)`"


def expect_stored(lab: Lab, postman: Producer, group: str, dead: str, stored: int, number: int) -> None:
    """Raise NotYet if the dead letter of a payment, which is not in its topic, was given to the client.

    `stored` is how many are there. A plain client does not tell what it was given: then nothing is said.
    """
    if not isinstance(postman, LabProducer) or postman.given(dead) <= stored:
        return
    at = committed(lab, group, lab.topic("payments-in")).get(0)
    if at is not None and at > number:
        raise NotYet(
            f"the dead letter of payment {number} was sent and is not stored, and the group has committed "
            f"{at}: nobody has this payment any more",
            "nothing should be committed before a delivery report without an error",
            LOOK_AT,
        )
    raise NotYet(
        f"the brokers have refused the dead letter of payment {number}; your program has noticed it, and "
        "committed nothing behind it",
        "this letter should be stored, too",
        "the error in its delivery report, and the arguments of `produce(…)`",
    )


def expect_heard(postman: Producer) -> None:
    """Raise NotYet if the program of this try could not notice that a dead letter was refused."""
    if client_setting(postman, "transactional.id", ""):  # commit_transaction() raises then
        return
    run = attempt()
    source = _parsed(run.source) if run else None
    listeners = list(_listeners(source)) if source else []
    listens = postman.has_listener if isinstance(postman, LabProducer) else bool(listeners) or not source
    if not listens:
        raise NotYet(
            "all dead letters have arrived, but your program would not have noticed if one had not: flush() "
            "says how many wait for a report, not what the reports say",
            "a dead letter should be known to be stored before the offset of its record is committed",
            LOOK_AT,
        )
    if source and listeners and not any(_looks(source, listener) for listener in listeners):
        raise NotYet(
            "the function for delivery reports does not look at the error, its first argument",
            "without an error, and only then, the dead letter is stored",
            LOOK_AT,
        )
    told = [_known(source, listener) for listener in listeners] if source else []
    if source and told and all(told):
        _expect_an_end(source, [function for functions in told for function in functions])


def expect_flush_first() -> None:
    """Raise NotYet if the program of this try commits behind a produce(), and waits for nothing between."""
    run = attempt()
    source = _parsed(run.source) if run else None
    blocks = [block for node in ast.walk(source or ast.parse("")) for block in _blocks(node)]
    if source and any(_commits_at_once(source, one) or _commits_first(source, one) for one in blocks):
        raise NotYet(
            "your program commits before the dead letter is acknowledged: whoever dies in between has lost "
            "that payment",
            "first the dead letter should be safe",
            "the order of `produce(…)`, `flush()` and `commit(…)`",
        )


def _blocks(node: ast.AST) -> list[list[ast.stmt]]:
    """Return the lists of statements that stand in a node."""
    parts = (getattr(node, name, None) for name in ("body", "orelse", "finalbody"))
    return [part for part in parts if isinstance(part, list)]


def _commits_at_once(source: ast.Module, block: list[ast.stmt]) -> bool:
    """Tell whether a statement commits, and one before it sends, and nothing between them waits.

    What a statement calls belongs to it; what it only defines runs at another time.
    """
    sent = False
    for statement in block:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            continue
        parts = reached(source, [statement], by=ast.Call)
        nodes = _attributes(parts)
        waits = not nodes.isdisjoint(WAITS) or any(
            _closes_at_its_end(source, part) or _waits_otherwise(source, part) for part in parts
        )
        if sent and "commit" in nodes and not waits:
            return True
        sent = not waits and (sent or "produce" in nodes)
    return False


def _commits_first(source: ast.Module, block: list[ast.stmt]) -> bool:
    """Tell whether a statement commits a message in any case, and one behind it sends something of it."""
    committed: set[str] = set()
    for statement in block:
        names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
        sends = _calls(reached(source, [statement], by=ast.Call), "produce")
        if sends and any(name.id in committed for name in names):
            return True
        committed -= {name.id for name in names if isinstance(name.ctx, ast.Store)}
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and name_of(call.func) == "commit":
            given = [*call.args[:1], *(word.value for word in call.keywords if word.arg == "message")]
            committed |= {node.id for node in given if isinstance(node, ast.Name)}
    return False


def _closes_at_its_end(source: ast.Module, node: ast.AST) -> bool:
    """Tell whether this is a `with` block of a producer, made in its head or before."""
    if not isinstance(node, ast.With):
        return False
    named = {name_of(target) for target, value in assigned(source) if _makes_producer(value)} - {""}
    heads = [item.context_expr for item in node.items]
    return any(_makes_producer(head) or name_of(head) in named for head in heads)


def _waits_otherwise(source: ast.Module, node: ast.AST) -> bool:
    """Tell whether this calls what waits by another name, or opens what waits at its end.

    Such an object may be made before its `with` block: any class counts that waits at the end of one.
    """
    if isinstance(node, ast.Call):
        named = {name_of(target) for target, value in assigned(source) if name_of(value) in WAITS}
        return name_of(node.func) in named - {""}
    ends = [one for one in ast.walk(source) if isinstance(one, ast.FunctionDef) and one.name == "__exit__"]
    return isinstance(node, ast.With) and not _attributes(reached(source, ends, by=ast.Call)).isdisjoint(
        WAITS
    )


def _attributes(nodes: Iterable[ast.AST]) -> set[str]:
    return {node.attr for node in nodes if isinstance(node, ast.Attribute)}


def _makes_producer(value: ast.AST) -> bool:
    return any(isinstance(node, ast.Call) and name_of(node.func) in PRODUCERS for node in ast.walk(value))


def learns_by_flush(postman: LabProducer) -> bool:
    """Tell whether the program can know that a letter is stored only when a flush() or poll() has ended.

    Inside it the function for delivery reports may know, and commit.
    """
    if not postman.has_listener:
        return True
    run = attempt()
    source = _parsed(run.source) if run else None
    if source is None:
        return False
    told = [_known(source, listener) for listener in _listeners(source)]
    inside = reached(source, [function for functions in told for function in functions])
    return bool(told) and all(told) and _calls(ast.walk(source), "flush") and not _calls(inside, "commit")


def _expect_an_end(source: ast.Module, listeners: list[Function]) -> None:
    """Raise NotYet unless an error in a report ends the program, before it commits."""
    inside = reached(source, listeners)
    outside = [node for node in ast.walk(source) if node not in inside]
    own = set(functions_of(source))
    if any(_ends(node) or _is_of_elsewhere(node, own) for node in inside):
        return
    kept = _kept(listeners)
    looks = [node for node in outside if isinstance(node, ast.Name | ast.Attribute) and _is_look(node, kept)]
    if not looks:
        where = f"in `{kept[0]}`, and nothing looks at them" if kept else "nowhere, and raises nothing"
        raise NotYet(
            f"your function keeps the delivery reports {where}: so the program goes on when a dead letter "
            "was refused",
            REFUSED,
            LOOK_AT,
        )
    given = {part for node in outside if _is_of_elsewhere(node, own) for part in ast.walk(node)}
    if given & set(looks):
        return
    ends = {node for node in outside if _ends(node)} - ends_of_records(source, outside, kept)
    if not ends and not _raises_again(source, kept):
        raise NotYet(
            "your program looks at the delivery reports, and none of its lines ends it with an error if a "
            "dead letter was refused",
            REFUSED,
            "`raise RuntimeError(…)` where your program looks at them",
        )
    _expect_a_look_first(source, looks)


def _expect_a_look_first(source: ast.Module, looks: list[ast.Name | ast.Attribute]) -> None:
    """Raise NotYet if all looks stand behind all commits; what stands in functions runs at other times."""
    functions = [node for node in ast.walk(source) if isinstance(node, ast.FunctionDef)]
    deferred = {part for function in functions for part in ast.walk(function)}
    commits = [n for n in ast.walk(source) if isinstance(n, ast.Attribute) and n.attr == "commit"]
    if not commits or deferred & {*commits, *looks}:
        return
    if min(look.lineno for look in looks) > max(commit.lineno for commit in commits):
        raise NotYet(
            "your program commits first, and looks at the delivery reports only then",
            "nothing should be committed before a delivery report without an error",
            LOOK_AT,
        )


def _parsed(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except SyntaxError:  # a magic, for example
        return None


def _listeners(source: ast.Module) -> Iterator[ast.expr]:
    """Yield what a program passes as a function for delivery reports: to produce(), or in settings."""
    for node in ast.walk(source):
        if isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            yield from (value for key, value in pairs if isinstance(key, ast.Constant) and key.value in NAMES)
        elif isinstance(node, ast.Call):
            yield from (word.value for word in node.keywords if word.arg in NAMES)
            if isinstance(node.func, ast.Attribute) and node.func.attr == "produce":
                yield from node.args[PLACES[0] : PLACES[-1] + 1]


def _known(source: ast.Module, listener: ast.expr) -> list[Function]:
    """Return the functions of this cell that a listener may be; none if it is not of this cell."""
    if isinstance(listener, ast.Lambda):
        return [listener]
    name = name_of(listener)
    return [n for n in ast.walk(source) if isinstance(n, ast.FunctionDef) and n.name == name]


def _looks(source: ast.Module, listener: ast.expr) -> bool:
    """Tell whether a function uses its arguments; one that is not in this cell is believed to."""
    functions = _known(source, listener)
    return not functions or any(map(_uses, functions))


def _uses(function: Function) -> bool:
    names = _arguments(function)
    if not names:  # *arguments: who takes all may look at all
        return True
    used = {node.id for part in _body(function) for node in ast.walk(part) if isinstance(node, ast.Name)}
    return not used.isdisjoint(names[:2])  # the error; the letter has one, too


def _kept(listeners: list[Function]) -> list[str]:
    """Return the names in which these functions keep what they are told: `told` of told.append(error)."""
    nodes = [node for one in listeners for part in _body(one) for node in ast.walk(part)]
    calls = [node.func for node in nodes if isinstance(node, ast.Call)]
    boxes: list[ast.AST] = [
        call.value for call in calls if isinstance(call, ast.Attribute) and call.attr in (*KEEPS, *RESULTS)
    ]
    stored = [node for node in nodes if isinstance(getattr(node, "ctx", None), ast.Store)]
    boxes += [node.value if isinstance(node, ast.Subscript) else node for node in stored]
    return [name for name in map(name_of, boxes) if name]


def _is_look(node: ast.Name | ast.Attribute, kept: list[str]) -> bool:
    return name_of(node) in kept and isinstance(node.ctx, ast.Load)


def _ends(node: ast.AST) -> bool:
    """Tell whether this may end a program with an error; a `raise` by itself is about another error."""
    if isinstance(node, ast.Raise):
        return node.exc is not None
    return isinstance(node, ast.Assert) or (isinstance(node, ast.Call) and name_of(node.func) in ENDS)


def _raises_again(source: ast.Module, kept: list[str]) -> bool:
    """Tell whether a `raise` by itself stands in an `if` that asks the reports, or flush()."""
    tests = [node for node in ast.walk(source) if isinstance(node, ast.If)]
    nearest = {part: test.test for test in tests for part in ast.walk(test)}  # the inner ones come last
    asked = [list(ast.walk(nearest[n])) for n in nearest if isinstance(n, ast.Raise) and n.exc is None]
    return any(
        _calls(nodes, "flush")
        or any(isinstance(node, ast.Name | ast.Attribute) and _is_look(node, kept) for node in nodes)
        for nodes in asked
    )


def _is_of_elsewhere(node: ast.AST, own: set[str]) -> bool:
    """Tell whether this calls a function that is not of this cell: it may do all that is needed.

    To make an error raises nothing, and to show one neither; a method that is given an error may raise it.
    """
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute):
        given = [arg.func for arg in node.args if isinstance(arg, ast.Call)]
        return node.func.attr not in KEEPS and any(map(_makes_error, given))
    name = name_of(node.func)
    known = name in own or hasattr(builtins, name) or name in SHOWS or _makes_error(node.func)
    return bool(name) and not known


def _makes_error(function: ast.expr) -> bool:
    """Tell whether this is the name of a class of errors, KafkaException for example."""
    name = function.id if isinstance(function, ast.Name) else ""
    return name[:1].isupper() and name.endswith(("Exception", "Error"))


def _calls(nodes: Iterable[ast.AST], method: str) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr == method for node in nodes)


def _arguments(function: Function) -> list[str]:
    given = (*function.args.posonlyargs, *function.args.args)
    return [argument.arg for argument in given if argument.arg != "self"]


def _body(function: Function) -> Sequence[ast.AST]:
    return [function.body] if isinstance(function, ast.Lambda) else function.body
