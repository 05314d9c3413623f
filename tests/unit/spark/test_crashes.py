"""Spark dies at the first commit of the chosen batch, or at the end of its sink; nothing follows there."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException

from threebrokers.errors import LabError
from threebrokers.spark import crashes, gateway
from threebrokers.spark.books import Book
from threebrokers.spark.crashes import Crash, Sink
from threebrokers.waiting import quiet_wait


@pytest.fixture
def killed(monkeypatch, tmp_path) -> list[str]:
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    killed: list[str] = []
    monkeypatch.setattr(gateway, "kill", lambda: killed.append("java"))
    return killed


@pytest.fixture
def die() -> Iterator[Callable[[Crash, int], None]]:
    """Give a batch to the sink, as Spark does, in another thread; kill Spark when the sink waits for it."""
    with ThreadPoolExecutor(1) as pool:

        def run(crash: Crash, number: int) -> None:
            done = pool.submit(crash, None, number)  # type: ignore[arg-type]  # these sinks look at no batch
            assert quiet_wait(lambda: crash.is_due or done.done(), 10)
            if crash.is_due:
                crash.kill()
            done.result(10)

        yield run


def test_without_a_book_the_sink_runs_to_its_end(killed, die):
    seen: list[int] = []
    crash = Crash(lambda batch, number: seen.append(number), 1, None)
    die(crash, 0)
    assert (seen, killed) == ([0], [])
    die(crash, 1)
    assert (seen, killed, crash.at_commit) == ([0, 1], ["java"], False)


def test_with_a_book_nothing_follows_the_first_commit(killed, die):
    book = Book("test")

    def sink(batch: object, number: int) -> None:
        with book.open() as db:
            db.execute("CREATE TABLE IF NOT EXISTS trips (batch)")
            db.execute("INSERT INTO trips VALUES (?)", (number,))
            db.commit()
            db.execute("INSERT INTO trips VALUES ('later')")

    crash = Crash(sink, 1, book)
    die(crash, 0)
    die(crash, 1)
    assert (killed, crash.at_commit) == (["java"], True)
    assert book.rows("SELECT * FROM trips") == [(0,), ("later",), (1,)]
    assert book.on_commit is None


def test_a_sink_that_fails_kills_nobody(killed, die):
    def sink(batch: object, number: int) -> None:
        raise KeyError(number)

    crash = Crash(sink, 1, None)
    with pytest.raises(KeyError):
        die(crash, 1)
    assert (crash.is_due, killed) == (False, [])


def test_what_a_sink_kept_in_memory_does_not_survive_a_death(monkeypatch, tmp_path, capsys):
    names: dict[str, Any] = {"__name__": "__main__"}
    exec("seen = set()\ndef save(batch, number):\n    seen.add(number)\n    return seen", names)  # noqa: S102

    def first(start: object, sink: Sink, checkpoint: str, **more: object) -> Path:
        sink(None, 1)  # type: ignore[arg-type]
        return tmp_path

    monkeypatch.setattr(crashes, "killed", first)
    monkeypatch.setattr(crashes, "started_again", lambda start, sink, checkpoint: sink(None, 2))
    monkeypatch.setattr(crashes, "at_death", lambda checkpoint, lab=None: tmp_path)
    start: Any = None
    assert crashes.until_done(start, names["save"], "keyed", kill_in=1) == {2}
    assert names["seen"] == {1}
    assert crashes.forgotten("keyed") == ["seen"]
    assert "in memory is gone, too: seen." in capsys.readouterr().out
    (tmp_path / crashes.FORGOTTEN).unlink()
    assert crashes.forgotten("keyed") == []


@pytest.fixture
def until_done(monkeypatch, tmp_path, killed, die) -> Callable[[Sink, Book | None], None]:
    """Run `until_done` of three batches with a death in batch 1; there is no Spark."""
    monkeypatch.setattr(crashes, "at_death", lambda checkpoint, lab=None: tmp_path)

    def first(start: object, sink: Sink, checkpoint: str, *, batch: int, book: Book | None) -> Path:
        crash = Crash(sink, batch, book)
        for number in range(batch + 1):
            die(crash, number)
        return tmp_path

    def second(start: object, sink: Sink, checkpoint: str) -> None:
        for number in (1, 2):
            sink(None, number)  # type: ignore[arg-type]

    monkeypatch.setattr(crashes, "killed", first)
    monkeypatch.setattr(crashes, "started_again", second)

    def run(sink: Sink, book: Book | None) -> None:
        crashes.until_done(None, sink, "keyed", kill_in=1, book=book)  # type: ignore[arg-type]

    return run


def counts_of(book: Book) -> list[tuple[object, ...]]:
    return book.rows("SELECT batch, count(*) FROM trips GROUP BY batch ORDER BY batch")


def test_a_death_between_two_commits_is_followed_by_one_behind_the_last(until_done, capsys):
    book = Book("test")

    def save(batch: object, number: int) -> None:
        with book.open() as db:
            db.execute("CREATE TABLE IF NOT EXISTS trips (batch)")
            db.execute("CREATE TABLE IF NOT EXISTS log (batch)")
            db.execute("INSERT INTO log VALUES (?)", (number,))
        with book.open() as db:
            db.execute("INSERT INTO trips VALUES (?)", (number,))

    until_done(save, book)
    assert counts_of(book) == [(0, 1), (1, 2), (2, 1)]
    assert "Batch 1 came once more, as after a death behind its last commit." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("made", "write"),
    [
        ("CREATE TABLE IF NOT EXISTS trips (batch PRIMARY KEY)", "INSERT OR IGNORE INTO trips VALUES (?)"),
        ("CREATE TABLE IF NOT EXISTS trips (batch)", "INSERT INTO trips VALUES (?)"),
    ],
)
def test_a_sink_that_may_be_asked_twice_may_be_asked_three_times(until_done, made, write):
    book = Book("test")

    def save(batch: object, number: int) -> None:
        with book.open() as db:
            db.execute(made)
            db.execute("CREATE TABLE IF NOT EXISTS done (batch INTEGER PRIMARY KEY)")
            noted = db.execute("INSERT OR IGNORE INTO done VALUES (?)", (number,)).rowcount
            if "PRIMARY KEY" in made or noted:
                db.execute(write, (number,))

    until_done(save, book)
    assert counts_of(book) == [(0, 1), (1, 1), (2, 1)]


def test_without_a_book_the_second_run_gives_each_batch_once(until_done, capsys):
    seen: list[int] = []
    until_done(lambda batch, number: seen.append(number), None)
    assert seen == [0, 1, 1, 2]
    assert "came once more" not in capsys.readouterr().out


def test_what_a_sink_kept_in_memory_does_not_survive_the_second_death_either(until_done):
    book, calls = Book("test"), list[set[int]]()
    names: dict[str, Any] = {"__name__": "__main__", "note": calls.append}
    exec("seen = set()\ndef save(batch, number):\n    note(set(seen))\n    seen.add(number)", names)  # noqa: S102
    until_done(names["save"], book)
    assert len(calls) == 5
    assert calls[2] == calls[3] == set()
    assert calls[4] == {1}


class Query:
    """A streaming query that is stopped, or ends when it is waited for; `fault` is raised then."""

    def __init__(self, ends: bool, fault: BaseException | None = None) -> None:
        self.ends, self.fault, self.isActive, self.recentProgress = ends, fault, True, [{"batchId": 2}]

    def stop(self) -> None:
        self.isActive = False

    def exception(self) -> BaseException | None:
        return self.fault

    def awaitTermination(self, seconds: float) -> bool:  # noqa: N802 - Spark's name
        if self.fault is not None:
            raise self.fault
        return self.ends


@pytest.fixture
def _spark(monkeypatch, tmp_path):
    monkeypatch.setattr(crashes, "session", lambda: None)
    monkeypatch.setattr(crashes, "folder", lambda name: tmp_path / name)
    monkeypatch.setattr(crashes, "fresh_folder", lambda name: str(tmp_path / name))


@pytest.mark.usefixtures("_spark")
def test_ctrl_c_before_the_death_stops_the_query_and_lets_its_sink_end(monkeypatch):
    def interrupted(*_: object) -> bool:
        raise KeyboardInterrupt

    query, crashed = Query(ends=False), []
    monkeypatch.setattr(crashes, "quiet_wait", interrupted)

    def start(sink: Crash, folder: str) -> Query:
        crashed.append(sink)
        return query

    with pytest.raises(KeyboardInterrupt):
        crashes.killed(start, lambda batch, number: None, "plain", batch=1)  # type: ignore[arg-type]
    assert not query.isActive
    with ThreadPoolExecutor(1) as pool:
        pool.submit(crashed[0], None, 1).result(10)  # it waits for no death any more


@pytest.mark.usefixtures("_spark")
def test_a_query_that_did_not_end_in_time_has_not_read_to_the_end(capsys):
    query = Query(ends=False)
    with pytest.raises(LabError, match="did not read to the end within 150 s"):
        crashes.started_again(lambda *_: query, print, "plain")  # type: ignore[arg-type, return-value]
    assert not query.isActive
    assert "read to the end" not in capsys.readouterr().out
    crashes.started_again(lambda *_: Query(ends=True), print, "plain")  # type: ignore[arg-type, return-value]
    assert "went on with batch 2, and read to the end" in capsys.readouterr().out


@pytest.mark.usefixtures("_spark")
def test_a_query_that_fails_after_spark_s_return_is_one_sentence():
    query = Query(ends=True, fault=StreamingQueryException("[X] It is there already.\nAnd more."))
    with pytest.raises(LabError, match=r"failed after Spark's return \(It is there already\.\)"):
        crashes.started_again(lambda *_: query, print, "plain")  # type: ignore[arg-type, return-value]
    assert not query.isActive


@pytest.mark.usefixtures("_spark")
def test_ctrl_c_after_spark_s_return_stops_the_query():
    query = Query(ends=False, fault=KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        crashes.started_again(lambda *_: query, print, "plain")  # type: ignore[arg-type, return-value]
    assert not query.isActive
