"""The program that readers take to work, without brokers, and how lab 10 runs it."""

import ast
import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from threebrokers.lab.scenarios import validating
from threebrokers.lab.scenarios.validating import PACKED, PROGRAM, Verified
from threebrokers.lab.take_along import delivery_ledger
from threebrokers.lab.take_along.delivery_ledger import Row, compared


def acknowledged(number: int, at: float = 0.0, offset: int | None = 0) -> Row:
    return Row(number, at, 0, offset, None)


def test_it_needs_nothing_of_this_course():
    tree = ast.parse(PACKED.read_text("utf-8"))
    named = {a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}
    named |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not [name for name in named if name.startswith("threebrokers")]


def test_what_is_all_there():
    rows = [acknowledged(n, at=n / 10, offset=n) for n in range(5)]
    found = compared(rows, dict.fromkeys(range(5), 1), {0: 0})
    assert (found.attempted, found.acknowledged, found.stored) == (5, 5, 5)
    assert [*found.lost, *found.twice, *found.failed, *found.no_report, *found.deleted] == []
    assert found.pause == pytest.approx(0.1)


def test_what_is_lost_twice_failed_silent_or_deleted():
    rows = [
        acknowledged(0, 1.0, offset=3),  # before what the topic still keeps
        acknowledged(1, 2.0, offset=9),
        acknowledged(2, 5.0, offset=10),
        acknowledged(3, 5.0, offset=None),  # acks=0 tells no offset
        Row(4, None, None, None, "_MSG_TIMED_OUT"),
        Row(5, None, None, None, "_MSG_TIMED_OUT"),
        Row(6, None, None, None, None),
    ]
    found = compared(rows, {2: 2, 5: 1}, {0: 5})
    assert (found.deleted, found.lost, found.twice) == ([0], [1, 3], [2])
    assert (found.failed, found.failed_and_stored, found.no_report) == ([4, 5], [5], [6])
    assert (found.attempted, found.acknowledged, found.stored) == (7, 4, 2)
    assert found.pause == 3.0
    told = Verified(str(found), 1)
    counted = ("attempted", "acknowledged", "stored", "lost", "twice", "failed", "no report", "deleted")
    assert [told.counts[name] for name in counted] == [7, 4, 2, 2, 1, 2, 1, 1]
    assert not told.is_whole


def test_a_whole_one_is_whole():
    assert Verified(str(compared([acknowledged(0)], {0: 1}, {})), 0).is_whole
    assert not Verified(
        str(compared([acknowledged(0), Row(1, None, None, None, None)], {0: 1}, {})), 0
    ).is_whole


def test_a_ledger_goes_on_and_belongs_to_one_topic(tmp_path: Path):
    with closing(delivery_ledger.opened(str(tmp_path / "x.db"))) as database:
        run, first = delivery_ledger.begun(database, "a")
        assert first == 0
        database.execute("INSERT INTO record (number) VALUES (7)")
        assert delivery_ledger.begun(database, "a") == (run, 8)
        with pytest.raises(SystemExit, match="of the topic a"):
            delivery_ledger.begun(database, "b")


class Producer:
    """A producer whose queue is full once, and which acknowledges some records and fails others."""

    def __init__(self, settings: Any) -> None:
        self.full, self.told = True, list[Any]()

    def produce(self, topic: str, text: bytes, on_delivery: Any) -> None:
        if self.full:
            self.full = False
            raise BufferError
        self.told.append(on_delivery)

    def poll(self, seconds: float) -> None:
        for told in self.told:
            told(None, SimpleNamespace(partition=lambda: 0, offset=lambda: 4))
        self.told.clear()

    def flush(self) -> None:
        for told in self.told:
            told(SimpleNamespace(name=lambda: "_MSG_TIMED_OUT"), None)


def test_each_record_is_noted_with_its_report(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any):
    monkeypatch.setattr(delivery_ledger, "Producer", Producer)
    monkeypatch.setattr(delivery_ledger.signal, "signal", lambda *_: None)
    file = str(tmp_path / "x.db")
    assert delivery_ledger.main(["send", "t", file, "acks=all", "--rate", "1000", "--seconds", "0.02"]) == 0
    with closing(sqlite3.connect(file)) as database:
        rows = database.execute("SELECT number, acknowledged IS NULL, error, at FROM record").fetchall()
    assert [row[0] for row in rows] == list(range(len(rows)))
    assert {row[2] for row in rows} <= {None, "_MSG_TIMED_OUT"}
    assert all((row[1] == 1) == (row[2] is not None) for row in rows)
    assert f"{len(rows)} records are in" in capsys.readouterr().out


def test_a_word_that_is_no_setting(capsys: Any):
    with pytest.raises(SystemExit):
        delivery_ledger.main(["verify", "x.db", "acks"])
    assert "acks is no setting: write name=value" in capsys.readouterr().err


def test_it_is_put_beside_the_notebooks_and_what_was_changed_stays(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr(validating, "root", lambda: tmp_path)
    monkeypatch.setattr(validating, "home", lambda: tmp_path / "home")
    assert validating.taken_along() == tmp_path / "home" / PROGRAM  # nobody has notebooks here
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / ".handed_out.json").write_text("{}")
    mine = validating.taken_along()
    assert mine == tmp_path / "work" / PROGRAM
    assert mine.read_bytes() == PACKED.read_bytes()
    mine.write_text("mine")
    validating.taken_along()
    assert mine.read_bytes() == PACKED.read_bytes()
    assert [path.read_text() for path in mine.parent.glob("*old*")] == ["mine"]
