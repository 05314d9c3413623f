"""Exercise 5.8: whether a deserializer gives back what its serializer was given."""

from collections.abc import Callable, Sequence
from typing import Any

from threebrokers.checks.expect_calls import called
from threebrokers.kafka.log_reader import Record
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.values import told

STAGES = ("welding", "Prüfung", "质检", "", None)
# Not sent by the lab's cell: the check alone asks about them. The last one begins with a mark that some
# decoders take away.
MORE_STAGES = ("painting", "Lackiererei", "None", " welding ", "Weld\ning", "\ufeffwelding")
BROKEN = (b"\xff\xfewelding", b"weld\xc3")  # no text in UTF-8
ANY_STAGE = "a stage can have any name"
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
    for stage in (*STAGES, *MORE_STAGES):
        data = stage if stage is None else stage.encode()
        what = f"`stage_from_bytes({data!r})`"
        made = _read(what, stage_from_bytes, data, stage)
        if made != stage or isinstance(made, str) != isinstance(stage, str):
            raise _other(what, data, made, stage)
    for data in BROKEN:
        _judge_broken(stage_from_bytes, data)


def _read(what: str, stage_from_bytes: Callable[..., Any], data: bytes | None, stage: str | None) -> Any:
    try:
        return called(what, stage_from_bytes, data)
    except NotYet as fault:
        if stage not in MORE_STAGES or not isinstance(fault.__cause__, ValueError | LookupError):
            raise
        raise NotYet(fault.found, f"it should return {stage!r}: {ANY_STAGE}", CODE) from fault.__cause__


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
    if stage in MORE_STAGES and made is None:
        return NotYet(found, f"it should return {stage!r}: {ANY_STAGE}, and only None is none", CODE)
    if isinstance(made, str) and stage and made in (stage.strip(), stage.lstrip("\ufeff")):
        return NotYet(found, f"it should return {stage!r}, as it was given", "what else you do with the text")
    if not stage:
        return NotYet(
            found,
            "it should return '': an empty text is a stage, and only None is none",
            "what you ask of `data`",
        )
    return NotYet(found, f"it should return {stage!r}: the bytes are UTF-8", CODE)


def _judge_broken(stage_from_bytes: Callable[..., Any], data: bytes) -> None:
    what, wanted = f"`stage_from_bytes({data!r})`", "it should raise a ValueError: these bytes are no UTF-8"
    try:
        made = stage_from_bytes(data)
    except ValueError:
        return
    except Exception as fault:
        raise NotYet(f"{what} ended with {type(fault).__name__}", wanted, CODE) from fault
    if isinstance(made, BaseException):
        raise NotYet(
            f"{what} returned an error ({type(made).__name__}) as if it were a stage",
            wanted,
            "the `return` before the error: `raise` ends the function with it",
        )
    if made is None:
        raise NotYet(
            f"{what} returned None, as for an alert without a stage",
            wanted,
            "what takes the error away: an `except`, or a `return` before it",
        )
    if isinstance(made, str):
        raise NotYet(
            f"{what} returned {told(made)}, a stage that nobody has written",
            wanted,
            "what else you give to decode(), or return in place of its error",
        )
    raise NotYet(f"{what} returned {told(made)}", wanted, CODE)
