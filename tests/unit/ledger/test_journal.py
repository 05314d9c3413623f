"""The ledger's file: several processes write it, and any of them may be killed."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from threebrokers.errors import LabError
from threebrokers.ledger import journal, place
from threebrokers.ledger.interceptors import HEADER, number_in, stamp
from threebrokers.ledger.journal import Book, Number

WORKER = """
import os, signal, sys
from pathlib import Path
from threebrokers.ledger.journal import Book, Number
book = Book.joined(Path(sys.argv[1]))
number = book.enlist("producer")
for sequence in range(500):
    book.note("attempted", Number(number, sequence), "t")
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.programs
def test_processes_that_are_killed_lose_nothing(tmp_path: Path) -> None:
    book = Book.fresh(tmp_path / "kill.jsonl")
    own = book.enlist("producer")
    workers = [subprocess.Popen([sys.executable, "-c", WORKER, str(book.path)]) for _ in range(3)]
    for sequence in range(500):
        book.note("attempted", Number(own, sequence), "t")
    assert [worker.wait(60) for worker in workers] == [-signal.SIGKILL] * 3
    expected = {Number(producer, sequence) for producer in range(1, 5) for sequence in range(500)}
    assert [*sorted(note.number for note in book.notes())] == sorted(expected)


def test_all_that_is_noted_comes_back(tmp_path: Path) -> None:
    book = Book.fresh(tmp_path / "a.jsonl")
    book.note("acknowledged", Number(1, 7), "ordérs", 2, 40)
    book.note("failed", Number(1, 8), "t", reason="_TIMED_OUT")
    book.note("delivered", Number(1, 7), "t", 2, 40, by=3)
    first, second, third = book.notes()
    assert (first.what, first.number, first.topic) == ("acknowledged", (1, 7), "ordérs")
    assert (first.partition, first.offset) == (2, 40)
    assert (second.reason, second.partition) == ("_TIMED_OUT", None)
    assert third.by == 3
    assert 0 < first.at <= second.at <= third.at


def test_a_book_that_is_read_while_another_thread_notes_tells_all_that_was_there(tmp_path: Path) -> None:
    book = Book.fresh(tmp_path / "a.jsonl")
    for sequence in range(3000):
        book.note("attempted", Number(1, sequence), "t")
    over = threading.Event()

    def note() -> None:
        while not over.is_set():
            book.note("processed", Number(1, 0), "t")

    writer = threading.Thread(target=note)
    writer.start()
    try:
        for look in range(1, 6):
            seen = [found.number.sequence for found in book.notes() if found.what == "attempted"]
            assert seen == list(range(3000))
            assert book.enlist("producer") == look
    finally:
        over.set()
        writer.join()


def test_lines_that_two_readings_share_stay_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    book = Book.fresh(tmp_path / "a.jsonl")
    for sequence in range(20):
        book.note("attempted", Number(1, sequence), "ordérs")
    whole = list(book.notes())
    monkeypatch.setattr(journal, "PART", 7)
    assert list(book.notes()) == whole
    assert len(whole) == 20


def test_a_line_under_way_is_left_out(tmp_path: Path) -> None:
    book = Book.fresh(tmp_path / "a.jsonl")
    book.note("attempted", Number(1, 0), "t")
    with book.path.open("ab") as file:
        file.write(b'{"what":"attempted","num')
    assert len(list(book.notes())) == 1


def test_a_fresh_book_is_not_disturbed_by_the_earlier_run(tmp_path: Path) -> None:
    old = Book.fresh(tmp_path / "a.jsonl")
    old.note("attempted", Number(1, 0), "t")
    new = Book.fresh(tmp_path / "a.jsonl")
    old.note("attempted", Number(1, 1), "t")
    assert old.run != new.run
    assert list(new.notes()) == []
    assert [note.number.sequence for note in old.notes()] == [0, 1]
    assert Book.joined(new.path).run == new.run


def test_clients_of_each_kind_are_numbered(tmp_path: Path) -> None:
    book = Book.fresh(tmp_path / "a.jsonl")
    other = Book.joined(book.path)
    kinds = [
        book.enlist("producer"),
        other.enlist("producer"),
        other.enlist("consumer"),
        book.enlist("consumer"),
    ]
    assert kinds == [1, 2, 1, 2]


@pytest.mark.parametrize("content", [None, b"", b"nonsense\n", b"[]\n", b'{"other": 1}\n'])
def test_joining_what_nobody_has_begun(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "kill.jsonl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(LabError, match=r"no ledger 'kill' yet: .* lab\.ledger"):
        Book.joined(path)


@pytest.mark.parametrize("name", ["", "a/b", "../x", "a b"])
def test_a_name_that_is_no_file(name: str) -> None:
    with pytest.raises(LabError, match=r"letters, digits, -, _ and \. only"):
        place(Path(os.curdir), "04", name)


@given(st.integers(1, 99), st.integers(0, 10**9))
def test_a_stamp_is_read_again(producer: int, sequence: int) -> None:
    number = Number(producer, sequence)
    headers = [("trace", None), (HEADER, b"\xff other"), (HEADER, stamp("a1", number))]
    assert number_in(headers, "a1") == number
    assert number_in(headers, "a") is None
    assert number_in(None, "a1") is None
