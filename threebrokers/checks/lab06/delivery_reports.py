"""Whether a try's program looks at the delivery reports of its dead letters before it goes on."""

import ast
from collections.abc import Iterator

from confluent_kafka import Producer

from threebrokers.checks.expect import committed
from threebrokers.checks.expect_clients import client_setting
from threebrokers.kafka.clients import LabProducer
from threebrokers.lab.attempt import attempt
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab

NAMES = ("on_delivery", "callback")
PLACES = (4, 5)  # of the two among the arguments of produce()
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


def _looks(source: ast.Module, listener: ast.expr) -> bool:
    """Tell whether a function uses its first argument; one that is not in this cell is believed to."""
    if isinstance(listener, ast.Lambda):
        return _uses(listener.args, [listener.body])
    named = [
        node
        for node in ast.walk(source)
        if isinstance(node, ast.FunctionDef)
        and isinstance(listener, ast.Name | ast.Attribute)
        and node.name == (listener.id if isinstance(listener, ast.Name) else listener.attr)
    ]
    return not named or any(_uses(node.args, node.body) for node in named)


def _uses(arguments: ast.arguments, body: list[ast.stmt] | list[ast.expr]) -> bool:
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args) if argument.arg != "self"]
    if not names:  # *arguments: who takes all may look at all
        return True
    used = {node.id for part in body for node in ast.walk(part) if isinstance(node, ast.Name)}
    return names[0] in used
