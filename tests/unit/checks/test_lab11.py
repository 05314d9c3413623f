"""What lab 11's checks say of answers, without brokers."""

from types import SimpleNamespace
from typing import Any

import pytest

from threebrokers.checks.lab11 import booked, choosing, failures, gaps, opened, shop
from threebrokers.kafka.batches import Batch
from threebrokers.kafka.log_reader import Record
from threebrokers.kafka.transactions import TransactionNote
from threebrokers.lab import attempt as lab_attempt
from threebrokers.lab.exercise import NotAttempted, NotYet
from threebrokers.lab.scenarios.failing import CASES, Case, Tried
from threebrokers.lab.scenarios.transactions import Stuck
from threebrokers.lab.scenarios.transferring import Booked
from threebrokers.lab.transfers import COUNT, PLACES


def told(check: Any, *answers: Any) -> str:
    with pytest.raises(NotYet) as caught:
        check(*answers)
    return str(caught.value)


@pytest.fixture(autouse=True)
def tries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the try that is judged begin at 50."""
    monkeypatch.setattr(lab_attempt, "attempt", lambda: SimpleNamespace(began=50.0, cell="exercise-11-4"))
    for module in (shop, opened):
        monkeypatch.setattr(module, "eventually", lambda look, **more: look())


# --- 11.1

TOPICS = ("shop-orders", "shop-payments", "shop-audit")
PAID = shop.PAID


class Shop:
    """Three topics as a check finds them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.numbers = {topic: list(PAID) for topic in TOPICS}
        self.transactional = True
        self.held: dict[str, dict[int, int]] = {}
        self.parts = [frozenset((topic, 0) for topic in TOPICS)] * 10
        monkeypatch.setattr(shop, "Producer", SimpleNamespace)
        monkeypatch.setattr(shop, "expect_topic", lambda lab, topic, wanted: None)
        monkeypatch.setattr(shop, "stored_batches", lambda lab, topic: self.batches(topic))
        monkeypatch.setattr(shop, "open_at", lambda lab, topic: self.held.get(topic, {}))
        monkeypatch.setattr(shop, "coordinator_notes", lambda lab: self.notes())
        monkeypatch.setattr(shop, "log_of", lambda lab, topic: self.records(topic))

    def batches(self, topic: str) -> list[Batch]:
        own = {"is_transactional": self.transactional, "producer_id": 9, "producer_epoch": 1}
        mark = Batch(0, 99, 1, 70, "none", 0, 0, is_control=True, mark="COMMIT")
        return [Batch(0, n, 1, 70, "none", 0, 0, **own) for n in self.numbers[topic]] + [mark]

    def notes(self) -> list[TransactionNote]:
        old = TransactionNote("desk", "PrepareCommit", 9, 0, 1, frozenset({("shop-orders", 0)}), 0)
        return [old] * 9 + [TransactionNote("desk", "PrepareCommit", 9, 1, 1, p, 0) for p in self.parts]

    def records(self, topic: str) -> list[Record]:
        texts = [f"{n}: something".encode() for n in self.numbers[topic]]
        return [Record(topic, 0, n, None, text, 0, "create") for n, text in enumerate(texts)]

    def judged(self, desk: Any = None) -> None:
        made = SimpleNamespace() if desk is None else desk
        shop.judge_shop(None, *TOPICS, made)  # type: ignore[arg-type]


@pytest.fixture
def a_shop(monkeypatch: pytest.MonkeyPatch) -> Shop:
    return Shop(monkeypatch)


def test_ten_baskets_in_three_topics_by_one_transaction_each_pass(a_shop):
    a_shop.judged()
    a_shop.parts = a_shop.parts[:1]  # one for all is all or none, too
    a_shop.judged()


def test_baskets_that_are_no_unit(a_shop):
    assert "`desk` is 7 (int)" in told(a_shop.judged, 7)
    a_shop.numbers["shop-orders"] = list(range(12))
    assert "the order of baskets 3, 8 was committed, although" in told(a_shop.judged)
    a_shop.numbers["shop-orders"] = PAID[:3]
    assert "the order of baskets 4–7, 9–11 is missing" in told(a_shop.judged)
    a_shop.numbers["shop-orders"] = [*PAID, 0]
    assert "the order of basket 0 is there twice" in told(a_shop.judged)


