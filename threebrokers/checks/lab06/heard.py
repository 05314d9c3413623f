"""What lab 06's check says of three groups that got nothing."""

from collections.abc import Mapping
from typing import Any

from threebrokers.checks.expect import committed, expect_topic, log_of, messages_only
from threebrokers.checks.expect_clients import expect_closed
from threebrokers.kafka.clients import LabConsumer
from threebrokers.lab.exercise import NotYet, eventually
from threebrokers.lab.lab import Lab
from threebrokers.text import counted

COMMIT_SECONDS = 1.0
HEADLINES = 5


def judge_heard(lab: Lab, topic: str, silent: Mapping[Any, Any], got: Mapping[Any, Any]) -> None:
    """Raise NotYet unless each of A, B and C has got every record of the topic, and its group committed."""
    expect_topic(lab, topic, "headlines")
    wanted = [record.offset for record in log_of(lab, topic)]
    if len(wanted) > HEADLINES:
        raise NotYet(
            f"{topic!r} holds {len(wanted)} records",
            "the five that were there should be read, and none be added",
            "the cell of the exercise, which makes the topic anew",
        )
    for name in "ABC":
        if name not in got:
            raise NotYet(f'there is no `got["{name}"]`', "it should be a list of five records", "the loop")
        values = got[name]
        if not isinstance(values, list | tuple):
            raise NotYet(
                f'`got["{name}"]` is {values!r:.40}', "it should be a list", "`consume(5, timeout=…)`"
            )
        offsets = _offsets(f'got["{name}"]', list(values), topic)
        if not offsets:
            raise NotYet(
                f'`got["{name}"]` is empty',
                "five records are there for its group",
                f'`lab.why_empty(silent["{name}"], headlines)`, which names the cause',
            )
        if sorted(offsets) != wanted:
            raise NotYet(
                f'`got["{name}"]` holds {counted(len(offsets), "record")}, of the offsets {sorted(offsets)}',
                f"it should be {wanted}, each once",
                "where its group begins to read",
            )
    for name in "ABC":
        group = _group(silent, name)
        eventually(
            lambda group=group, name=name: _has_committed(lab, group, name, topic, wanted[-1] + 1),  # type: ignore[misc]
            what=f"the commit of {name}",
            within=COMMIT_SECONDS,
        )
        expect_closed(lab, group, f"what reads for {name}")


def _offsets(name: str, values: list[Any], topic: str) -> list[int]:
    messages = messages_only(name, values, "consume(5, timeout=…), which returns such a list")
    for message in messages:
        if fault := message.error():
            raise NotYet(
                f"`{name}` holds the error {fault.str()}", "it should hold records", "the topic's name"
            )
        if message.topic() != topic:
            raise NotYet(
                f"`{name}` holds a record of '{message.topic()}'",
                f"they are in '{topic}'",
                "the subscription",
            )
    return [int(message.offset() or 0) for message in messages]


def _group(silent: Mapping[Any, Any], name: str) -> str:
    consumer = silent.get(name)
    if not isinstance(consumer, LabConsumer):
        raise NotYet(
            f'`silent["{name}"]` is {consumer!r:.40}',
            "it should be one of the three consumers",
            "`three_without_records(lab)`: run the cell again",
        )
    return str(consumer.config.get("group.id"))


def _has_committed(lab: Lab, group: str, name: str, topic: str, end: int) -> None:
    at = committed(lab, group, topic).get(0)
    if at == end:
        return
    said = "nothing" if at is None else f"offset {at}"
    raise NotYet(
        f"all records came, but the group of {name} has committed {said}",
        f"the same group should have read them, and have committed {end}",
        "the `group.id` of the consumer, `commit()`, and `close()`",
    )
