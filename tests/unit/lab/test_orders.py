"""The job of a worker that is killed, as its program and its notebook see it, without brokers."""

import sqlite3
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from threebrokers.lab import orders
from threebrokers.lab.orders import Job, Orders, job_file
from threebrokers.lab.scenarios import killing, lives


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    monkeypatch.setattr(orders, "ASK_SECONDS", 100_000)  # longer than the tests
    monkeypatch.setattr(orders, "STOP_SECONDS", 0)  # nobody kills this process
    monkeypatch.setattr(orders, "_die", lambda: None)
    monkeypatch.setattr(orders, "next_life", lambda most, gently: 0)  # this process is not copied
    return tmp_path


class Book:
    """A ledger that notes what is processed."""

    run = "r1"

    def __init__(self, life: int) -> None:
        self.life, self.done = life, list[int]()

    def enlist(self, kind: str) -> int:
        return self.life

    def processed(self, message: Any) -> None:
        self.done.append(int(message.value()))

    def consumer(self, settings: Any) -> Any:
        return SimpleNamespace(config=settings, commit=lambda *place, **named: None)


def lab(book: Book) -> Any:
    return SimpleNamespace(
        number="06",
        program_name="careful",
        join_ledger=lambda name: book,
        group=lambda name: f"{name}-opened",
        topic=lambda name: name,
    )


def order(number: int) -> Any:
    return SimpleNamespace(value=lambda: str(number).encode())


def given(life: int, **job: Any) -> tuple[Orders, Book]:
    book = Book(life)
    job_file(lab(book), "careful").write(Job("careful", "orders", **job))
    return Orders(lab(book)), book


def test_a_program_without_a_job_ends_at_once(capsys):
    with pytest.raises(SystemExit) as ended:
        Orders(lab(Book(1)))
    assert ended.value.code == 0
    assert "the next cell gives it" in capsys.readouterr().out


def test_a_consumer_is_the_same_worker_again_and_the_programs_settings_count():
    work, _ = given(1, commit_ms=700)
    made = work.consumer({"enable.auto.commit": False, "auto.offset.reset": "latest"})
    assert made.config == {
        "group.id": "careful-r1-opened",
        "group.instance.id": "worker",
        "auto.offset.reset": "latest",
        "auto.commit.interval.ms": 700,
        "enable.auto.commit": False,
    }


def test_a_consumer_that_asks_for_no_topic_is_told(capsys):
    orders._tell_deaf(SimpleNamespace(asked=True))  # type: ignore[arg-type]
    assert capsys.readouterr().out == ""
    orders._tell_deaf(SimpleNamespace(asked=False))  # type: ignore[arg-type]
    assert orders.DEAF in capsys.readouterr().out


@pytest.mark.parametrize(
    ("settings", "automatic"),
    [
        ({}, True),
        ({"enable.auto.commit": "true"}, True),
        ({"enable.auto.commit": False}, False),
        ({"enable.auto.commit": "False"}, False),
        ({"enable.auto.offset.store": False}, False),
    ],
)
def test_it_tells_the_notebook_whether_its_client_commits_by_itself(capsys, settings, automatic):
    work, _ = given(1, stops=killing.AT_WORK)
    work.consumer(settings)
    work.work(order(7))
    assert (orders.STOPPED + orders.AUTOMATIC in capsys.readouterr().out) == automatic


@pytest.mark.parametrize(
    ("settings", "stores"),
    [
        ({}, False),
        ({"enable.auto.offset.store": False}, True),
        ({"enable.auto.offset.store": "false", "enable.auto.commit": False}, False),
    ],
)
def test_it_tells_the_notebook_whether_its_client_commits_what_it_stores(capsys, settings, stores):
    work, _ = given(1, stops=killing.AT_WORK)
    work.consumer(settings)
    work.work(order(7))
    assert (orders.STORED in capsys.readouterr().out) == stores


