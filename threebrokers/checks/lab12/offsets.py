"""Exercise 12.3: what the learner's function reads, and from where it will go on."""

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from confluent_kafka import KafkaException, Producer
from pyspark.sql import DataFrame

from threebrokers.checks.expect_spark import fetched, first_line, plan_of, rows
from threebrokers.errors import LabError
from threebrokers.kafka import client_settings
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.lab.values import told
from threebrokers.text import counted

CELL = "`read_new` in the cell of the exercise"
LATE = 1  # records that came after a call: a filter may drop them just as well
SUBSCRIBED = re.compile(r"strategy=Subscribe\[([^\]]*)\]")
A_TIME = 10**12  # ms since 1970; no topic of the course has so many records

Offsets = Mapping[int, int]
Places = Sequence[tuple[int, int]]  # partition and offset


def call(read_new: Callable[..., Any], topic: str, seen: str | None) -> tuple[DataFrame, str]:
    """Call the learner's function; NotYet unless it returns a table and a text."""
    shown = "None" if seen is None else "what it returned before"
    try:
        answer = read_new(topic, seen)
    except (KafkaException, LabError):
        raise  # who is away, or which topic, is told elsewhere
    except Exception as fault:
        if seen is None and "INTERNAL_ERROR" in str(fault):  # what Spark says of a null
            raise NotYet(
                "`read_new(topic, None)` gave Spark an option that is None, and Spark failed",
                'the first time `seen` is None, and startingOffsets should be "earliest" then',
                CELL,
            ) from fault
        raise NotYet(
            f"`read_new(topic, {shown})` ended with {type(fault).__name__}: {first_line(fault)}",
            "it should return a DataFrame of Spark and a text",
            CELL,
        ) from fault
    match answer:
        case (DataFrame() as new, str() as kept):
            _expect_topic(plan_of("read_new", new, CELL), topic)
            return new, kept
        case (_, _):
            kinds = " and ".join(told(part) for part in answer)
        case _:
            kinds = told(answer)
    advice = ", in this order" if _is_turned(answer) else ""
    if isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], dict):
        advice = ", which json.dumps(…) makes of a dictionary"
    raise NotYet(
        f"`read_new(topic, {shown})` returned {kinds}",
        f"it should return a DataFrame of Spark and a text{advice}",
        "its `return`",
    )


def _expect_topic(plan: str, topic: str) -> None:
    """Raise NotYet if Spark's plan subscribes to other topics than the one that the function was given."""
    for names in SUBSCRIBED.findall(plan):
        if topic not in names.split(", "):
            raise NotYet(
                f"`read_new({topic!r}, …)` reads {names!r}",
                "it should read the topic that it is called with",
                'option("subscribe", topic) in the cell of the exercise',
            )


def expect_offsets(kept: str, topic: str, ends: Offsets, read: Callable[[], Places]) -> None:
    """Raise NotYet unless the text is JSON that has the next offset of each partition.

    `read` returns the places of the records in the table; it is called only if the sentence depends on them.
    """
    if _holds(_json(kept), ends):
        return
    found = _parsed(kept, topic)
    if any(offset >= A_TIME for offset in found.values()):
        raise NotYet(
            f"what `read_new` keeps is a moment in time ({kept})",
            "keep offsets: a late record has an older time than records that were read already",
            CELL,
        )
    missing = [str(p) for p in sorted(ends) if p not in found]
    if missing:
        raise NotYet(
            f"what `read_new` keeps says nothing of partition {', '.join(missing)}",
            "Spark needs an offset for each partition, also for one without new records",
            CELL,
        )
    if any(offset < 0 for offset in found.values()):
        raise NotYet(
            f"what `read_new` keeps has an offset below 0 ({kept})",
            "-2 and -1 mean the first record and the end at the time of the next call, not of this one",
            CELL,
        )
    if all(found[p] == end - 1 for p, end in ends.items()):
        raise _one_too_few(any(found[partition] == offset for partition, offset in read()))
    if dict(found) != dict(ends):
        raise NotYet(
            f"what `read_new` keeps is {dict(sorted(found.items()))}",
            f"the next offsets were {dict(sorted(ends.items()))}: each record should be in just one answer",
            CELL,
        )


def _one_too_few(is_read: bool) -> NotYet:
    """Return what is said of a text with the last offsets, by whether the table has one of those records."""
    if is_read:
        return NotYet(
            "what `read_new` keeps is the offset of the last record that was read",
            "keep the offset of the next one, or each partition's last record is read twice",
            CELL,
        )
    return NotYet(
        "what `read_new` keeps is the offset of each partition's last record, and its table does not have "
        "these records",
        "every record that is there belongs to this call: end_offsets and endingOffsets both name the first "
        "offset that is not read",
        CELL,
    )


def places(name: str, new: DataFrame) -> Places:
    """Return partition and offset of each record in the table, as often as it is there."""
    held = rows("read_new", _placed(name, new), CELL)
    return list(held.itertuples(index=False, name=None))


def _placed(name: str, new: DataFrame) -> DataFrame:
    if not {"partition", "offset"} <= set(new.columns):
        raise NotYet(
            f"{name} returned the columns {', '.join(new.columns)}",
            "return the records as Spark's Kafka reader gives them",
            CELL,
        )
    return new.select("partition", "offset")