def test_transactions_that_are_missing_open_or_in_parts(a_shop):
    a_shop.parts = [frozenset({(topic, 0)}) for topic in TOPICS] * 4
    said = told(a_shop.judged)
    assert "12 transactions were committed with records of only a part of the three topics" in said
    a_shop.parts = [frozenset({("shop-orders", 0)})] * 4
    assert "4 transactions were committed with records of shop-orders alone" in told(a_shop.judged)
    a_shop.parts = [frozenset({("shop-orders", 0), ("shop-payments", 0)}), frozenset({("shop-audit", 0)})]
    assert "their records came with several transactions: who read between two commits" in told(a_shop.judged)
    a_shop.parts = [frozenset({("shop-orders", 0)})] * 4
    a_shop.numbers["shop-audit"] = []
    assert "shop-audit holds no record; each of the three" in told(a_shop.judged)
    a_shop.numbers["shop-audit"] = list(PAID)
    a_shop.held = {"shop-audit": {0: 3}}
    assert "a transaction in shop-audit is still open: flush() only" in told(a_shop.judged)
    a_shop.transactional = False
    assert "shop-orders, shop-payments and shop-audit hold records that were written without" in told(
        a_shop.judged
    )


def test_empty_topics_and_baskets_that_were_all_taken_back(a_shop, monkeypatch):
    monkeypatch.setattr(shop, "log_of", lambda lab, topic: [])
    assert "everything was aborted" in told(a_shop.judged)
    monkeypatch.setattr(shop, "stored_batches", lambda lab, topic: [])
    assert "none of the three topics holds a record" in told(a_shop.judged)


# --- 11.2

STUCK = Stuck("deliveries", 1, "van-b", 2, "van-a", "van-c", 5, at=100.0)


@pytest.mark.parametrize(
    ("places", "culprit", "words"),
    [
        ({1: 1, 2: 1}, "van-x", "readers of partition 1 still wait at offset 1"),
        ({1: 1, 2: 1}, "van-b", "'van-b' it is, and its transaction goes on"),
        ({1: 1}, "van-a", "'van-a' was only at work; and partition 1 stands"),
        ({}, "van-b", "both open transactions are over"),
        ({2: 1}, "4711", "4711 is the number that the brokers gave to a producer"),
        ({2: 1}, "van-a", "`culprit` is 'van-a': it is at work in partition 2"),
        ({2: 1}, "van-c", "`culprit` is 'van-c': it has ended all"),
        ({2: 1}, "van-x", "`culprit` is 'van-x'; it should"),
        ({2: 1}, "van-b", ""),
    ],
)
def test_an_open_transaction(monkeypatch, places, culprit, words):
    phoned = [Record("deliveries", 1, n, None, b"phoned in", 0, "create") for n in range(5)]
    monkeypatch.setattr(opened.clock, "now", lambda: 101.0)
    monkeypatch.setattr(opened, "existing_topic", lambda lab, topic: None)
    monkeypatch.setattr(opened, "open_at", lambda lab, topic: places)
    monkeypatch.setattr(opened, "log_of", lambda lab, topic: phoned)
    if words:
        assert words in told(opened.judge_opened, None, STUCK, culprit)
    else:
        opened.judge_opened(None, STUCK, culprit)  # type: ignore[arg-type]
        phoned.pop()
        assert "a reader gets 4 of the 5 records" in told(opened.judge_opened, None, STUCK, culprit)
        monkeypatch.setattr(opened.clock, "now", lambda: 1001.0)
        assert "the 15 minutes are over" in told(opened.judge_opened, None, STUCK, culprit)


# --- 11.3

ONCE = dict.fromkeys(range(COUNT), (1, 1))
KILLS = tuple((words, 1) for words in PLACES.values())


def runs(**more: Any) -> Booked:
    given = {"kills": KILLS, "counts": ONCE, "stored": 60, "committed": COUNT, "names": ("t",) * 11}
    return Booked(**({"at": 100.0} | given | more))


