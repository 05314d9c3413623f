"""Exercise 5.8: whether a deserializer gives back what its serializer was given."""

from collections.abc import Callable, Sequence
from typing import Any

from threebrokers.checks.lab05.calls import called
from threebrokers.kafka.log_reader import Record
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.values import told

STAGES = ("welding", "Prüfung", "质检", "", None)
BROKEN = b"\xff\xfewelding"  # no text in UTF-8
CODE = "`stage_from_bytes` in the cell of the exercise"


def judge_stages(records: Sequence[Record]) -> None:
    """Raise NotYet unless the topic holds the key of each stage once, in their order."""
    wanted = [stage if stage is None else stage.encode() for stage in STAGES]
    if [record.key for record in records] != wanted:
        raise NotYet(
            f"the topic 'stages' holds {len(records)} records",
            f"it should hold one for each of the {len(STAGES)} keys",
            "the cell of the exercise: run it again",
        )


def judge_deserializer(stage_from_bytes: Callable[..., Any]) -> None:
    """Raise NotYet unless each stage comes back as it was, None too, and what is no UTF-8 is an error."""
    for stage in STAGES:
        data = stage if stage is None else stage.encode()
        what = f"`stage_from_bytes({data!r})`"
        made = called(what, stage_from_bytes, data)
        if made != stage or isinstance(made, str) != isinstance(stage, str):
            raise _other(what, data, made, stage)
    _judge_broken(stage_from_bytes)


def _other(what: str, data: bytes | None, made: Any, stage: str | None) -> NotYet:
    found = f"{what} returned {told(made)}"
    if stage is None:
        return NotYet(
            found, "it should return None: a record without a key has no stage", "what `data` is then"
        )
    if isinstance(made, bytes):
        return NotYet(found, f"it should return the text {stage!r}, which .decode() makes of bytes", CODE)
    if made == str(data):
        return NotYet(
            f"{found}, which is how Python shows bytes", f"it should return the text {stage!r}", CODE
        )
    if not stage:
        return NotYet(
            found,
            "it should return '': an empty text is a stage, and only None is none",
            "what you ask of `data`",
        )
    return NotYet(found, f"it should return {stage!r}: the bytes are UTF-8", CODE)


def _judge_broken(stage_from_bytes: Callable[..., Any]) -> None:
    what = f"`stage_from_bytes({BROKEN!r})`"
    try:
        made = stage_from_bytes(BROKEN)
    except ValueError:
        return
    except Exception as fault:
        raise NotYet(
            f"{what} ended with {type(fault).__name__}",
            "it should raise a ValueError: these bytes are no UTF-8",
            CODE,
        ) from fault
    raise NotYet(
        f"{what} returned {told(made)}, a stage that nobody has written",
        "it should raise a ValueError: these bytes are no UTF-8",
        "what else you give to decode()",
    )
