"""What lab 10's scenarios do without brokers: what a database holds, and what a program stumbles over."""

import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from threebrokers.errors import LabError
from threebrokers.kafka.state import PartitionState, TopicState
from threebrokers.lab import orders
from threebrokers.lab.orders import Job, PaidOrders, job_file
from threebrokers.lab.scenarios import Effects, Trials, guarantees, numbered, rolling
from threebrokers.lab.scenarios.effects import PLACES, SECOND_LIFE, STORED, TWICE, _found
from threebrokers.ledger.balance import Balance
from threebrokers.ledger.entries import Entry, Failure
from threebrokers.ledger.journal import Number


def test_ten_orders_are_stored_twice():
    assert 40 + len(TWICE) == STORED
    assert set(TWICE) <= set(SECOND_LIFE)
    # Each kill comes before the orders that stand there twice end, so that a life after it meets them.
    assert all(order < TWICE.stop for order, _ in PLACES)
    # What a kill has lost is not mended by the second record of an order; before its first word nothing is.
    assert [place for order, place in PLACES if order in TWICE] == ["1"]


def held(path: Path, script: str) -> dict[str, Any]:
    """Return what is found in a new database that these statements have made."""
    with closing(sqlite3.connect(path)) as database:
        database.executescript(script)
    return _found(path)


def test_what_a_database_holds(tmp_path: Path):
    found = held(
        tmp_path / "x.sqlite",
        """
        CREATE TABLE Invoices (euros INTEGER, Order_Number INTEGER PRIMARY KEY);
        CREATE TABLE done (order_number INTEGER UNIQUE, word TEXT);
        INSERT INTO invoices VALUES (12, 2), (13, 3);
        INSERT INTO done VALUES (5, 'yes');
        """,
    )
    assert found["counts"] == {2: 1, 3: 1}
    assert found["marked"] == {5}
    assert ["PRIMARY KEY" in schema for schema in found["schemas"]] == [True, False]


def test_numbers_that_a_database_keeps_as_real(tmp_path: Path):
    found = held(
        tmp_path / "x.sqlite",
        """
        CREATE TABLE invoices (order_number REAL PRIMARY KEY, euros REAL);
        CREATE TABLE done (order_number REAL);
        INSERT INTO invoices VALUES (2, 12), (2.5, 13), (NULL, 1);
        INSERT INTO done VALUES (5), (1e999);
        """,
    )
    assert (found["counts"], found["marked"]) == ({2: 1}, {5})


def test_numbers_that_a_database_keeps_as_text(tmp_path: Path):
    found = held(
        tmp_path / "x.sqlite",
        """
        CREATE TABLE invoices (order_number TEXT PRIMARY KEY, euros INTEGER);
        CREATE TABLE done (id BLOB PRIMARY KEY, word TEXT);
        INSERT INTO invoices VALUES (2, 12), ('order 3', 13);
        INSERT INTO done VALUES (x'35', 'yes');
        """,
    )
    assert found["counts"] == {2: 1}
    assert found["marked"] == {5}


def test_what_was_found_is_told_in_words():
    books = Effects(1.0, counts={n: 1 + (n == 3) for n in range(39)})
    assert (
        repr(books)
        == "40 orders in 50 records: 38 have one invoice, 1 (order 3) has more, 1 (order 39) has none"
    )


class Book:
    """A ledger whose consumer only notes what is committed."""

    run = "r1"

    def __init__(self, life: int) -> None:
        self.life, self.committed = life, list[Any]()

    def enlist(self, kind: str) -> int:
        return self.life

    def consumer(self, settings: Any) -> Any:
        return SimpleNamespace(commit=lambda **named: self.committed.append(named), asked=True)


@pytest.mark.parametrize(
    ("life", "place"),
    [
        (1, "order 3, before INSERT INTO invoices VALUES (3, 13)"),
        (2, "order 8, before COMMIT"),
        (3, "order 13, before commit() of the consumer"),
        (4, "order 18, before BEGIN"),
        (5, "order 23, before BEGIN"),
        (6, ""),
    ],
)
def test_a_program_is_killed_before_each_thing_that_it_tells(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any, life: int, place: str
) -> None:
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    monkeypatch.setattr(orders, "ASK_SECONDS", 100_000)  # longer than the tests
    monkeypatch.setattr(orders, "_die", lambda: None)
    monkeypatch.setattr(orders, "next_life", lambda most, gently: 0)  # this process is not copied
    book = Book(life)
    lab: Any = SimpleNamespace(
        number="10", program_name="biller", join_ledger=lambda name: book, group=lambda name: name
    )
    job_file(lab, "biller").write(Job("biller", "paid-orders", stops=PLACES))
    work = PaidOrders(lab)
    with closing(work.database()) as database:
        consumer: Any = work.consumer({"enable.auto.commit": False})
        database.execute("CREATE TABLE invoices (order_number INTEGER PRIMARY KEY, euros INTEGER)")
        for number in range(40):
            with database:
                row = work.invoice(SimpleNamespace(value=lambda number=number: str(number).encode()))
                database.execute("INSERT INTO invoices VALUES (?, ?)", row)
            consumer.commit(message=number)
    out = capsys.readouterr().out
    assert out.count(orders.STOPPED) == bool(place)
    assert place in out
    assert len(book.committed) == 40
    assert orders.BY_ITSELF not in out
    work.consumer()
    assert orders.BY_ITSELF in capsys.readouterr().out


