"""Lab 09's topics, as far as they can be seen without brokers."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from threebrokers.errors import LabError
from threebrokers.kafka.log_reader import Record
from threebrokers.lab.scenarios import cleaner, last_values
from threebrokers.lab.scenarios.last_values import Day, Page, Starts, trading_day, two_starts


def record(offset: int, key: str, value: str | None) -> Record:
    stored = None if value is None else value.encode()
    return Record("t", 0, offset, key.encode(), stored, 0, "create")


def test_what_is_not_written_yet_is_not_run():
    nothing: Any = SimpleNamespace()
    assert two_starts(nothing, ...) is None
    with pytest.raises(LabError, match="`settings` is Ellipsis: it should be a dictionary"):
        trading_day(nothing, ...)


def test_a_page_reads_on_where_it_stopped(monkeypatch: pytest.MonkeyPatch):
    log = [record(0, "IBM", "1"), record(1, "SAP", "2")]
    monkeypatch.setattr(last_values, "read_log", lambda bootstrap, topic: list(log))
    page = Page(SimpleNamespace(bootstrap=""), "t")  # type: ignore[arg-type]
    assert page.table == {"IBM": "1", "SAP": "2"}
    log[:] = [record(1, "SAP", "2"), record(5, "SAP", "3")]  # IBM and its tombstone are gone
    assert page.read_on() == 1
    assert page.table == {"IBM": "1", "SAP": "3"}


def test_a_day_tells_of_ibm_before_and_after():
    day = Day("t", (record(3, "IBM", None), record(4, "SAP", "1")), ())
    assert repr(day) == "IBM before the day:\n  partition 0, offset 3: None\nIBM now: no record"
    assert repr(Starts("t", {}, None)) == "first start:  {}\nsecond start: None"


def test_segments_are_read_again_when_the_cleaner_changes_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    first, second = tmp_path / "00000000000000000000.log", tmp_path / "00000000000000000002.log"
    first.write_bytes(b"12345")
    looks = [[second], [first], [first, second], [first], [first]]
    lab: Any = SimpleNamespace(
        bootstrap="",
        cluster=SimpleNamespace(segments=lambda topic, partition: looks.pop(0)),
        wait_until=lambda look, what: next(found for found in iter(look, "never") if found),
    )
    monkeypatch.setattr(cleaner, "read_log", lambda bootstrap, topic, partitions: [record(0, "IBM", "1")])
    (only,) = cleaner.segments_of(lab, "t")
    assert (only.size, only.is_active, len(only.records)) == (5, True, 1)
    assert looks == []