@pytest.mark.parametrize(
    ("said", "committed", "within"),
    [
        (orders.STOPPED, 8, lives.COMMIT_SECONDS),
        (orders.STOPPED + orders.AUTOMATIC, 8, lives.AUTOMATIC_SECONDS),
        (orders.STOPPED + orders.STORED, 7, lives.AUTOMATIC_SECONDS),
    ],
)
def test_it_is_killed_when_its_client_has_surely_committed(monkeypatch, said, committed, within):
    waits, place = list[float](), {"offset": committed - 1}

    def quiet_wait(done: Any, seconds: float) -> None:
        assert not done()
        place["offset"] = committed
        assert done()
        waits.append(seconds)

    monkeypatch.setattr(lives, "quiet_wait", quiet_wait)
    monkeypatch.setattr(lives, "committed_offset", lambda *asked: place["offset"])
    program: Any = SimpleNamespace(output=said)
    asked = orders.kill_file(lab(Book(1)), "careful")
    asked.parent.mkdir()
    lives._kill(lab(Book(1)), program, Job("careful", "orders"), "group", (13, "after"))
    assert (waits, asked.exists()) == ([], False)
    lives._kill(lab(Book(1)), program, Job("careful", "orders"), "group", (7, "before"))
    assert (waits, asked.exists()) == ([within], True)


@pytest.mark.parametrize(
    ("settings", "places", "named", "hurried"),
    [
        ({"enable.auto.commit": False}, (), {"message": 1, "asynchronous": False}, False),
        ({"enable.auto.commit": False}, (1, None, False), {}, False),
        ({"enable.auto.commit": False}, (), {"message": 1}, True),
        ({"enable.auto.commit": False}, (1,), {}, True),
        ({"enable.auto.offset.store": False}, (), {"asynchronous": False}, True),
        ({}, (), {"asynchronous": False}, False),  # that one is automatic
    ],
)
def test_it_tells_the_notebook_whether_it_waits_for_its_commits(capsys, settings, places, named, hurried):
    work, _ = given(1, stops=killing.AT_WORK)
    work.consumer(settings).commit(*places, **named)
    work.work(order(7))
    assert lives._habits(capsys.readouterr().out)[1] == hurried


def test_it_stands_still_where_it_is_to_be_killed_each_life_at_its_own_place(capsys):
    for life, said in ((1, "order 7, before the invoice"), (2, "order 13, after the invoice"), (3, "")):
        work, book = given(life, stops=killing.AT_WORK)
        for number in range(40):
            work.work(order(number))
        out = capsys.readouterr().out
        assert book.done == list(range(40))
        assert (f"run {life}, {said}: {orders.STOPPED}" in out) == bool(said)
        assert out.count(orders.STOPPED) == bool(said)
        assert orders.DONE in out


@pytest.mark.parametrize(
    ("life", "one", "place"),
    [
        (1, True, "order 7, before INSERT INTO invoices VALUES (7, 17)"),
        (2, True, "order 13, before COMMIT"),
        (2, False, "order 13, before BEGIN"),
        (3, True, ""),
    ],
)
def test_it_stands_still_between_two_statements(capsys, home, life, one, place):
    work, _ = given(life, stops=killing.AT_STATEMENTS)
    with sqlite3.connect(orders.database_path(lab(Book(1)), "careful")) as empty:
        empty.executescript(orders.TABLES)
    database = work.database()
    for number in range(40):
        with database:
            database.execute("INSERT INTO invoices VALUES (?, ?)", work.invoice(order(number)))
            if not one:
                database.commit()
            database.execute("INSERT OR REPLACE INTO positions VALUES (0, ?)", [number + 1])
    out = capsys.readouterr().out
    assert out.count(orders.STOPPED) == bool(place)
    assert place in out
    counts, positions = killing._rows(orders.database_path(lab(Book(1)), "careful"))
    assert (len(counts), max(counts.values()), positions) == (40, 1, {0: 40})
    database.close()
    empty.close()


@pytest.mark.parametrize(("life", "killed_at"), [(1, []), (2, []), (3, [20])])
def test_who_commits_at_the_brokers_too_is_killed_before_that_in_its_third_life(
    capsys, monkeypatch, life, killed_at
):
    dead, number = list[int](), 0
    monkeypatch.setattr(orders, "_die", lambda: dead.append(number))
    work, _ = given(life, stops=killing.AT_STATEMENTS)
    consumer = work.consumer({"enable.auto.commit": False})
    for number in range(21):
        work.invoice(order(number))
        consumer.commit(message=order(number), asynchronous=False)
    assert dead == killed_at
    assert ("order 20, before commit() of the consumer" in capsys.readouterr().out) == bool(killed_at)


