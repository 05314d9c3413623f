"""What lab 15's checks say of answers, also of those that its wrong answers do not give."""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from threebrokers.cells import fault_of
from threebrokers.checks.expect_spark import by_partition
from threebrokers.checks.lab15 import KEY, copies
from threebrokers.checks.lab15.books import judge_book
from threebrokers.checks.lab15.copies import compare_ids, judge_clock, judge_columns, judge_memory
from threebrokers.checks.lab15.executors import judge_readers_of
from threebrokers.checks.lab15.places import compare_twice, planned
from threebrokers.checks.lab15.queries import expect_second_run
from threebrokers.checks.lab15.triggers import judge_choice, seconds_of
from threebrokers.checks.lab15.versions import (
    expect_places,
    judge_change,
    judge_new,
    judge_old,
    judge_sent,
    judge_topics,
    vouchers,
)
from threebrokers.errors import LabError
from threebrokers.kafka.log_reader import Record
from threebrokers.lab.attempt import _ended
from threebrokers.lab.exercise import NotYet
from threebrokers.spark.office import Change
from threebrokers.spark.queries import NEXT
from threebrokers.spark.versions import Day

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
    assert "was in memory (`seen` and `last`), and that was gone" in told(
        judge_book, book(file, [*WANTED, *BATCH], PLAIN), WANTED, ["seen", "last"]
    )
    judge_book(book(file, WANTED, PLAIN), WANTED, ["a count that nobody needs"])
    done = "CREATE TABLE done (batch)"
    said = told(judge_book, book(file, [*WANTED, *BATCH], PLAIN, done), WANTED)
    assert "was not noted there in one transaction with its rows, or nobody asked for it" in said
    again = ["INSERT INTO done VALUES (1)"] * 2
    assert "so are rows of the table `done`, because it has no key" in told(
        judge_book, book(file, [*WANTED, *BATCH], PLAIN, done, *again), WANTED
    )
    counted_by_sqlite = "CREATE TABLE trips (id INTEGER PRIMARY KEY AUTOINCREMENT, part, place, tailnum)"
    said = told(judge_book, book(file, [*WANTED, *BATCH], counted_by_sqlite), WANTED)
    assert "the key (id) is another one each time" in said
    texts = "CREATE TABLE trips (part TEXT, place TEXT, tailnum, PRIMARY KEY (part, place))"
    judge_book(book(file, WANTED, texts), WANTED)
    new_each_time = "CREATE TABLE trips (id INTEGER PRIMARY KEY, part, place, tailnum)"
    said = told(judge_book, book(file, [*WANTED, *BATCH], new_each_time), WANTED)
    assert "the key (id) is another one each time" in said
    assert "23 departures are there twice" in said
    rest = [place for place in WANTED if place not in BATCH]
    thrice = told(judge_book, book(file, [*WANTED, *BATCH, *BATCH], PLAIN), WANTED)
    assert "23 departures are there 3 times: the table has no key" in thrice
    mixed = told(judge_book, book(file, [*WANTED, *BATCH, *BATCH[:1]], PLAIN), WANTED)
    assert "23 departures are there more than once: the table has no key" in mixed
    assert "all of batch 1" in told(judge_book, book(file, rest, PLAIN, done), WANTED)
    assert "all of batch 1" in told(judge_book, book(file, rest, new_each_time, done), WANTED)
    one_place = "CREATE TABLE trips (part, place PRIMARY KEY, tailnum)"
    said = told(judge_book, book(file, WANTED, one_place), WANTED)
    assert "30 of 60 departures are not in the table" in said
    assert "stand for more than one departure" in said
    assert "should be in the table once" in told(judge_book, book(file, list(WANTED)[:-1], PLAIN), WANTED)
    assert "no departure looks like that" in told(
        judge_book, book(file, WANTED, PLAIN), dict.fromkeys(WANTED, "N1")
    )


