"""What lab 09 says of tables that a program has built from a topic."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from threebrokers.checks.expect import expect_topic, log_of
from threebrokers.kafka.clients import LabConsumer
from threebrokers.kafka.log_reader import Record
from threebrokers.lab.attempt import attempt
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios import Starts
from threebrokers.lab.scenarios.last_values import AFTERNOON, LATER, MORNING, OPENING, folded

LOOK = "load(topic)"
CALL = "starts = two_starts(lab, load), the last lines of the exercise's cell"
FIRST, SECOND = "starts.first", "starts.second"


def judge_tables(lab: Lab, starts: Starts) -> None:
    """Raise NotYet unless the first table is the morning's last prices, and the second the afternoon's."""
    topic = starts.topic
    expect_topic(lab, topic, "board")
    log = log_of(lab, topic)
    if folded(log) != LATER:
        raise NotYet(
            f"'{topic}' does not hold the prices of the afternoon",
            "they should come between the two calls",
            CALL,
        )
    first, second = (plain(table) for table in (starts.first, starts.second))
    if not first:
        raise _empty(lab, FIRST)
    if starts.first is starts.second:
        raise NotYet(
            "both calls returned the same dictionary, which was kept in memory",
            "after a restart the table is empty, so each call should begin with a new one",
            LOOK,
        )
    judge_table(FIRST, first, MORNING, OPENING)
    if not second and _not_left(lab, topic):
        raise NotYet(
            f"`{SECOND}` is empty: the consumer of the first call is still a member of the group, and has "
            "the only partition",
            "a consumer that is done should leave its group",
            f"{LOOK}: what should happen to the consumer at its end",
        )
    if not second:
        raise _empty(lab, SECOND)
    if second.keys() <= dict(AFTERNOON).keys():
        raise NotYet(
            f"`{SECOND}` has only what came since the first call ({len(second)} shares)",
            f"after a restart the table is empty, so all {len(LATER)} shares are to be read again",
            "where a consumer of a group begins that has committed something",
        )
    _judge_memory(first, second, log)
    judge_table(SECOND, second, (*MORNING, *AFTERNOON), LATER)


def _judge_memory(first: Mapping[str, Any], second: Mapping[str, Any], log: Iterable[Record]) -> None:
    """Raise NotYet if the second table has a share of the first one of which the log holds no record."""
    there = {_text(record.key) for record in log}
    if kept := [key for key in second if key in first and key not in there]:
        raise NotYet(
            f"`{SECOND}` shows {second[kept[0]]} for {kept[0]}, of which the topic holds no record any more: "
            "so this was kept from the first call",
            "after a restart memory is empty, so the table should come from the topic alone",
            f"{LOOK}: with which table it begins, and at which offset",
        )


def _not_left(lab: Lab, topic: str) -> bool:
    """Tell whether a consumer of this try that is not its newest one holds the topic's partition."""
    return any((topic, 0) in consumer.held for consumer in lab.consumers()[:-1])


def plain(table: object) -> dict[str, Any]:
    """Return a table with text for bytes, whoever made it; None stays. NotYet if it is no table."""
    if not isinstance(table, Mapping):
        raise NotYet(f"load(topic) returned {table!r:.40}", "it should return a dictionary", LOOK)
    return {str(_text(key)): _text(value) for key, value in table.items()}


def _text(part: Any) -> Any:
    if isinstance(part, bytes):
        return part.decode("utf-8", "replace")
    return f"{part:g}" if isinstance(part, int | float) and not isinstance(part, bool) else part


def judge_table(
    name: str, table: Mapping[str, Any], sent: Sequence[tuple[str, str | None]], right: Mapping[str, str]
) -> None:
    """Raise NotYet unless the table called `name` is the right one after these records."""
    if dict(table) == dict(right):
        return
    taken = [key for key, value in sent if value is None and key not in right]
    first_null = next(place for place, (_, value) in enumerate(sent) if value is None)
    if dict(table) == dict(sent[:first_null]):
        raise NotYet(
            f"`{name}` ends before the first record without a value: such a message has the length 0, and so "
            "it counts as false",
            "the loop should go on to the end of the log",
            "`while message := …`: what ends that loop?",
        )
    if nulls := [key for key, value in table.items() if value is None]:
        raise NotYet(
            f"`{name}` has {nulls[0]} with the value None",
            "whoever asks for it should find that it is gone",
            f"{LOOK}: what a record without a value says of its key",
        )
    if kept := [key for key in taken if key in table]:
        raise NotYet(
            f"`{name}` shows {table[kept[0]]} for {kept[0]}, which was taken away",
            "it should not be in the table any more",
            f"{LOOK}: what a record without a value says of its key",
        )
    if missing := [key for key in right if key not in table]:
        back = any(key == missing[0] and value is None for key, value in sent)
        why = ", which was taken away and came back" if back else ""
        raise NotYet(
            f"`{name}` lacks {missing[0]}{why}",
            f"it should have {len(right)} shares",
            f"{LOOK}: in what order it does what the records say, and when it ends",
        )
    if strange := [key for key in table if key not in right]:
        raise NotYet(f"`{name}` has {strange[0]!r}", "it should have shares", LOOK)
    key = next(key for key in right if table[key] != right[key])
    older = any(record == (key, table[key]) for record in sent)
    raise NotYet(
        f"`{name}` shows {'the older price ' if older else ''}{table[key]!r} for {key}",
        f"the last one is {right[key]}",
        f"{LOOK}: which of two records of a key counts",
    )


def _empty(lab: Lab, name: str) -> NotYet:
    """Return why nothing came at that start, as far as the consumers of this try tell."""
    run = attempt()
    consumers: list[LabConsumer] = lab.consumers() if run is not None else []
    last = consumers[-1] if consumers else None
    if last is not None and not last.asked:
        return NotYet(
            f"`{name}` is empty: the consumer was never told what to read",
            "it should have every share",
            f"{LOOK}: subscribe([topic]), or assign",
        )
    reset = str(last.config.get("auto.offset.reset", "latest")) if last is not None else ""
    if last is not None and last.subscribed and reset not in ("earliest", "smallest", "beginning"):
        return NotYet(
            f"`{name}` is empty: a new group begins at the end of the log (auto.offset.reset is {reset})",
            "it should begin at the start of the log",
            LOOK,
        )
    return NotYet(
        f"`{name}` is empty",
        "it should have every share; the first records take a moment to come",
        f"{LOOK}: how long it waits for the first record, and what it returns",
    )
