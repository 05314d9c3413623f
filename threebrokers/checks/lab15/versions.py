"""Exercise 15.4: two versions of a query side by side, judged by what they wrote and what the office sent."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from threebrokers.data.replay import late_departures
from threebrokers.kafka.log_reader import Record
from threebrokers.lab.exercise import NotYet
from threebrokers.spark.checkpoint import query_id
from threebrokers.spark.office import key_of
from threebrokers.spark.steps import offsets
from threebrokers.spark.versions import Day, is_before
from threebrokers.text import counted, quoted

LIMIT = 120
START = "the arguments of vouchers(…)"
ORDER = "the order of the lines in change_over"


def expect_places(day: Day, first: Path) -> None:
    """Raise NotYet unless the checkpoint `first` is that of version 1, and of no other query."""
    number, run = day.old
    if query_id(first) != number:
        raise NotYet(
            "the checkpoint of version 1 is gone",
            "as long as it is there, version 1 can go on if version 2 is wrong",
            "the folder that vouchers(…) is given",
        )
    seen = [day.running, *(change.running for change in day.changes)]
    if any(ran.get(number, run) != run for ran in seen):
        raise NotYet(
            "version 2 has gone on with the checkpoint of version 1, or with a copy, which has "
            "the same query id: Spark has stopped version 1 then",
            "each version should begin with an empty place of its own",
            "the folder that vouchers(…) is given, and what is in it",
        )


def judge_old(topic: str, records: Sequence[Record], live: Sequence[Record], first: Path) -> None:
    """Raise NotYet unless the topic holds what version 1 wrote until it ended, and nothing else.

    `live` is the log of the departures; `first` is the checkpoint of version 1. What it has planned and not
    committed may be there or not.
    """
    if not records:
        raise NotYet(
            f"'{topic}' is empty",
            "the results of version 1 are the way back as long as version 2 may be wrong",
            "what is done with `exact-late-v1`",
        )
    done, planned = (_read_to(first / kind, first / "offsets") for kind in ("commits", "offsets"))
    right = [_place(record) for record in live if _delay(record) > LIMIT]
    found = Counter(key_of(record.key) for record in records)
    needed = {key for key in right if is_before(key, done)}
    allowed = {key for key in right if is_before(key, planned)}
    if not needed <= found.keys() <= allowed or found.total() > len(found):
        raise NotYet(
            f"'{topic}' is not as version 1 has left it ({len(records)} records)",
            f"version 1 had written {counted(len(needed), 'voucher')}, and its readers must not get two "
            "versions in one topic",
            START,
        )


def judge_topics(day: Day, live: str) -> None:
    """Raise NotYet if a query beside version 1 reads another topic than `live`, that of the departures."""
    for number, topics in day.reads.items():
        if number != day.old[0] and topics != {live}:
            raise NotYet(f"version 2 reads {quoted(sorted(topics))}", f"departures come into '{live}'", START)


def judge_new(topic: str, records: Sequence[Record]) -> None:
    """Raise NotYet unless the topic holds a voucher for each departure that was late by two hours or more."""
    found, right = delays(records), vouchers(LIMIT)
    if found == right:
        return
    if not records:
        raise NotYet(
            f"'{topic}' holds nothing",
            "a query that was stopped too early, or that was never started, writes nothing",
            "change_over: which query is version 2?",
        )
    if not found[LIMIT]:
        raise NotYet(
            f"'{topic}' has no voucher for a delay of exactly two hours",
            f"{right[LIMIT]} departures have one of {LIMIT} minutes",
            "the condition",
        )
    raise NotYet(
        f"'{topic}' holds {len(records)} vouchers",
        f"{right.total()} departures were late by {LIMIT} minutes or more, and each should be there once: "
        "version 2 should read from the first one, and run on when `change_over` is done",
        f"{START}, the trigger of version 2, and whether something stops it",
    )


def judge_change(day: Day, old: str, new: str, live: Sequence[Record]) -> None:
    """Raise NotYet unless the office changed over once version 2 had caught up and before version 1 ended."""
    if day.topic == old:
        raise NotYet(f"the office still reads '{old}'", "version 2 is complete and right", "office.reads(…)")
    if day.topic != new:
        raise NotYet(f"the office reads '{day.topic}'", f"it should read '{new}'", "office.reads(…)")
    change = next(one for one in reversed(day.changes) if one.topic == new)
    early = {_place(r) for r in live if _delay(r) >= LIMIT and is_before(_place(r), day.first)}
    if missing := len(early - change.held):
        raise NotYet(
            f"version 2 was not ready when the office changed over: '{new}' lacked "
            f"{counted(missing, 'voucher')} of departures that had come in long before",
            "until it has caught up, its readers wait for what the old topic has",
            ORDER,
        )
    number, run = day.old
    if number not in change.running:
        raise NotYet(
            "version 1 had ended before the office changed over",
            "in between nobody wrote into the topic that the office read",
            ORDER,
        )
    if day.running.get(number) == run:
        raise NotYet(
            "version 1 still ran when `change_over` was done",
            "nobody reads its results any more, and it reads the brokers all the same",
            "the last lines of change_over",
        )


def judge_sent(day: Day, live: Sequence[Record]) -> None:
    """Raise NotYet unless the office has sent a voucher for each departure that was late by two hours."""
    right = {_place(record) for record in live if _delay(record) >= LIMIT}
    if missing := len(right - day.sent.keys()):
        raise NotYet(
            f"the office has not sent {missing} of {len(right)} vouchers",
            "it sends what stands in the topic that it reads",
            "office.reads(…)",
        )
    if more := len(day.sent.keys() - right):
        raise NotYet(
            f"the office has sent {counted(more, 'voucher')} too many",
            "a delay of two hours or more gets one",
            "the condition",
        )


def delays(records: Sequence[Record]) -> Counter[int]:
    """Return how many records there are for each delay in minutes."""
    return Counter(int(record.value or 0) for record in records)


def vouchers(least: int) -> Counter[int]:
    """Return how many departures had each delay from `least` minutes on, by the package's own table."""
    late = late_departures()["dep_delay"].astype(int)
    return Counter(late[late >= least].tolist())


def _delay(departure: Record) -> int:
    return int(json.loads(departure.value or b"{}").get("dep_delay") or 0)


def _place(departure: Record) -> str:
    return f"{departure.partition}-{departure.offset}"


def _read_to(kind: Path, planned: Path) -> Mapping[int, int]:
    """Return where the last batch ends that is noted in the folder `kind` of a checkpoint."""
    try:
        last = max(int(path.name) for path in kind.glob("[0-9]*"))
        told = offsets(json.loads((planned / str(last)).read_text(encoding="utf-8").splitlines()[-1]))
        return next(iter(told.values()))
    except (OSError, ValueError, LookupError, StopIteration):
        return {}