def test_a_book_without_the_table_is_one_sentence(tmp_path: Path):
    assert "nothing was written into `keyed`" in told(judge_book, tmp_path / "none.sqlite", WANTED)
    (tmp_path / "empty.sqlite").touch()
    assert "the table `trips` cannot be read" in told(judge_book, tmp_path / "empty.sqlite", WANTED)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ("trips.place", "a key of its own"),
        ("trips.tailnum", "a key of its own"),
        ("trips.part", "a key of its own"),
        ("trips.part, trips.place", "a second time should change nothing"),
        ("trips.place, trips.part", "a second time should change nothing"),
        ("trips.tailnum, trips.part, trips.place", "if the row, or the batch, is there"),
        ("trips.place_of_all", "if the row, or the batch, is there"),
        ("trips.partplace", "if the row, or the batch, is there"),
        ("trips.partition, trips.place", "if the row, or the batch, is there"),
        ("trips.id", "if the row, or the batch, is there"),
        ("done.batch", "if the row, or the batch, is there"),
    ],
)
def test_a_key_that_is_there_already_is_the_wrong_one_or_comes_a_second_time(columns, said):
    why = f"sqlite3.IntegrityError: UNIQUE constraint failed: {columns}"
    for fault in (
        LabError(f"The query ended before Spark could be killed ({why})", NEXT),
        LabError(f"The query failed after Spark's return ({why}.)", NEXT),
        sqlite3.IntegrityError(f"UNIQUE constraint failed: {columns}"),  # of save() in the cell
    ):
        answer = str(_ended(fault_of(fault), KEY))
        assert said in answer
        assert "a key of its own" not in answer or said == "a key of its own"


def test_each_id_once():
    compare_ids(["0-1", "0-2"], ["0-1", "0-2", "0-1"])
    assert "1 of 2 departures are gone" in told(compare_ids, ["0-1"], ["0-1", "0-2"])
    assert "1 departure is there twice" in told(compare_ids, ["0-1", "0-2", "0-1"], ["0-1", "0-2"])


def test_partitions_may_be_text():
    assert by_partition("twice", {"0": 15, 1: 8}, "") == {0: 15, 1: 8}
    assert "has the keys 'trips'" in told(by_partition, "twice", {"trips": 3}, "")
    assert "numbers below 0" in told(compare_twice, {0: -15, 1: -8}, BEFORE, AFTER)


def test_the_watermark_follows_the_time_of_the_copies():
    judge_clock([None, datetime(2026, 11, 25)])
    judge_clock([None])
    assert "the watermark follows `scheduled`" in told(judge_clock, [None, datetime(2013, 6, 24)])


def test_a_watermark_of_another_clock_explains_departures_that_are_gone(monkeypatch):
    rows = SimpleNamespace(collect=lambda: [("0-1",)])
    table = SimpleNamespace(columns=["id"], select=lambda _: rows)
    monkeypatch.setattr(copies, "memory_table", lambda query, start: table)
    monkeypatch.setattr(copies, "output_mode", lambda query: "append")
    progress = {
        "batchId": 0,
        "numInputRows": 2,
        "eventTime": {"max": "2013-06-24T22:00:00Z"},
        "stateOperators": [{"numRowsTotal": 1, "numRowsDroppedByWatermark": 1}],
    }
    query = SimpleNamespace(recentProgress=[progress], explain=lambda: None)
    assert "the watermark follows `scheduled`" in told(copies.judge_copies, query, ["0-1", "0-2"])
    del progress["eventTime"]
    assert "1 of 2 departures are gone" in told(copies.judge_copies, query, ["0-1", "0-2"])


def test_the_id_decides_what_a_copy_is(monkeypatch):
    rows = SimpleNamespace(collect=lambda: [("0-1",), ("0-2",)])
    table = SimpleNamespace(columns=["id"], select=lambda _: rows)
    monkeypatch.setattr(copies, "memory_table", lambda query, start: table)
    monkeypatch.setattr(copies, "output_mode", lambda query: "append")
    days = ["2026-11-24T12:00:00Z", "2026-11-21T12:00:00Z"]
    progress = [
        {
            "batchId": number,
            "numInputRows": 2,
            "eventTime": {"max": days[0], "watermark": days[1]},
            "stateOperators": [{"numRowsTotal": 1, "numRowsDroppedByWatermark": 0}],
        }
        for number in (0, 1)
    ]

    def query(columns: str) -> SimpleNamespace:
        plan = f"+- StreamingDeduplicateWithinWatermark [{columns}], state info [ ]"
        return SimpleNamespace(recentProgress=progress, explain=lambda: print(plan))

    for right in ("id#1", "id#1, tailnum#2", "name#4"):  # the last one is the query's own column
        copies.judge_copies(query(right), ["0-1", "0-2"])
    said = told(copies.judge_copies, query("tailnum#2, scheduled#3"), ["0-1", "0-2"])
    assert "`tailnum` and `scheduled` decide what a copy is, and not the id" in said
    assert "`scheduled` decides what a copy is" in told(judge_columns, ["scheduled"])


