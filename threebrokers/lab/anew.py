"""The exercise's cell once more, as after a restart of the program: what it only remembers is gone."""

import contextlib
import io
from collections.abc import Callable
from typing import Any

from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient

from threebrokers.lab.attempt import attempt
from threebrokers.lab.lab import Lab
from threebrokers.notebook import shell

# With one of these a cell would do its work a second time, and not only define something again.
DOING = (Lab, Producer, Consumer, AdminClient)


def defined_anew(name: str) -> Callable[..., Any] | None:
    """Return the function `name` as the judged cell would define it in a new process; None if nobody knows.

    The cell runs in a copy of the notebook's names, without the lab and its clients; a statement that needs
    one is left out. hash() of a text is another number there, as it is in each process.
    """
    run, here = attempt(), shell()
    if run is None or here is None:
        return None
    names = {key: value for key, value in here.user_ns.items() if not isinstance(value, DOING)}
    names.pop(name, None)
    names["hash"] = hash_elsewhere
    with contextlib.redirect_stdout(io.StringIO()):
        for statement in run.statements:
            with contextlib.suppress(Exception):
                exec(statement, names)  # noqa: S102 - the learner's own cell
    found = names.get(name)
    return found if callable(found) else None


def hash_elsewhere(value: Any) -> int:
    """Return what hash() could be in another process: the same of a number, another one of a text."""
    if isinstance(value, tuple):
        return hash(tuple(map(hash_elsewhere, value)))
    return hash(value) if isinstance(value, int | float) else hash(("elsewhere", value))