def test_transfers_that_are_booked_once_pass():
    booked.judge_booked(runs())
    assert (runs().missing, runs().twice, runs().uneven, runs().euros) == ([], [], [], 0)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"at": 1.0}, "the program has changed since it was killed"),
        ({"fault": "KafkaError: _STATE."}, "the program ended in an error: KafkaError: _STATE; it"),
        ({"deaf": True}, "the worker has not got one transfer"),
        ({"names": ("t-1", "t-2")}, "its lives had 2 transactional.ids"),
        ({"odd": 2}, "2 of the entries cannot be read"),
        ({"counts": {**ONCE, 3: (0, 0)}, "automatic": True}, "transfer 3 is missing: the client commits by"),
        ({"counts": {**ONCE, 3: (0, 0)}, "outside": True}, "commit() of the consumer had told the brokers"),
        (
            {"counts": {}, "committed": 9},
            "transfers 0–17 are missing: the offset in the transaction was ahead",
        ),
        (
            {"counts": {**ONCE, 3: (2, 1)}, "names": (None,)},
            "transfer 3 is booked twice, or in part: entries",
        ),
        ({"counts": {**ONCE, 3: (2, 2)}, "outside": True}, "was committed, and its offset was not yet"),
        (
            {"counts": {**ONCE, 3: (2, 2)}, "committed": COUNT - 1},
            "has committed 17, the offset of a transfer that is booked, so each start",
        ),
        ({"counts": {**ONCE, 3: (2, 2)}, "committed": None}, "the group has committed None; the next offset"),
        (
            {"counts": {0: (2, 2), 1: (1, 0)}, "due": 1, "committed": 1, "outside": True},
            "transfer 0 is booked twice, or in part: its transaction was committed, and its offset",
        ),
        (
            {"counts": {0: (2, 2), 1: (1, 1)}, "due": 1, "committed": 1},
            "has committed 1, the offset of a transfer that is booked",
        ),
        ({"outside": True}, "commits the offset as well, outside of the transaction"),
        (
            {"counts": {}, "committed": None},
            "transfers 0–17 are missing: entries are in the log, and all of them were taken back",
        ),
        ({"counts": {0: (1, 0)}, "due": 1, "committed": 1}, "transfer 0 has one entry"),
        ({"counts": {}, "committed": 18, "stored": 0}, "the program has written no entry"),
        (
            {"counts": dict.fromkeys(range(15), (1, 1)), "committed": 15},
            "transfers 15–17 are missing: the program had read on, and not committed yet, when it was ended",
        ),
        (
            {"counts": dict.fromkeys(range(15), (1, 1)), "committed": 18},
            "the offset in the transaction was ahead of the entries",
        ),
        ({"idle": True}, "the program ended by itself, after 10 kills; it should go on"),
        ({"idle": True, "kills": (), "names": ("teller",)}, "the program ended by itself, after 0 kills"),
        ({"counts": {0: (1, 1), 1: (2, 1)}, "due": 2, "committed": 1}, "committed by different transactions"),
        ({"held": {0: 5}}, "the last transaction is still open"),
        ({"committed": 7}, "the group has committed offset 7 in the end"),
        ({"kills": ()}, "the program was killed 0 times"),
    ],
)
def test_transfers_that_are_not(more, words):
    assert words in told(booked.judge_booked, runs(**more))


def test_a_worker_that_was_not_written():
    with pytest.raises(NotAttempted, match=r"Exercise 11\.3 is not attempted yet"):
        booked.judge_booked(runs(idle=True, kills=(), names=()))


def test_what_is_left_is_told_in_words():
    left = repr(runs(counts={**ONCE, 3: (2, 1), 4: (0, 0)}, held={1: 7}))
    assert "1 (transfer 4) missing, 1 (transfer 3) twice, 1 (transfer 3) with an entry too many" in left
    assert "sum of all accounts: -13 euros" in left
    assert "committed offset: 18; readers of partition 1 wait at 7" in left
    left = repr(runs(counts={0: (2, 2), 1: (1, 0)}, kills=KILLS[:2], due=1))
    assert "killed 2 times, then ended: the books were wrong\nof 1 transfer: 0 missing, 1 (tr" in left


# --- 11.4

GOOD = {
    CASES[0]: Case(returned="booked", seen=2),
    CASES[1]: Case(returned="booked", seen=2),
    CASES[2]: Case(returned="aborted"),
    CASES[3]: Case(raised=RuntimeError("x"), error="_FENCED"),
    CASES[4]: Case(returned="aborted"),
}


@pytest.mark.parametrize(
    ("name", "case", "words"),
    [
        (CASES[0], Case(returned=None, seen=2), "your function returns None; it should be 'booked'"),
        (CASES[0], Case(again=True), "when all is well, your function tries again for ever"),
        (CASES[0], Case(returned="booked", seen=0), "readers get 0 of the 2 records; both should"),
        (CASES[0], Case(returned="booked", seen=2, goes_on=False), "both should be committed"),
        (CASES[1], Case(again=True), "one more commit is enough"),
        (CASES[1], Case(returned="booked", seen=4), "readers get 4 records of 2: they were produced again"),
        (CASES[1], Case(raised=RuntimeError("x"), error="_TIMED_OUT"), "raises _TIMED_OUT: nothing is wrong"),
        (CASES[1], Case(returned="aborted"), "returns 'aborted', and readers get 0 of the 2 records"),
        (CASES[1], Case(returned="yes", seen=2), "your function returns 'yes'; it should be 'booked'"),
        (CASES[2], Case(again=True), "the brokers will refuse it each time"),
        (CASES[2], Case(raised=RuntimeError("x")), "raises RuntimeError, and the program ends"),
        (CASES[2], Case(returned="aborted", goes_on=False), "cannot begin another transaction"),
        (CASES[2], Case(returned="aborted", seen=1), "readers get 1 of the 2 records; they should see none"),
        (CASES[2], Case(returned="booked"), "returns 'booked'; it should be 'aborted'"),
        (CASES[3], Case(again=True), "this error never goes away"),
        (CASES[3], Case(returned="aborted"), "returns 'aborted' as if it could go on"),
        (CASES[3], Case(raised=RuntimeError("x"), seen=2), "readers get 2 of its 2 records; none should"),
        (CASES[4], Case(again=True), "the client will refuse it each time"),
        (CASES[4], Case(raised=RuntimeError("x"), goes_on=False), "that was begun is still open; it should"),
        (CASES[4], Case(returned="aborted", goes_on=False), "that was begun is still open; it should"),
        (CASES[4], Case(returned="aborted", seen=1), "readers get 1 of the 2 records; they should see none"),
        (CASES[4], Case(returned="booked"), "returns 'booked'; it should be 'aborted'"),
    ],
)
def test_a_function_that_does_the_wrong_thing(name, case, words):
    assert words in told(failures.judge_failures, None, Tried(100.0, GOOD | {name: case}))


