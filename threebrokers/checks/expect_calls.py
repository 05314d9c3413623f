"""Calling what the learner has written: what it stumbles over is told in one sentence."""

from collections.abc import Callable
from typing import Any

from confluent_kafka import KafkaException

from threebrokers.errors import LabError
from threebrokers.lab.exercise import NotYet

SAME = "the cell of the exercise: call it yourself with the same values"


def called(what: str, function: Callable[..., Any], *arguments: Any, look_at: str = SAME) -> Any:
    """Return what a function of the learner returns; NotYet, with `what` was called, if it raises."""
    try:
        return function(*arguments)
    except LabError:
        raise
    except Exception as fault:
        raise stumbled(what, fault, look_at) from fault


def stumbled(what: str, fault: Exception, look_at: str) -> NotYet:
    """Return what to say of an error in the learner's own code; one of the course has its own next step."""
    if isinstance(fault, LabError):
        said = f"{fault.what[:1].lower()}{fault.what[1:]}".rstrip(".")
        return NotYet(
            f"{what} ended in an error: {said}", fault.next_step or "it should run to its end", look_at
        )
    if isinstance(fault, KafkaException) and fault.args and hasattr(fault.args[0], "str"):
        said = str(fault.args[0].str())
    else:
        said = (str(fault).splitlines() or [""])[0]
    return NotYet(
        f"{what} ended with {type(fault).__name__}{': ' if said else ''}{said.rstrip('.')}",
        "it should run to its end",
        look_at,
    )
