"""A book tells of each commit that changed it, and of nothing else."""

import sqlite3

import pytest

from threebrokers.spark.books import Book


@pytest.fixture
def book(monkeypatch, tmp_path) -> Book:
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    return Book("test")


def test_a_block_is_one_transaction(book):
    with book.open() as db:
        db.execute("CREATE TABLE trips (part NOT NULL)")
    with pytest.raises(sqlite3.IntegrityError), book.open() as db:
        db.executemany("INSERT INTO trips VALUES (?)", [(1,), (None,)])
    assert book.rows("SELECT count(*) FROM trips") == [(0,)]
    with pytest.raises(sqlite3.ProgrammingError):
        db.execute("SELECT 1")


def test_each_commit_is_told(book):
    heard = []
    book.on_commit = lambda: heard.append(len(book.rows("SELECT name FROM sqlite_master")))
    with book.open() as db:
        db.execute("CREATE TABLE trips (part)")
        db.commit()
        assert heard == [1]
        db.commit()
        assert heard == [1]
        db.execute("INSERT INTO trips VALUES (1)")
    assert heard == [1, 1]


def test_a_commit_that_changes_nothing_is_not_told(book):
    with book.open() as db:
        db.execute("CREATE TABLE IF NOT EXISTS trips (part PRIMARY KEY)")
        db.execute("INSERT INTO trips VALUES (1)")
    heard = []
    book.on_commit = lambda: heard.append(True)
    for repeated in (
        "CREATE TABLE IF NOT EXISTS trips (part PRIMARY KEY)",
        "INSERT OR IGNORE INTO trips VALUES (1)",
        "SELECT * FROM trips",
    ):
        with book.open() as db:
            db.execute(repeated).fetchall()
        assert heard == []
    with book.open() as db:
        db.execute("INSERT INTO trips VALUES (2)")
    assert heard == [True]


def test_who_hears_of_a_commit_may_end_the_block(book):
    def die() -> None:
        raise KeyError

    book.on_commit = die
    with pytest.raises(KeyError), book.open() as db:
        db.execute("CREATE TABLE trips (part)")
    assert book.rows("SELECT name FROM sqlite_master") == [("trips",)]


def test_a_book_begins_empty(book):
    with book.open() as db:
        db.execute("CREATE TABLE trips (part)")
    assert Book("test").rows("SELECT name FROM sqlite_master") == []