def test_a_function_that_does_the_right_thing_and_one_that_was_not_tried():
    failures.judge_failures(None, Tried(100.0, GOOD))
    failures.judge_failures(told, Tried(100.0, GOOD, told))
    said = told(failures.judge_failures, told, Tried(100.0, GOOD, runs))
    assert "`tried` tells of the function `runs`; it should be what became of `book`" in said
    assert "`tried` is of an earlier try" in told(failures.judge_failures, None, Tried(1.0, GOOD))
    assert "`tried` holds nothing" in told(failures.judge_failures, None, Tried(100.0))
    assert repr(Tried(1.0)) == "There is no function to try yet."
    said = repr(Tried(1.0, GOOD))
    assert "all is well                    returns 'booked'; readers get 2 of its 2 records" in said
    assert "raises RuntimeError (_FENCED); readers get 0" in said
    assert "tries again for ever" in repr(Case(again=True))


# --- 11.5 and 11.6


@pytest.mark.parametrize(
    ("records", "aborted", "marks", "words"),
    [
        (6, 3, 4, ""),
        (13, 0, 0, "`records` is 13, the end of the log"),
        (9, 0, 4, "`records` is 9: that is everything that a producer has sent"),
        (5, 3, 4, "`records` is 5"),
        (6, 3, 3, "`marks` is 3: these are the marks of commits alone"),
        (6, 0, 7, "`marks` is 7, the whole difference"),
        (6, 3, 2, "`marks` is 2; it should be one for each transaction that has ended"),
        (6, 4, 3, "`aborted` is 4 and `marks` is 3: they stand in each other's place"),
        (6, 1, 4, "`aborted` is 1: that is how many transactions were aborted"),
        (6, 0, 4, "`aborted` is 0; it should"),
    ],
)
def test_gaps(monkeypatch, records, aborted, marks, words):
    ends = [
        Batch(0, n, 1, 70, "none", 0, 0, is_control=True, mark="COMMIT" if n else "ABORT") for n in range(4)
    ]
    monkeypatch.setattr(gaps, "expect_topic", lambda lab, topic, wanted: None)
    monkeypatch.setattr(gaps, "log_of", lambda lab, topic: [1] * 6)
    monkeypatch.setattr(gaps, "read_log", lambda bootstrap, topic, isolation: [1] * 9)
    monkeypatch.setattr(gaps, "stored_batches", lambda lab, topic: ends)
    lab = SimpleNamespace(bootstrap="")
    counts = {"records": records, "aborted": aborted, "marks": marks}
    if words:
        assert words in told(gaps.judge_gaps, lab, "gapped", counts)
    else:
        gaps.judge_gaps(lab, "gapped", counts)  # type: ignore[arg-type]
        del counts["marks"]
        assert "says nothing of 'marks'" in told(gaps.judge_gaps, lab, "gapped", counts)


def test_choices():
    right = dict(choosing.RIGHT)
    choosing.judge_choices(right)
    choosing.judge_choices({program.lower(): word.title() for program, word in right.items()})
    for program, wrong in choosing.WRONG.items():
        for word, (found, _) in wrong.items():
            said = told(choosing.judge_choices, right | {program: word})
            assert f"program {program} with “{word}”: {found}" in said
    assert "one of database, nothing, number, transaction" in told(choosing.judge_choices, right | {"A": "x"})
    assert "says nothing of program D" in told(
        choosing.judge_choices, {"A": "transaction", "B": "database", "C": "number"}
    )