def test_copies_are_remembered_as_long_as_spark_may_be_away():
    judge_memory(timedelta(hours=61))
    assert "has to start and read again" in told(judge_memory, timedelta(hours=60))
    judge_memory(timedelta(days=7))
    assert "remembers every id for ever" in told(judge_memory, None)
    assert "a watermark of 59 hours is too short" in told(judge_memory, timedelta(hours=59))
    assert "a watermark of 30 days keeps" in told(judge_memory, timedelta(days=30))


def records(minutes: Iterable[int]) -> list[Record]:
    return [Record("late", 0, n, b"", str(delay).encode(), 0, "create") for n, delay in enumerate(minutes)]


def test_version_2_has_a_voucher_for_each_departure_of_the_package_s_own_table():
    right, old = vouchers(120), vouchers(121)
    assert (right.total(), old.total()) == (155, 152)
    judge_new("v2", records(right.elements()))
    assert "holds nothing" in told(judge_new, "v2", [])
    assert "a delay of exactly two hours" in told(judge_new, "v2", records(old.elements()))
    assert "holds 156 vouchers" in told(judge_new, "v2", records([*right.elements(), 120]))


DELAYS = (130, 5, 120, 200, 150, 121)
LIVE = [
    Record("live", 0, n, b"", json.dumps({"dep_delay": delay}).encode(), 0, "create")
    for n, delay in enumerate(DELAYS)
]
# The office changed over when four departures were there, three of them long before; then version 1 ended.
CHANGE = Change("v2", frozenset({"0-0", "0-2", "0-3"}), {"one": "run 1", "two": "run 2"}, 4)
DAY = Day(
    arrived=6,
    first={0: 3},
    old=("one", "run 1"),
    running={"two": "run 2"},
    reads={"two": frozenset({"live"})},
    changes=(CHANGE,),
    topic="v2",
    sent={"0-0": "v1", "0-3": "v1", "0-2": "v2", "0-4": "v2", "0-5": "v2"},
    left_out=2,
)


def of_version(*places: int) -> list[Record]:
    return [Record("v1", 0, n, f"0-{place}".encode(), b"", 0, "create") for n, place in enumerate(places)]


def checkpoint(folder: Path, name: str, *ends: int, committed: int) -> Path:
    for kind in ("offsets", "commits"):
        (folder / kind).mkdir(parents=True)
    (folder / "metadata").write_text(json.dumps({"id": name}))
    for number, end in enumerate(ends):
        (folder / "offsets" / str(number)).write_text(f"v1\n{{}}\n{json.dumps({'live': {'0': end}})}")
    for number in range(committed):
        (folder / "commits" / str(number)).write_text("v1\n{}")
    return folder


def test_version_1_has_left_what_its_checkpoint_says(tmp_path: Path):
    first = checkpoint(tmp_path / "v1", "one", 3, 5, committed=1)
    for there in ((0,), (0, 3), (0, 3, 4)):  # its last batch was planned, and may have been written in part
        judge_old("v1", of_version(*there), LIVE, first)
    assert "is empty" in told(judge_old, "v1", [], LIVE, first)
    for there in ((3, 4), (0, 0), (0, 2), (0, 5)):
        assert "not as version 1 has left it" in told(judge_old, "v1", of_version(*there), LIVE, first)


def test_each_version_has_a_place_of_its_own(tmp_path: Path):
    first = checkpoint(tmp_path / "v1", "one", 3, committed=1)
    expect_places(DAY, first)
    assert "the checkpoint of version 1 is gone" in told(expect_places, DAY, tmp_path / "none")
    other = checkpoint(tmp_path / "other", "two", 3, committed=1)
    assert "the checkpoint of version 1 is gone" in told(expect_places, DAY, other)
    again = replace(DAY, running={"one": "run 2"})
    assert "has gone on with the checkpoint of version 1" in told(expect_places, again, first)


def test_version_2_reads_the_topic_into_which_departures_come():
    judge_topics(DAY, "live")
    judge_topics(replace(DAY, reads={"one": frozenset({"trips"})}), "live")
    for topics, said in (({"trips"}, "'trips'"), ({"live", "trips"}, "'live', 'trips'")):
        other = replace(DAY, reads={"two": frozenset(topics)})
        answer = told(judge_topics, other, "live")
        assert f"version 2 reads {said}" in answer
        assert "departures come into 'live'" in answer


def judged(day: Day) -> str:
    return told(judge_change, day, "v1", "v2", LIVE)