class Running:
    """A program that runs until it is asked to end; it notes whether there was a job for it by then."""

    exit_code, output, state = None, "", "runs"

    def __init__(self, lab: Any) -> None:
        self.lab, self.jobs = lab, list[Job | None]()

    def stop(self) -> None:
        self.jobs.append(job_file(self.lab, "careful").read())

    kill = stop


def test_the_job_is_offered_only_while_the_block_runs_and_to_no_earlier_run():
    here = lab(Book(1))
    earlier = Running(here)
    here.program = lambda name: earlier
    with lives.offered(here, Job("careful", "orders")):
        assert earlier.jobs, "an earlier run could take the job, and be its first life"
        assert not any(earlier.jobs)
        assert job_file(here, "careful").read() == Job("careful", "orders")
        assert job_file(here, "another").read() is None
    assert job_file(here, "careful").read() is None


@pytest.mark.parametrize(
    ("said", "state", "why"),
    [
        (f"run 1, order 7: {orders.STOPPED}", None, lives.AT_ITS_PLACE),
        (orders.DONE, None, "it did the last order"),
        (f"the consumer {orders.DEAF}", None, "it asked for no topic"),
        ("run 1 begins\nKafkaException: x", "failed (exit code 1)", "it failed (exit code 1)"),
        ("run 1 begins", None, "it did nothing for 0 s"),
    ],
)
def test_it_says_why_nobody_waits_for_a_program_any_more(monkeypatch, said, state, why):
    monkeypatch.setattr(lives, "IDLE_SECONDS", 0)
    here = lab(Book(1))
    program = Running(here)
    program.output, program.state, program.exit_code = said, state or "runs", 1 if state else None
    job = Job("careful", "orders")
    assert lives._why_it_is_over(here, program, job, "g", 1) == why  # type: ignore[arg-type]


def test_what_each_life_has_written():
    program: Any = SimpleNamespace(output="first words\n")
    assert [lives._said(program, life) for life in (1, 2)] == ["first words\n", ""]
    program.output += "run 1 begins\nkilled\nrun 2 begins\ndone\n"
    assert lives._said(program, 1) == "run 1 begins\nkilled\n"
    assert lives._said(program, 2) == "run 2 begins\ndone\n"
    assert lives._said(program, 3) == ""


def test_a_life_kills_itself_when_it_is_asked_and_not_before(monkeypatch):
    here, seen = lab(Book(1)), list[bool]()
    asked = orders.kill_file(here, "careful")
    monkeypatch.setattr(orders, "_die", lambda: seen.append(asked.exists()))
    work, _ = given(1, stops=killing.AT_WORK)
    monkeypatch.setattr(orders, "quiet_wait", lambda look, within: (seen.append(look()), asked.touch()))
    work.work(order(7))
    assert seen == [False, False]  # it was not asked yet; and the file is gone again when it dies


def test_how_the_lives_of_a_program_went_is_one_line():
    done = lives.Ending(1.0, 2, why="it did the last order", last="order 39 is done")
    assert done.course == (
        "the program was killed 2 times; then it did the last order (its last line: order 39 is done)"
    )
    assert lives.Ending(1.0, 1, why="it failed").course == "the program was killed 1 time; then it failed"


def test_it_stands_still_also_if_the_rows_are_asked_for_before_the_first_is_written(capsys, home):
    for life, place in ((1, "order 7, before INSERT INTO"), (2, "order 13, before INSERT INTO")):
        work, _ = given(life, stops=killing.AT_STATEMENTS)
        path = orders.database_path(lab(Book(1)), "careful")
        path.unlink(missing_ok=True)
        with sqlite3.connect(path) as empty:
            empty.executescript(orders.TABLES)
        database = work.database()
        for first in range(0, 40, 10):
            rows = [work.invoice(order(number)) for number in range(first, first + 10)]
            with database:
                database.executemany("INSERT INTO invoices VALUES (?, ?)", rows)
        out = capsys.readouterr().out
        assert out.count(orders.STOPPED) == 1
        assert place in out


@pytest.mark.parametrize(
    ("code", "said", "fault"),
    [
        (1, "a\nNameError: x\n", "NameError: x"),
        (0, "a\n", ""),
        (None, "a\n", ""),
        (None, "Exception in thread Thread-1 (work):\nNameError: x\n", "NameError: x"),
    ],
)
def test_what_a_program_failed_of(code, said, fault):
    assert lives.fault_of(SimpleNamespace(exit_code=code, output=said)) == fault  # type: ignore[arg-type]
