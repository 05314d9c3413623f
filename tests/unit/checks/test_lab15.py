"""What lab 15's checks say of answers, also of those that its wrong answers do not give."""

import json
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace

import pytest

from threebrokers.checks.lab15.books import judge_book
from threebrokers.checks.lab15.copies import compare_ids
from threebrokers.checks.lab15.places import compare_twice, planned
from threebrokers.checks.lab15.queries import expect_second_run
from threebrokers.checks.lab15.versions import judge_new, judge_old, judge_readers, vouchers
from threebrokers.kafka.log_reader import Record
from threebrokers.lab.exercise import NotYet

BEFORE, AFTER = {0: 10, 1: 12}, {0: 25, 1: 20}
WANTED = {(part, place): f"N{part}{place}" for part in (0, 1) for place in range(30)}
BATCH = [(part, place) for part in BEFORE for place in range(BEFORE[part], AFTER[part])]
PLAIN = "CREATE TABLE trips (part, place, tailnum)"


def told(check, *answers) -> str:
    with pytest.raises(NotYet) as caught:
        check(*answers)
    return str(caught.value)


def test_what_comes_twice_lies_between_two_places():
    compare_twice({0: 15, 1: 8}, BEFORE, AFTER)
    assert "is where batch 2 ends" in told(compare_twice, AFTER, BEFORE, AFTER)
    assert "is where batch 1 ends" in told(compare_twice, BEFORE, BEFORE, AFTER)
    assert "nothing comes twice" in told(compare_twice, {0: 0, 1: 0}, BEFORE, AFTER)
    assert "has the partitions [0]" in told(compare_twice, {0: 23}, BEFORE, AFTER)
    assert "says 14 for partition 0" in told(compare_twice, {0: 14, 1: 8}, BEFORE, AFTER)


def test_a_checkpoint_tells_the_two_places(tmp_path: Path):
    assert "no checkpoint of a killed query" in told(planned, tmp_path, "trips")
    for folder in ("offsets", "commits"):
        (tmp_path / folder).mkdir()
    for number, places in (("0", BEFORE), ("1", AFTER)):
        (tmp_path / "offsets" / number).write_text(f"v1\n{{}}\n{json.dumps({'trips': places})}")
    (tmp_path / "commits" / "0").write_text("v1\n{}")
    assert planned(tmp_path, "trips") == (BEFORE, AFTER)
    (tmp_path / "commits" / "1").write_text("v1\n{}")
    assert "no checkpoint of a killed query" in told(planned, tmp_path, "trips")


def ended(*batches: int) -> SimpleNamespace:
    steps = [{"batchId": number, "numInputRows": 0} for number in batches]
    return SimpleNamespace(isActive=False, exception=lambda: None, recentProgress=steps)


def test_a_second_run_goes_on_with_the_batch_of_the_death_also_if_the_sink_does_not_read_it_again():
    expect_second_run(ended(1, 2))
    for batches in ((0, 1, 2), (2,), ()):
        assert "not killed in batch 1" in told(expect_second_run, ended(*batches))


def book(file: Path, rows: Iterable[tuple[int, int]], *tables: str) -> Path:
    file.unlink(missing_ok=True)
    db = sqlite3.connect(file)
    for table in tables:
        db.execute(table)
    db.executemany(
        "INSERT OR IGNORE INTO trips (part, place, tailnum) VALUES (?, ?, ?)",
        [(*place, WANTED[place]) for place in rows],
    )
    db.commit()
    db.close()
    return file


def test_a_book_is_judged_by_its_rows(tmp_path: Path):
    file = tmp_path / "keyed.sqlite"
    judge_book(book(file, WANTED, PLAIN), WANTED)
    keyed = "CREATE TABLE trips (part, place, tailnum, PRIMARY KEY (part, place))"
    judge_book(book(file, [*WANTED, *BATCH], keyed), WANTED)
    assert "the table has no key" in told(judge_book, book(file, [*WANTED, *BATCH], PLAIN), WANTED)
    done = "CREATE TABLE done (batch)"
    assert "in a transaction of its own" in told(
        judge_book, book(file, [*WANTED, *BATCH], PLAIN, done), WANTED
    )
    new_each_time = "CREATE TABLE trips (id INTEGER PRIMARY KEY, part, place, tailnum)"
    said = told(judge_book, book(file, [*WANTED, *BATCH], new_each_time), WANTED)
    assert "the key (id) is another one each time" in said
    assert "23 departures are there twice" in said
    rest = [place for place in WANTED if place not in BATCH]
    assert "all of batch 1" in told(judge_book, book(file, rest, PLAIN, done), WANTED)
    one_place = "CREATE TABLE trips (part, place PRIMARY KEY, tailnum)"
    said = told(judge_book, book(file, WANTED, one_place), WANTED)
    assert "30 of 60 departures are not in the table" in said
    assert "stand for more than one departure" in said
    assert "should be in the table once" in told(judge_book, book(file, list(WANTED)[:-1], PLAIN), WANTED)
    assert "no departure looks like that" in told(
        judge_book, book(file, WANTED, PLAIN), dict.fromkeys(WANTED, "N1")
    )


def test_a_book_without_the_table_is_one_sentence(tmp_path: Path):
    assert "the table `trips` cannot be read" in told(judge_book, tmp_path / "none.sqlite", WANTED)


def test_each_id_once():
    compare_ids(["0-1", "0-2"], ["0-1", "0-2", "0-1"])
    assert "1 of 2 departures are gone" in told(compare_ids, ["0-1"], ["0-1", "0-2"])
    assert "1 departures are there twice" in told(compare_ids, ["0-1", "0-2", "0-1"], ["0-1", "0-2"])


def records(minutes: Iterable[int]) -> list[Record]:
    return [Record("late", 0, n, b"", str(delay).encode(), 0, "create") for n, delay in enumerate(minutes)]


def test_two_versions_side_by_side():
    right, old = vouchers(120), vouchers(121)
    assert (right.total(), old.total()) == (155, 152)
    judge_old("v1", records(old.elements()))
    judge_new("v2", records(right.elements()))
    assert "not as version 1 has left it" in told(judge_old, "v1", records([*old.elements(), 120]))
    assert "holds nothing" in told(judge_new, "v2", [])
    assert "two hours sharp" in told(judge_new, "v2", records(old.elements()))
    assert "holds 156 vouchers" in told(judge_new, "v2", records([*right.elements(), 120]))


def test_the_readers_change_over():
    judge_readers("v2", "v1", "v2")
    assert "the office still reads 'v1'" in told(judge_readers, "v1", "v1", "v2")
    assert "`readers` is 'v3'" in told(judge_readers, "v3", "v1", "v2")