def expect_rows(name: str, new: DataFrame, first: Offsets, ends: Offsets) -> None:
    """Raise NotYet unless the table holds the records from `first` up to, and without, `ends`."""
    placed = _placed(name, new)
    held = rows("read_new", placed, CELL)
    got = set(held.itertuples(index=False, name=None))
    right = {(p, offset) for p, end in ends.items() for offset in range(first.get(p, 0), end)}
    if any(offset >= ends.get(partition, 0) for partition, offset in got):
        raise NotYet(
            f"{name} says where it ends, and its table also has records from behind that end",
            "Spark reads when rows are asked for, and without endingOffsets it reads what is there by then",
            "endingOffsets",
        )
    again = [o for p, o in got if o < first.get(p, 0)]
    if again:
        raise NotYet(
            f"{name} read {len(again)} records that the call before had read",
            "start where the call before ended: `seen`",
            "startingOffsets",
        )
    if got != right or len(held) != len(got):
        raise NotYet(f"{name} read {len(held)} records", f"{len(right)} were new", CELL)
    expect_fetched(name, len(right), fetched(placed))


def expect_fetched(name: str, new: int, count: int | None) -> None:
    """Raise NotYet if Spark has fetched many more records than were new, and left out the rest."""
    if count is not None and count > new + LATE:
        raise NotYet(
            f"{name} returned the {new} new records, and Spark fetched {count} for that",
            "a filter comes after the reading; next year it would read a year to find an hour",
            "startingOffsets, which says where the reading begins",
        )


@contextmanager
def arriving(lab: Lab, topic: str) -> Iterator[None]:
    """Let records arrive in the topic, some hundred a second, until the block ends."""
    producer, over = Producer(client_settings.shared(lab.bootstrap) | {"linger.ms": 0}), threading.Event()

    def work() -> None:
        while not over.wait(0.005):
            producer.produce(topic, b"meanwhile")
            producer.poll(0)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        producer.flush(5)


def expect_again(new: DataFrame, first: Offsets, kept: str, topic: str) -> None:
    """Raise NotYet unless the table holds what stands between `first` and `kept`.

    `first` are the offsets in an older `seen`, and `kept` is what this call has returned, while records came.
    """
    held = rows("read_new", new.select("partition", "offset"), CELL)
    # The text may also hold where the batch began; the end is behind it.
    known = [found for found in _offsets_in(_json(kept)) if set(found) == set(first)]
    ends = max(known, key=lambda found: sum(found.values())) if known else _parsed(kept, topic)
    compare_again(set(held.itertuples(index=False, name=None)), first, ends)


def compare_again(got: set[tuple[int, int]], first: Offsets, ends: Offsets) -> None:
    """Raise NotYet unless the places, pairs of partition and offset, are all from `first` up to `ends`."""
    right = {(p, offset) for p, begin in first.items() for offset in range(begin, ends.get(p, begin))}
    if got == right:
        return
    lowest = {p: min(offset for place, offset in got if place == p) for p, _ in got}
    if not got or any(lowest.get(p, begin) != begin for p, begin in first.items()):
        raise NotYet(
            f"called again with what the first call returned, `read_new` read {counted(len(got), 'record')}",
            f"{counted(len(right), 'record')} came after it; after a restart, `seen` is all that it knows",
            "what `read_new` keeps elsewhere than in `seen`",
        )
    raise NotYet(
        f"records arrived while `read_new` ran: {len(right - got)} of them are not in its table, and its "
        "text says that they were read",
        "decide once where the batch ends, and give the same end to Spark and to the next call",
        "endingOffsets, and when you ask for the ends",
    )


def _is_turned(answer: object) -> bool:
    match answer:
        case (str(), DataFrame()):
            return True
    return False


def _holds(told: Any, ends: Offsets) -> bool:
    """Tell whether the JSON has these offsets somewhere: more may be kept in it, under other names."""
    return any(found == dict(ends) for found in _offsets_in(told))


def _offsets_in(told: Any) -> Iterator[dict[int, int]]:
    """Yield each dictionary in the JSON that could be offsets by partition."""
    if not isinstance(told, dict):
        return
    if told and all(key.isdecimal() and isinstance(value, int) for key, value in told.items()):
        yield {int(key): value for key, value in told.items()}
    for part in told.values():
        yield from _offsets_in(part)


def _json(kept: str) -> Any:
    try:
        return json.loads(kept)
    except ValueError:
        return None


def _parsed(kept: str, topic: str) -> dict[int, int]:
    found = _json(kept)
    if isinstance(found, int) and found >= A_TIME:
        return {0: found}
    offsets = found.get(topic) if isinstance(found, dict) else None
    if not isinstance(offsets, dict) or not offsets:
        raise NotYet(
            f"what `read_new` keeps ({kept!r}) holds no offsets of the topic",
            "Spark commits nothing to a consumer group, so you keep the offsets: "
            '{"topic": {"0": 5, "1": 7}} as text',
            CELL,
        )
    try:
        return {int(partition): int(offset) for partition, offset in offsets.items()}
    except (TypeError, ValueError):
        raise NotYet(
            f"what `read_new` keeps ({kept}) has something else than whole numbers",
            'it should look like {"topic": {"0": 5, "1": 7}}',
            CELL,
        ) from None
