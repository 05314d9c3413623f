"""The ledger's reckoning, against a model that is too simple to be wrong."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from threebrokers.ledger import Entry, Number
from threebrokers.ledger.balance import Balance
from threebrokers.ledger.journal import Note

TOPIC = "orders"


@dataclass(frozen=True)
class Fate:
    """What happens to one record: every part independent of the others, more than Kafka would do."""

    producer: int
    report: str  # '', 'acknowledged', 'failed' or 'refused'
    copies: tuple[bool, ...]  # each: visible with read_committed?
    deliveries: int
    processings: int


@dataclass(frozen=True)
class History:
    """A whole run: the records' numbers and fates, and the log in the order of its offsets."""

    fates: tuple[tuple[Number, Fate], ...]
    log: tuple[tuple[Entry, bool], ...]
    start: int
    hidden: tuple[int, int]


PARTITION = 4


@st.composite
def histories(draw: st.DrawFn) -> History:
    fate = st.builds(
        Fate,
        producer=st.integers(1, 2),
        report=st.sampled_from(["", "acknowledged", "acknowledged", "failed", "refused"]),
        copies=st.lists(st.booleans(), max_size=2).map(tuple),
        deliveries=st.integers(0, 2),
        processings=st.integers(0, 2),
    )
    rows = {1: 0, 2: 0}
    fates = []
    for one in draw(st.lists(fate, max_size=12)):
        fates.append((Number(one.producer, rows[one.producer]), one))
        rows[one.producer] += 1
    copies = [(number, shown) for number, f in fates if f.report != "refused" for shown in f.copies]
    log, offset = [], draw(st.integers(0, 3))
    for number, shown in draw(st.permutations(copies)):
        log.append((Entry(number, PARTITION, offset), shown))
        offset += draw(st.integers(1, 3))
    readable = draw(st.integers(0, 60))
    return History(
        tuple(fates), tuple(log), draw(st.integers(0, 60)), (readable, readable + draw(st.integers(0, 9)))
    )


def told(number: Number) -> int:
    """The offset that the broker told for a record, whether it is there or not."""
    return number.sequence * 4 + number.producer


def balance(history: History) -> Balance:
    notes = []
    for number, fate in history.fates:
        notes.append(Note("attempted", number, TOPIC))
        if fate.report:
            notes.append(Note(fate.report, number, TOPIC, 0, PARTITION, told(number), reason="E"))
        notes += [Note("delivered", number, TOPIC, 0, PARTITION, told(number))] * fate.deliveries
        notes += [Note("processed", number, TOPIC, 0, PARTITION, told(number))] * fate.processings
        notes.append(Note("acknowledged", number, "another topic", 0, PARTITION, 1))
    stored = [entry for entry, _ in reversed(history.log)]
    committed = [entry for entry, shown in reversed(history.log) if shown]
    return Balance.of(
        TOPIC, notes, stored, committed, {PARTITION: history.start}, {PARTITION: history.hidden}
    )


def numbers(entries: object) -> list[Number]:
    return sorted(entry.number for entry in entries)  # type: ignore[attr-defined]


@given(histories())
def test_every_attempt_has_one_end(history: History) -> None:
    found = balance(history)
    tried = [number for number, fate in history.fates if fate.report != "refused"]
    assert sorted(found.attempted) == sorted(tried)
    assert sorted([*numbers(found.acknowledged), *numbers(found.failed), *found.unknown]) == sorted(tried)
    for report, entries in [("acknowledged", found.acknowledged), ("failed", found.failed)]:
        assert numbers(entries) == sorted(n for n, fate in history.fates if fate.report == report)


@given(histories())
def test_what_is_acknowledged_and_not_there_has_one_reason(history: History) -> None:
    found = balance(history)
    absent = [n for n, f in history.fates if f.report == "acknowledged" and not f.copies]
    low, high = history.hidden
    retired = [n for n in absent if told(n) < history.start]
    unreadable = [n for n in absent if low <= told(n) < high]
    assert numbers(found.expired) == sorted(retired)
    assert numbers(found.not_yet_readable) == sorted(unreadable)
    assert numbers(found.lost) == sorted(n for n in absent if n not in retired and n not in unreadable)


@given(histories())
def test_copies(history: History) -> None:
    found = balance(history)
    log = [entry for entry, _ in history.log]
    assert list(found.stored) == log
    again = [entry for i, entry in enumerate(log) if any(e.number == entry.number for e in log[:i])]
    assert found.duplicated == again
    first = [entry for entry in log if entry not in again]
    older = [
        entry
        for i, entry in enumerate(first)
        if any(e.number > entry.number for e in first[:i] if e.number.producer == entry.number.producer)
    ]
    assert found.out_of_order == older
    assert found.uncommitted == [entry for entry, shown in history.log if not shown]
    unasked = {n for n, f in history.fates if f.report in ("", "failed") and f.copies}
    assert set(numbers(found.unacknowledged)) == unasked


@given(histories())
def test_what_was_read(history: History) -> None:
    found = balance(history)
    readable = {entry.number for entry, shown in history.log if shown}
    fates = dict(history.fates)
    assert set(numbers(found.unprocessed)) == {n for n in readable if not fates[n].processings}
    assert numbers(found.processed_again) == [n for n in sorted(fates) if fates[n].processings == 2]


@pytest.mark.parametrize("report", ["acknowledged", "failed"])
def test_a_record_with_a_report_was_taken_whatever_produce_has_raised(report: str) -> None:
    number = Number(1, 0)
    notes = [Note(what, number, TOPIC, 0, 0, 5, reason="E") for what in ("attempted", "refused", report)]
    assert Balance.of(TOPIC, notes, [], []).attempted == [number]


def test_partitions_are_told_apart() -> None:
    a, b = Number(1, 0), Number(1, 1)
    stored = [Entry(b, 0, 0), Entry(a, 1, 0)]
    notes = [Note("acknowledged", n, TOPIC, 0, p, 0) for n, p in [(a, 1), (b, 0)]]
    assert not Balance.of(TOPIC, notes, stored, stored).out_of_order
    assert Balance.of(TOPIC, notes, [], [], {0: 1}).lost == [Entry(a, 1, 0)]


def test_without_an_offset_nothing_but_the_log_counts() -> None:
    number = Number(1, 0)
    notes = [Note("attempted", number, TOPIC), Note("acknowledged", number, TOPIC, 0, 0, None)]
    assert Balance.of(TOPIC, notes, [], [], {0: 9}, {0: (0, 9)}).lost == [Entry(number, 0, None)]
