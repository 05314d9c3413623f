"""What lab 09 says of a program that builds its table at two starts, on a log in memory."""

from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

import pytest

from threebrokers.checks.lab09 import tables
from threebrokers.kafka.log_reader import Record
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.scenarios import last_values
from threebrokers.lab.scenarios.cleaner import KeyAndValue
from threebrokers.lab.scenarios.last_values import LATER, OPENING, Day, folded, keep, two_starts

Load = Callable[[str], Any]


class Board:
    """A log in memory: each call of write() begins a segment, and clean() is the cleaner's turn.

    A null goes at the second turn that finds it: `delete.retention.ms` is over by then.
    """

    def __init__(self) -> None:
        self.segments: list[list[Record]] = []
        self.end = 0
        self._nulls: set[int] = set()

    def write(self, topic: str, records: Iterable[KeyAndValue], stamp: int) -> None:
        self.segments.append([])
        for key, value in records:
            stored = None if value is None else value.encode()
            self.segments[-1].append(Record(topic, 0, self.end, key.encode(), stored, stamp, "create"))
            self.end += 1

    def clean(self) -> None:
        *closed, active = self.segments
        last = {record.key: record for segment in closed for record in segment}
        left = [r for segment in closed for r in segment if last[r.key] is r and r.offset not in self._nulls]
        self._nulls = {record.offset for record in left if record.value is None}
        self.segments = [left, active]

    def read(self) -> list[Record]:
        return [record for segment in self.segments for record in segment]


@pytest.fixture
def board(monkeypatch: pytest.MonkeyPatch) -> Board:
    """Return the log that two_starts writes, its check reads, and the cleaner cleans."""
    log = Board()
    monkeypatch.setattr(last_values, "Writer", lambda lab: log)
    monkeypatch.setattr(last_values, "wait_for_cleaner", lambda lab, topic: log.clean())
    monkeypatch.setattr(last_values, "let_pass", lambda milliseconds: None)
    monkeypatch.setattr(tables, "expect_topic", lambda *_: None)
    monkeypatch.setattr(tables, "log_of", lambda *_: log.read())
    return log


def judge(load: Load) -> None:
    lab: Any = SimpleNamespace(fresh_topic=lambda *_, **config: "board", consumers=list)
    starts = two_starts(lab, load)
    assert starts is not None
    tables.judge_tables(lab, starts)


def goes_on(board: Board) -> Load:
    """Return a program that keeps its table, reads what is new, and returns a copy."""
    kept: dict[str, str] = {}
    place = [0]

    def load(topic: str) -> dict[str, str]:
        for record in board.read():
            if record.offset >= place[0]:
                keep(kept, record)
        place[0] = board.end
        return dict(kept)

    return load


def begins_with_the_old(board: Board) -> Load:
    """Return a program that reads all again, into the table of the last time, and returns a copy."""
    kept: dict[str, str] = {}

    def load(topic: str) -> dict[str, str]:
        kept.update(folded(board.read()))
        return dict(kept)

    return load


def reads_once(board: Board) -> Load:
    """Return a program that reads at its first call only."""
    kept: list[dict[str, str]] = []

    def load(topic: str) -> dict[str, str]:
        kept.append(dict(kept[0]) if kept else folded(board.read()))
        return kept[-1]

    return load


def test_a_table_from_the_topic_alone_passes(board: Board):
    judge(lambda topic: folded(board.read()))
    assert folded(board.read()) == LATER
    assert not [record for record in board.read() if record.value is None], "no null is left"


@pytest.mark.parametrize("made", [goes_on, begins_with_the_old, reads_once])
def test_what_the_first_call_has_kept_is_of_no_use_to_the_second(board: Board, made: Callable[[Board], Load]):
    with pytest.raises(NotYet) as caught:
        judge(made(board))
    said = f"`starts.second` shows {OPENING['MSFT']} for MSFT, of which the topic holds no record any more"
    assert said in str(caught.value)
    assert "kept from the first call" in str(caught.value)


def test_a_day_tells_what_was_left_in_between():
    null = Record("t", 1, 9, b"IBM", None, 0, "create")
    assert repr(Day("t", (null,), (), (null,))).splitlines() == [
        "IBM before the day:",
        "  partition 1, offset 9: None",
        "IBM in between:",
        "  partition 1, offset 9: None",
        "IBM now: no record",
    ]