def test_the_readers_change_over_when_version_2_is_ready_and_version_1_still_runs():
    judge_change(DAY, "v1", "v2", LIVE)
    assert "the office still reads 'v1'" in judged(replace(DAY, topic="v1", changes=()))
    assert "the office reads 'v3'" in judged(replace(DAY, topic="v3"))
    early = replace(CHANGE, held=frozenset({"0-0"}))
    assert "'v2' lacked 1 voucher of" in judged(replace(DAY, changes=(early,)))
    late = replace(CHANGE, running={"two": "run 2"})
    assert "version 1 had ended before the office changed over" in judged(replace(DAY, changes=(late,)))
    assert "version 1 still ran" in judged(replace(DAY, running=CHANGE.running))


def test_the_office_has_sent_each_voucher():
    judge_sent(DAY, LIVE)
    less = {key: topic for key, topic in DAY.sent.items() if key != "0-2"}
    assert "has not sent 1 of 5 vouchers" in told(judge_sent, replace(DAY, sent=less), LIVE)
    more = {**DAY.sent, "0-1": "v2"}
    assert "has sent 1 voucher too many" in told(judge_sent, replace(DAY, sent=more), LIVE)


CHOICE: dict[str, dict[str, object]] = {
    "alarm": {"realTime": "5 seconds"},
    "board": {"processingTime": "1 second"},
    "counts": {},
}


def test_each_query_gets_the_trigger_that_it_needs():
    judge_choice(CHOICE)
    judge_choice(
        {
            "alarm": {"realTime": "1 minute"},
            "board": {"processingTime": "1000 milliseconds"},
            "counts": {"processingTime": "0 seconds"},
        }
    )
    judge_choice(CHOICE | {"alarm": {"continuous": "1 second"}})


@pytest.mark.parametrize(
    ("name", "trigger", "said"),
    [
        ("counts", {"realTime": "5 seconds"}, "counts need state"),
        ("counts", {"processingTime": "1 second"}, "fresher without a pause"),
        ("alarm", {}, "an alarm waits for a batch"),
        ("alarm", {"processingTime": "0 seconds"}, "an alarm waits for a batch"),
        ("alarm", {"realTime": "10 milliseconds"}, "Spark refuses an interval below 5 seconds"),
        ("alarm", {"realTime": "soon"}, "an interval is a text"),
        ("board", {}, "more batches than anybody looks at"),
        ("board", {"realTime": "5 seconds"}, "more batches than anybody looks at"),
        ("board", {"processingTime": "1 minute"}, "something new each 60 seconds"),
        ("board", {"availableNow": True}, "such a query ends"),
        ("board", {"every": "1 second"}, "one argument of `trigger(…)`"),
        ("board", {"realTime": "5 seconds", "processingTime": "1 second"}, "one argument of `trigger(…)`"),
    ],
)
def test_a_trigger_that_does_not_fit_is_told_why(name, trigger, said):
    assert said in told(judge_choice, CHOICE | {name: trigger})


def test_all_three_queries_get_a_trigger():
    assert "has the names alarm" in told(judge_choice, {"alarm": {"realTime": "5 seconds"}})


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("5 seconds", 5),
        ("1 Minute", 60),
        ("250 milliseconds", 0.25),
        ("1 second 500 milliseconds", 1.5),
        ("interval 1.5 seconds", 1.5),
        ("1 day", 86_400),
        ("250 ms", None),
        ("5seconds", None),
        ("5s", None),
        ("1 min", None),
        ("1.5 minutes", None),
        ("0 seconds", 0),
        ("soon", None),
        ("5 fortnights", None),
    ],
)
def test_intervals_are_read_as_spark_reads_them(said, seconds):
    assert seconds_of(said) == seconds


def read_by(*processes: int, keys: tuple[str, ...] = ("0-0", "0-1", "1-0")) -> list[Record]:
    return [
        Record("there", 0, n, key.encode(), str(process).encode(), 0, "create")
        for n, (key, process) in enumerate(zip(keys, processes, strict=True))
    ]


def test_two_executors_have_read_each_place_once():
    wanted = {"0-0", "0-1", "1-0"}

    def judged(records: list[Record]) -> str:
        return told(judge_readers_of, "there", records, wanted, 7)

    judge_readers_of("there", read_by(21, 21, 22), wanted, 7)
    assert "holds nothing" in judged([])
    assert "1 of 3 departures are missing" in judged(read_by(21, 22, keys=("0-0", "0-1")))
    assert "3 departures are there twice" in judged([*read_by(21, 21, 22), *read_by(7, 7, 7)])
    assert "the driver's own process" in judged(read_by(7, 7, 7))
    assert "one executor has read all" in judged(read_by(21, 21, 21))
