"""What lab 10's checks say of answers, without brokers."""

from types import SimpleNamespace
from typing import Any

import pytest

from threebrokers.cells import CellRun
from threebrokers.checks.lab06 import runs
from threebrokers.checks.lab10 import effects, gone, lonely, reasons, trials, ways
from threebrokers.kafka.log_reader import Record
from threebrokers.lab import attempt as lab_attempt
from threebrokers.lab.exercise import NotAttempted, NotYet
from threebrokers.lab.scenarios import Alone, Effects, Gone, Killed, Trials
from threebrokers.lab.scenarios.effects import PLACES, STORED
from threebrokers.lab.scenarios.guarantees import KILLED, UNHEARD
from threebrokers.ledger.balance import Balance
from threebrokers.ledger.entries import Entry, Failure
from threebrokers.ledger.journal import Number


def told(check: Any, *answers: Any) -> str:
    with pytest.raises(NotYet) as caught:
        check(*answers)
    return str(caught.value)


@pytest.fixture(autouse=True)
def tries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the try that is judged begin at 50."""
    run = CellRun("exercise-10-1", "", 50.0, 60.0)
    for module in (gone, lonely, runs, lab_attempt):
        monkeypatch.setattr(module, "attempt", lambda: run)


def entries(numbers: Any, offset: int = 0) -> list[Entry]:
    return [Entry(Number(1, n), 0, n + offset) for n in numbers]


# --- 10.1

LOST = range(30, 80)  # the numbers of the lost records
EARLIER = 12  # records of another producer


@pytest.fixture
def case(monkeypatch: pytest.MonkeyPatch) -> Gone:
    """Let 80 payments stand from offset 12 on; those from 30 are lost, and 20 others have their places."""
    offsets = range(EARLIER + LOST.start + 20)
    log = [Record("gone", 0, n, None, b"x", 0, "create") for n in offsets]
    monkeypatch.setattr(gone, "log_of", lambda lab, topic: log)
    balance = Balance(
        "gone",
        acknowledged=entries(range(LOST.stop), EARLIER),
        stored=entries(range(LOST.start), EARLIER),
    )
    return Gone(55.0, "gone", SimpleNamespace(balance=lambda topic: balance))  # type: ignore[arg-type]


RIGHT = [n + EARLIER for n in LOST]


def test_a_loss_that_is_explained(case):
    gone.judge_gone(None, case, RIGHT, 20, "leader")  # type: ignore[arg-type]
    gone.judge_gone(None, case, RIGHT[::-1], 20, "Leader")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("offsets", "there", "who", "words"),
    [
        (list(range(62, 112)), 20, "leader", "`lost_offsets` begins at 62, where the log ends now"),
        (list(LOST), 20, "leader", "holds the numbers that the ledger gave"),
        (list(range(EARLIER, 92)), 20, "leader", "30 of `lost_offsets` are not those of lost records"),
        (RIGHT[:-1], 20, "leader", "has 49 offsets, 49 of them right"),
        ([], 20, "leader", "has 0 offsets"),
        (RIGHT, 0, "leader", "as if an offset stayed empty"),
        (RIGHT, 50, "leader", "`now_there` is 50, and the log ends before"),
        (RIGHT, 19, "leader", "`now_there` is 19; at more of the lost offsets"),
        (RIGHT, 82, "leader", "`now_there` is 82, and only 50 records are lost"),
        (RIGHT, 20, "all", "then one of the two others would still have them"),
        (RIGHT, 20, "followers", "they lead now"),
        (RIGHT, 20, "nobody", "so it may be with acks=0"),
        (RIGHT, 20, "me", "`had_them` is 'me'"),
    ],
)
def test_a_loss_that_is_explained_otherwise(case, offsets, there, who, words):
    assert words in told(gone.judge_gone, None, case, offsets, there, who)


def test_answers_about_an_earlier_loss(case):
    gone.judge_gone(None, Gone(1.0, "gone", case.ledger), RIGHT, 20, "leader")  # type: ignore[arg-type]
    late = Gone(61.0, "gone", case.ledger)
    assert "after your answers were set" in told(gone.judge_gone, None, late, RIGHT, 20, "leader")


# --- 10.2 and 10.3

ALL = range(200)
WHOLE = Balance("t", [Number(1, n) for n in ALL], entries(ALL), stored=entries(ALL))
LOSING = Balance("t", [Number(1, n) for n in ALL], entries(ALL), stored=entries(range(100)))
TWICE = Balance("t", [Number(1, n) for n in ALL], entries(ALL), stored=entries([*ALL, *range(100, 200)]))


def given_up(stored: range, reason: str = "_MSG_TIMED_OUT") -> Balance:
    return Balance(
        "t",
        [Number(1, n) for n in ALL],
        entries(range(100)),
        failed=[Failure(Number(1, n), reason) for n in range(100, 200)],
        stored=entries(stored),
    )


def trial(fault: str, balance: Balance, settings: dict[str, Any], least: Any = "2", at: float = 99) -> Trials:
    return Trials({"mine": balance}, {}, at, fault, {"mine": settings}, {"min.insync.replicas": least})


def test_a_set_up_that_keeps_all_passes():
    for settings in ({"acks": "all"}, {}, {"acks": -1, "enable.idempotence": True}, {"acks": "ALL"}):
        trials.judge_kept(trial(KILLED, WHOLE, settings))
    trials.judge_kept(trial(KILLED, WHOLE, {}, least=2))


@pytest.mark.parametrize(
    ("balance", "settings", "least", "words"),
    [
        (LOSING, {"acks": 1, "retries": 5}, "2", "asks the leader and nobody else"),
        (WHOLE, {"acks": 1}, "2", "asks the leader and nobody else"),  # that it lost nothing is luck
        (LOSING, {"acks": 1, "retries": 5}, "3", "only requests with acks=all are refused because of it"),
        (LOSING, {"acks": 1, "retries": 6}, "2", "more retries change nothing"),
        (LOSING, {"request.required.acks": 1, "max.in.flight": 1}, "2", "one request after the other"),
        (LOSING, {"acks": 0}, "2", "100 records of 200 are lost and reported as delivered"),
        (WHOLE, {"acks": "0"}, "2", "so nobody would hear of a loss"),
        (LOSING, {"acks": "all"}, "2", "100 acknowledged records of 200 are lost"),
        (given_up(range(100)), {"acks": "all"}, "3", "nobody may write"),
        (WHOLE, {"acks": "all"}, "1", "when both followers have left the ISR"),
        (given_up(range(100)), {"retries": 0}, "2", "100 of 200 records failed at the first try"),
        (given_up(range(100)), {"message.timeout.ms": 9}, "2", "given up (_MSG_TIMED_OUT)"),
    ],
)
def test_a_set_up_that_loses(balance, settings, least, words):
    assert words in told(trials.judge_kept, trial(KILLED, balance, settings, least))


@pytest.mark.parametrize(
    ("expect", "right", "wrong"),
    [
        (reasons.expect_reason_kept, "Waited", reasons.KEPT),
        (reasons.expect_reason_once, " known", reasons.ONCE),
    ],
)
def test_each_wrong_reason_has_an_answer_of_its_own(expect, right, wrong):
    expect(right)
    said = [told(expect, word) for word in wrong]
    assert len(set(said)) == len(wrong) == 3
    assert all(f"because` is “{word}”" in text for word, text in zip(wrong, said, strict=True))
    assert "it should be one of" in told(expect, "no idea")


def test_a_trial_that_is_not_this_one():
    assert "another fault" in told(trials.judge_kept, trial(UNHEARD, WHOLE, {}))
    assert "an earlier try" in told(trials.judge_kept, trial(KILLED, WHOLE, {}, at=1))
    two = Trials({"a": WHOLE, "b": WHOLE}, {}, 99, KILLED, {}, {})
    assert "there are 2 set-ups in it" in told(trials.judge_kept, two)


def test_a_set_up_that_stores_once_passes():
    for settings in ({"enable.idempotence": True}, {"enable.idempotence": "true", "max.in.flight": 5}):
        trials.judge_once(trial(UNHEARD, WHOLE, settings))


@pytest.mark.parametrize(
    ("balance", "settings", "words"),
    [
        (TWICE, {"acks": "all"}, "took them for new ones"),
        (TWICE, {"max.in.flight.requests.per.connection": 1}, "and the same request came again"),
        (TWICE, {"request.timeout.ms": 60000}, "no time was over"),
        (TWICE, {"acks": 1}, "the answer comes sooner"),
        (WHOLE, {"acks": 0}, "so nobody would hear of a loss"),
        (WHOLE, {"acks": "all"}, "nothing came twice this time"),
        (given_up(ALL), {"retries": 0}, "100 records were reported as failed, and 100 of these are stored"),
        (given_up(range(100)), {"enable.idempotence": True}, "given up (_MSG_TIMED_OUT)"),
    ],
)
def test_a_set_up_that_doubles(balance, settings, words):
    assert words in told(trials.judge_once, trial(UNHEARD, balance, settings))


# --- 10.4

ONCE = dict.fromkeys(range(40), 1)


def books(**changes: Any) -> Effects:
    given = {"counts": ONCE, "killed": len(PLACES), "committed": STORED, **changes}
    return Effects(100.0, **given)


def test_one_invoice_for_each_order_passes():
    effects.judge_effects(books())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"counts": {}}, "no order stands in the column `order_number`"),
        (
            {"counts": {}, "over": True},
            "the program ended by itself before it had written a row",
        ),
        ({"counts": {}, "why": "it asked for no topic"}, "its consumer has asked for no topic"),
        ({"automatic": True}, "the client commits by itself"),
        ({"counts": ONCE | {3: 0, 8: 0}}, "orders 3, 8 have no invoice: the offset was committed before"),
        ({"counts": ONCE | {3: 0}, "marked": frozenset({3, 4})}, "the mark was committed before the effect"),
        ({"counts": ONCE | {39: 0}, "over": True}, "the program ended by itself"),
        ({"counts": ONCE | {18: 2, 20: 2}}, "what the program remembered died with it"),
        ({"counts": ONCE | dict.fromkeys(range(20, 30), 2)}, "keeps out a second row"),
        ({"killed": 2}, "the program was killed 2 times"),
        ({"committed": None}, "the group has committed nothing"),
        ({"fault": "NameError: x"}, "ended in an error: NameError: x"),
    ],
)
def test_invoices_that_are_missing_or_doubled(changes, words):
    assert words in told(effects.judge_effects, books(**changes))


PLACE, OTHER_KEY, NO_KEY = (
    "the key is a place in the log",
    "no key of your tables keeps out",
    "nothing in the t",
)


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ("CREATE TABLE invoices (order_number INTEGER, record_offset INTEGER PRIMARY KEY)", PLACE),
        (
            'CREATE TABLE invoices (order_number INTEGER, part INT, "offset" INT, unique(part, "offset"))',
            PLACE,
        ),
        ("CREATE UNIQUE INDEX place ON invoices (part, record_offset)", PLACE),
        ("CREATE TABLE invoices (order_number INTEGER, euros INTEGER, kafka_offset INTEGER)", NO_KEY),
        ("CREATE TABLE invoices (order_number INTEGER, euros INTEGER)", NO_KEY),
        ("CREATE TABLE invoices (id INTEGER primary key, order_number INTEGER, kafka_offset INT)", OTHER_KEY),
        ("CREATE TABLE offsets (part INTEGER PRIMARY KEY, next_offset INTEGER)", OTHER_KEY),
        ("CREATE TABLE offsets(part INTEGER PRIMARY KEY, next_offset INTEGER)", OTHER_KEY),
    ],
)
def test_what_keeps_out_no_second_row_of_an_order(schema, words):
    twice = books(counts=ONCE | dict.fromkeys(range(20, 30), 2), schemas=(schema,))
    assert words in told(effects.judge_effects, twice)


def test_a_worker_that_was_not_written():
    with pytest.raises(NotAttempted):
        effects.judge_effects(books(idle=True))


# --- 10.5

ALONE = Alone(55.0, "alone-loose", "alone-strict", 3)
LAB: Any = SimpleNamespace(producers=list)
SEEN = {"alone-loose": True, "alone-strict": False}
COPIES = {"alone-loose": 1, "alone-strict": 0}


@pytest.fixture
def holders(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[int]]:
    found = {"alone-loose": [3], "alone-strict": list[int]()}
    monkeypatch.setattr(lonely, "is_alone", lambda lab, topic, leader: True)
    monkeypatch.setattr(lonely, "who_has", lambda lab, topic: found[topic])
    return found


def test_what_a_leader_alone_does(holders):
    lonely.judge_alone(LAB, ALONE, SEEN, COPIES)


@pytest.mark.parametrize(
    ("seen", "copies", "words"),
    [
        (
            SEEN,
            COPIES | {"alone-loose": [(3, 1)]},
            "`copies` says [(3, 1)] for 'alone-loose'; it should be a number",
        ),
        (SEEN, COPIES | {"alone-loose": 3}, "is no promise of three"),
        (
            SEEN,
            COPIES | {"alone-strict": 1},
            "refuses a record before it stores it; what it has is at offset 0",
        ),
        (SEEN, COPIES | {"alone-strict": 3}, "refuses a record before it stores it; it should be"),
        (
            SEEN | {"alone-loose": None},
            COPIES,
            "says None for 'alone-loose', which is the error of its report",
        ),
        (SEEN | {"alone-loose": False}, COPIES, "asks those that are in sync"),
        (SEEN | {"alone-strict": True}, COPIES, "one replica in sync is fewer than two"),
        ({"alone-loose": True}, COPIES, "`acknowledged` says nothing of 'alone-strict'"),
        (SEEN, {}, "`copies` says nothing of 'alone-loose'"),
    ],
)
def test_what_it_does_not(holders, seen, copies, words):
    assert words in told(lonely.judge_alone, LAB, ALONE, seen, copies)


def test_records_that_were_not_written_as_they_should(holders, monkeypatch):
    holders["alone-strict"] = [3]
    assert "by broker 3 alone" in told(lonely.judge_alone, LAB, ALONE, SEEN, COPIES)
    holders.update({"alone-loose": [], "alone-strict": []})
    assert "come from no experiment" in told(lonely.judge_alone, LAB, ALONE, SEEN, COPIES)
    early = Alone(1.0, "alone-loose", "alone-strict", 3)
    assert "of an earlier try" in told(lonely.judge_alone, LAB, early, SEEN, COPIES)
    monkeypatch.setattr(lonely, "is_alone", lambda lab, topic, leader: False)
    assert "the followers are in sync again" in told(lonely.judge_alone, LAB, ALONE, SEEN, COPIES)


def test_a_report_that_the_program_did_not_wait_for(holders):
    waiting = {"alone-loose": 0, "alone-strict": 1}
    for sent_at, words in (
        (55.0, "no report has come yet for 'alone-strict'"),
        (1.0, "says nothing of 'alone-strict'"),
    ):
        producer = SimpleNamespace(sent_at=sent_at, unreported=waiting.__getitem__)
        lab = SimpleNamespace(producers=lambda producer=producer: [producer])
        assert words in told(lonely.judge_alone, lab, ALONE, {"alone-loose": True}, COPIES)


# --- 10.6


def killed(gone: list[int], again: list[int], done: bool = True, **habits: Any) -> Killed:
    stored = entries(range(40))
    processed = entries([*(n for n in range(40) if n not in gone), *again]) if done else []
    balance = Balance("o", stored=stored, committed=stored, processed=processed)
    return Killed(100.0, 2, balance=balance, **({"committed": 40} | habits))


def test_both_promises_kept_and_broken_by_one():
    ways.judge_ways({"at most once": killed([7], []), "at least once": killed([], [13])})


@pytest.mark.parametrize(
    ("most", "least", "words"),
    [
        (killed([], [13]), killed([], [13]), "for the work was done before its commit"),
        (killed([7], []), killed([7], []), "for the commit came before its work"),
        (killed([], [13]), killed([7], []), "the wrong way round"),
        (killed([7, 8, 9], []), killed([], [13]), "orders 7–9 got lost"),
        (killed([], []), killed([], [13]), "no order got lost"),
        (killed([7], []), killed([], [10, 11, 12, 13]), "orders 10–13 came twice"),
        (killed([7], []), killed([], [], done=False), "the worker has done nothing"),
        (
            killed([7, *range(14, 40)], [], over=True),
            killed([], [13]),
            "ended by itself before the last order",
        ),
        (killed([7], []), killed([*range(40)], [], done=False, over=True), "ended by itself before the last"),
        (killed([], [*range(14)], committed=None), killed([], [13]), "the group has committed nothing"),
        (killed([7], []), killed([], [*range(14)], committed=None), "the group has committed nothing"),
        (killed([], [13], committed=39), killed([], [13]), "has committed 39: one too small"),
        (killed([7], []), killed([], [7, 13], committed=39), "has committed 39: one too small"),
        (killed([7], [9, 10], hurried=True), killed([], [13]), "works on while a commit is under way"),
        (killed([7], []), killed([], [7, 8, 13], hurried=True), "takes the next order while"),
        (killed([7], [], hurried=True), killed([], [13]), "arrived early enough"),
        (killed([7], []), killed([], [13], hurried=True), "arrived early enough"),
        (killed([7], []), killed([7], [], hurried=True), "for the commit came before its work"),
        (killed([7, 8], [], hurried=True), killed([], [13]), "orders 7–8 got lost"),
        (killed([7], [], automatic=True), killed([7], [], automatic=True), "in the background"),
        (killed([7], [8, 9], automatic=True), killed([7], [8], automatic=True), "in the background"),
        (killed([], [13], automatic=True), killed([7], [], automatic=True), "enable.auto.commit"),
        (None, killed([], []), "`ways` has no runs for 'at most once'"),
    ],
)
def test_promises_that_are_not_kept(most, least, words):
    assert words in told(ways.judge_ways, {"at most once": most, "at least once": least})
