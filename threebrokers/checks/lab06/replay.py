"""What lab 06's check says of records that were read again from a point in time."""

import ast
from typing import Any

from confluent_kafka import Message

from threebrokers import clock
from threebrokers.checks.expect import expect_topic, log_of, messages_only
from threebrokers.checks.lab06.loops import calls, within
from threebrokers.kafka.log_reader import Record
from threebrokers.lab.attempt import attempt
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.text import counted, numbered

MINUTE, BACK = 60_000, 600_000  # ms; the last click is a minute old when it is made
LOOK = "the offsets of `offsets_for_times`, and which of them the consumer is given"

Place = tuple[int, int]


def judge_replay(lab: Lab, topic: str, since: int, replayed: list[Any]) -> None:
    """Raise NotYet unless the list holds each record of the topic that is as young as `since` (ms), once."""
    expect_topic(lab, topic, "webclicks")
    records = log_of(lab, topic)
    expect_since(records, since, clock.now())
    messages = messages_only("replayed", replayed, "poll() or consume(): keep each Message that it returns")
    if not messages:
        raise _nothing(lab, len(records))
    judge_places(records, since, [_place(message, topic) for message in messages])


def _nothing(lab: Lab, count: int) -> NotYet:
    """Return what to say of an empty list; `count` records are in the topic."""
    if came := _received(lab, count):
        return NotYet(
            f"`replayed` is empty, and the consumer got {counted(came, 'record')}: your program kept none",
            "it should keep what is as young as `since`",
            "what your program compares with `since`: the time is the second part of message.timestamp()",
        )
    run = attempt()
    if run is not None and _takes_time_for_offset(run.code):
        return NotYet(
            "`replayed` is empty: the consumer was told to begin at the offset `since`, and this is a time",
            "an offset should be asked for: which one has the first record of that time?",
            "`offsets_for_times`",
        )
    return NotYet(
        "`replayed` is empty: nothing came",
        "the group has read everything before, so it must be taken back first",
        "assign(…) with offsets, or seek(…) when the consumer has its partitions; and how long your loop "
        "waits for the first record",
    )


def _received(lab: Lab, count: int) -> int:
    """Return how many records the consumer of this try got; 0 if nobody can tell.

    The exercise itself has made a consumer of the group before, which has read all `count`.
    """
    groups = [(str(one.config.get("group.id")), one) for one in lab.consumers()]
    own = [(group, one.received) for group, one in groups if "bookers" in group]
    counts = [received for group, received in own if group == own[-1][0]]
    return sum(counts[1:] if counts and counts[0] == count else counts)


def _takes_time_for_offset(code: ast.AST) -> bool:
    """Tell whether the offsets of a program are `since` itself."""
    if calls(code, "offsets_for_times"):
        return False
    places = [
        n for n in ast.walk(code) if isinstance(n, ast.Call) and "TopicPartition" in ast.unparse(n.func)
    ]
    names = [part.id for place in places for part in ast.walk(place) if isinstance(part, ast.Name)]
    return "since" in names


def _stops_at_old(code: ast.AST) -> bool:
    """Tell whether a loop ends at a record that is older than `since`."""
    ends = [
        node
        for node in ast.walk(code)
        if isinstance(node, ast.If) and any(isinstance(part, ast.Break) for part in within(node.body))
    ]
    return any(isinstance(n, ast.Name) and n.id == "since" for node in ends for n in ast.walk(node.test))


def expect_since(records: list[Record], since: int, now: float) -> None:
    """Raise NotYet unless `since` (ms) is ten minutes before the clicks were made, or now (s)."""
    made = max((record.timestamp for record in records), default=0) + MINUTE
    if not made - BACK - MINUTE <= since <= now * 1000 - BACK + MINUTE:
        raise NotYet(
            f"`since` is {since}, which is not ten minutes ago",
            "it should be what the cell computes, in milliseconds",
            "the line `since = …`: leave it as the lab has it",
        )


def judge_places(records: list[Record], since: int, places: list[Place]) -> None:
    """Raise NotYet unless these places (partition, offset) are those of the records since then."""
    stamps = {(record.partition, record.offset): record.timestamp for record in records}
    wanted = {place for place, stamp in stamps.items() if stamp >= since}
    old = [place for place in places if stamps.get(place, since) < since]
    if set(places) == stamps.keys() != wanted:
        raise NotYet(
            "the whole topic came, as for a time of 1970",
            "offsets_for_times takes milliseconds, and only what is young enough is asked for",
            "`TopicPartition(topic, partition, since)`",
        )
    without = {p for p, _ in stamps} - {p for p, _ in wanted}
    if old and {p for p, _ in old} <= without:
        raise NotYet(
            f"`replayed` holds {counted(len(old), 'record')} of {numbered('partition', sorted(without))}, "
            "which has none since then",
            "for such a partition offsets_for_times answers -1, which is its end",
            "what your code makes of -1",
        )
    first = {p: min(offset for place, offset in wanted if place == p) for p, _ in wanted}
    if old and all(offset > first.get(p, offset) for p, offset in old):
        raise NotYet(
            f"`replayed` holds {counted(len(old), 'record')} older than `since`: "
            f"{'it' if len(old) == 1 else 'they'} came late, and {'stands' if len(old) == 1 else 'stand'} "
            "behind younger ones",
            "offsets_for_times finds the first place only, and a log is not in the order of its times",
            "message.timestamp()[1] of each record",
        )
    if old:
        raise NotYet(
            f"`replayed` holds {counted(len(old), 'record')} older than `since`",
            "an offset is no time: ask the brokers which offset belongs to it",
            "`offsets_for_times`",
        )
    missing, run = wanted - set(places), attempt()
    if missing and run is not None and _stops_at_old(run.code):
        raise NotYet(
            f"{counted(len(missing), 'record')} since then {_is(missing)} missing: your loop "
            "ends at the first record that is older than `since`",
            "it should pass over such a record: younger ones stand behind it, and in other partitions",
            "the `break` of your loop",
        )
    silent = sorted({p for p, _ in missing} - {p for p, _ in places})
    if silent:
        raise NotYet(
            f"there is nothing of {numbered('partition', silent)}",
            "every partition has a place of its own for that time",
            f"{LOOK}; and when your loop ends",
        )
    if missing:
        raise NotYet(
            f"{counted(len(missing), 'record')} since then {_is(missing)} missing",
            f"there are {len(wanted)}",
            f"{LOOK}; and how long your loop waits",
        )
    if len(places) > len(set(places)):
        raise NotYet(
            f"{counted(len(places) - len(set(places)), 'record')} came twice",
            "each once is enough",
            "the loop",
        )


def _is(places: set[Place]) -> str:
    return "is" if len(places) == 1 else "are"


def _place(message: Message, topic: str) -> Place:
    fault = message.error()
    if fault is not None or message.topic() != topic:
        said = fault.str() if fault is not None else f"a record of '{message.topic()}'"
        raise NotYet(
            f"`replayed` holds {said}",
            f"only records of '{topic}' belong there",
            "`message.error()`: it is not None for what is no record",
        )
    return int(message.partition() or 0), int(message.offset() or 0)