def state(isr: tuple[int, ...], **ends: int) -> Any:
    found = tuple((int(broker[1:]), end) for broker, end in ends.items())
    topic = TopicState("t", (PartitionState("t", 0, 1, 0, (1, 2, 3), isr, log_end_offsets=found),))
    return SimpleNamespace(topic=lambda name: topic, last_response_at=1.0)


def test_who_has_what_was_sent():
    view = state((1,), b1=5, b2=0, b3=0)
    cluster = SimpleNamespace(brokers=(1, 2, 3), state=lambda names: view, views=lambda names: {1: view})
    lab: Any = SimpleNamespace(cluster=cluster)
    assert guarantees.who_has(lab, "t") == [1]
    assert guarantees.is_alone(lab, "t", 1)
    assert not guarantees.is_alone(lab, "t", 2)  # it does not answer
    assert not guarantees._all_have(lab, "t", 5)
    cluster.state = lambda names: state((1,), b1=1, b2=0, b3=0)
    assert guarantees.who_has(lab, "t") == []  # that one was there first
    cluster.state = lambda names: state((1, 2, 3), b1=5, b2=5, b3=6)
    assert guarantees._all_have(lab, "t", 5)


def test_set_ups_that_are_no_dictionaries():
    with pytest.raises(LabError, match="is no dictionary of settings"):
        guarantees.killed_leader(SimpleNamespace(), {"acks": "all"})  # type: ignore[arg-type, dict-item]


def test_trials_are_shown_as_a_table():
    trials = Trials({"mine": Balance("t")}, {}, 1.0, "killed-leader", {"mine": {}}, {})
    assert "mine" in repr(trials)
    assert "<table>" in trials._repr_html_()


def test_predicted_numbers_stand_beside_the_measured_ones():
    def balance(acknowledged: int, stored: int) -> Balance:
        entries = [Entry(Number(1, n % 200), 0, n) for n in range(max(acknowledged, stored))]
        return Balance("t", acknowledged=entries[:acknowledged], stored=entries[:stored])

    balances = {"hasty": balance(200, 100), "doubling": balance(200, 300), "good": balance(200, 200)}
    trials = Trials(balances, {}, 1.0, "killed-leader", {}, {})
    assert trials.numbers == "200/100, 200/300, 200/200"
    assert trials.names("lost") == "hasty"
    assert trials.names("expired") == "none of them"
    told = trials.beside("200/200, 200/300, 200/100").predicted
    assert list(told.values()) == [
        "200 acknowledged, 200 stored",
        "200 acknowledged, 300 stored, 100 twice",
        "200 acknowledged, 100 stored, 100 lost",
    ]
    assert "you predicted" in repr(trials.beside("200/200, 200/200, 200/200"))
    assert trials.beside(None) == trials


def test_the_numbers_of_batches_are_read_from_a_dump():
    line = (
        "baseOffset: 100 lastOffset: 199 count: 100 baseSequence: {0} lastSequence: {1} producerId: {2} "
        "producerEpoch: {3} partitionLeaderEpoch: 0 isTransactional: false isControl: false"
    )
    dump = "\n".join(
        ["Dumping x.log", line.format(100, 199, 4, 0), line.format(-1, -1, -1, -1), "| offset: 100"]
    )
    cluster = SimpleNamespace(segments=lambda topic, partition: [Path("x.log")], tool=lambda *words: dump)
    found = numbered.numbered_batches(SimpleNamespace(cluster=cluster), "t")
    assert found["sequence numbers"].tolist() == ["100–199", "none"]
    assert found["producer id"].tolist() == ["4", "none"]
    assert found["offsets"].tolist() == ["100–199"] * 2


def test_what_a_rolling_restart_did_to_a_topic():
    def entry(number: int) -> Entry:
        return Entry(Number(1, number), 0, number)

    balance = Balance(
        "t",
        attempted=[Number(1, n) for n in range(6)],
        acknowledged=[entry(0), entry(1), entry(5)],
        failed=[
            Failure(Number(1, 2), "NOT_ENOUGH_REPLICAS"),
            Failure(Number(1, 3), "NOT_ENOUGH_REPLICAS_AFTER_APPEND"),
            Failure(Number(1, 4), "_TRANSPORT"),
        ],
        stored=[entry(0), entry(5)],
    )
    told = [(1.0, ""), (1.5, ""), (2.0, "NOT_ENOUGH_REPLICAS"), (4.0, ""), (4.1, "_TRANSPORT"), (9.0, "_X")]
    assert rolling._became(balance, told) == {
        "sent": 6,
        "acknowledged": 3,
        "NOT_ENOUGH_REPLICAS": 2,
        "other errors": 1,
        "lost": 1,
        "longest pause (s)": 2.5,
    }
    assert rolling.longest_pause(told[:1]) == 0


def test_settings_that_the_client_refuses_are_told_in_its_words():
    def refuse(settings: Any) -> Any:
        raise KafkaException(KafkaError(KafkaError._INVALID_ARG, f"acks must not be {settings['acks']}"))

    ledger: Any = SimpleNamespace(producer=refuse)
    words = r"refuses the settings of 'mine' \(acks must not be 1\): change"
    with pytest.raises(LabError, match=words):
        guarantees._producer(ledger, "mine", {"acks": 1})
    with pytest.raises(LabError, match="'mine' has acks=2, and the brokers know only 0, 1 and all"):
        guarantees._producer(ledger, "mine", {"acks": 2})


def test_a_report_that_has_not_come_is_told():
    told = guarantees.Told()
    told.update({"strict": None})
    assert told["strict"] is None
    assert dict(told) == {"strict": None}
    with pytest.raises(LabError, match="No delivery report has come yet for 'loose'"):
        told["loose"]
