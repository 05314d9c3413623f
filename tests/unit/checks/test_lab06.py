"""What lab 06's checks say of answers, without brokers."""

import ast
import struct
from collections import deque
from types import SimpleNamespace
from typing import Any

import pytest

from threebrokers.cells import CellRun
from threebrokers.checks import expect_clients
from threebrokers.checks.lab06 import commits, dead_letters, heard, leaving, replay, runs
from threebrokers.kafka.clients import LabConsumer, LabProducer
from threebrokers.kafka.log_reader import Record
from threebrokers.lab import attempt as lab_attempt
from threebrokers.lab.exercise import NotAttempted, NotYet
from threebrokers.lab.scenarios import Departure, Invoices, Killed
from threebrokers.lab.scenarios.lives import ALL_COMMITTED
from threebrokers.ledger.balance import Balance
from threebrokers.ledger.entries import Entry
from threebrokers.ledger.journal import Number


def told(check: Any, *answers: Any) -> str:
    with pytest.raises(NotYet) as caught:
        check(*answers)
    return str(caught.value)


def tries(monkeypatch: pytest.MonkeyPatch, source: str = "", began: float = 0.0) -> None:
    """Let the try that is judged be a cell of this text."""
    found = CellRun("exercise-6-1", source, began)
    for module in (runs, leaving, lab_attempt):
        monkeypatch.setattr(module, "attempt", lambda: found)


def entries(*numbers: int) -> list[Entry]:
    return [Entry(Number(1, n), 0, n) for n in numbers]


def killed(done: list[int], committed: int | None = 40, **more: Any) -> Killed:
    stored = entries(*range(40))
    balance = Balance(
        "orders", stored=stored, committed=stored, processed=entries(*done), delivered=entries(*done)
    )
    return Killed(100.0, 2, balance=balance, committed=committed, **more)


ALL = list(range(40))


def test_orders_that_are_done_once_or_were_in_work_pass(monkeypatch):
    tries(monkeypatch, "%%program careful\norders.work(m)")
    runs.judge_runs(killed(ALL))
    runs.judge_runs(killed([*ALL, 13], program="careful"))
    runs.judge_runs(killed([*ALL, 13], committed=None))  # its place is in a file of its own


@pytest.mark.parametrize(
    ("done", "committed", "words"),
    [
        ([], 40, "the worker has not got one order"),
        ([n for n in ALL if n != 7], 40, "order 7 has no invoice: it commits before the work is done"),
        ([n for n in ALL if n not in (7, 8, 9)], 40, "orders 7–9 have no invoice"),
        ([*ALL, *ALL[:7]], None, "has committed nothing, so each start began at order 0"),
        ([*ALL, 6, 12], 39, "has committed 39: one too small"),
        ([n for n in ALL if n != 7], 41, "has committed 41: one too large, so that a start may pass over"),
        ([n for n in ALL if n > 9 or n < 7], 43, "has committed 43: 3 too large"),
        (ALL, 30, "has committed offset 30 in the end; it should be 40"),
        ([*ALL, 0, 1, 2, 13], 40, "3 orders (orders 0–2) were done, and not committed yet"),
        ([*ALL, *ALL], 40, "orders 0–39 have two invoices, also those that no kill came near"),
    ],
)
def test_orders_that_are_gone_or_came_again_have_their_reason(monkeypatch, done, committed, words):
    tries(monkeypatch)
    assert words in told(runs.judge_runs, killed(done, committed))


def test_orders_that_nobody_worked_on_or_came_to(monkeypatch):
    tries(monkeypatch)
    read = Killed(100.0, balance=Balance("orders", committed=entries(*ALL), delivered=entries(*ALL)))
    assert "the worker got orders, and has written no invoice" in told(runs.judge_runs, read)
    assert "the program ended by itself, and orders 5–39 have no invoice" in told(
        runs.judge_runs, killed(ALL[:5], committed=5, over=True)
    )
    books = Invoices(100.0, counts=dict.fromkeys(range(5), 1), positions={0: 5}, over=True)
    assert "the program ended by itself, and orders 5–39" in told(runs.judge_invoices, books)


def test_the_runs_of_another_program_are_no_answer(monkeypatch):
    tries(monkeypatch, "%%program careful\norders.work(m)")
    assert "those of the program 'worker'; your program 'careful' should run" in told(
        runs.judge_runs, killed([*ALL, 13], program="worker")
    )


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("orders.work(m)", "the client commits by itself"),
        ("c.store_offsets(m)\norders.work(m)", "it stores their offsets before the work"),
        ("c.commit(asynchronous=False)\norders.work(m)", "commit() without a message commits the position"),
        ("c.commit(m)\norders.work(m)", "it commits before the work"),
        ("c.commit(offsets=[x])\norders.work(m)", "it commits before the work"),
        ("pool.submit(orders.work, m)", "the work is handed to a thread"),
        ("Thread(target=lambda: orders.work(m)).start()\nc.commit(m)", "the work is handed to a thread"),
        ("c.commit(m)\npool.submit(orders.work, m).result()", "it commits before the work"),
        ("this is no Python", "it commits before the work"),
    ],
)
def test_why_an_order_is_gone_the_program_tells(monkeypatch, source, words):
    tries(monkeypatch, f"%%program careful\n{source}")
    assert words in told(runs.judge_runs, killed([n for n in ALL if n != 7]))


IDLE = "it did nothing for 10 s"


@pytest.mark.parametrize("committed", [33, 34])
def test_orders_that_nobody_had_come_to_when_the_waiting_was_over(monkeypatch, committed):
    tries(monkeypatch, "%%program p\nfor m in c.consume(10):\n    orders.work(m)\n    c.commit(m)")
    words = "had not come to orders 34–39 when nobody waited any more (it did nothing for 10 s)"
    said = told(runs.judge_runs, killed([*range(34), 13], committed=committed, why=IDLE))
    assert words in said
    assert "Look at: how long `consume(…)` waits for a full number" in said
    once = dict.fromkeys(range(34), 1)
    books = Invoices(100.0, 2, counts=once, positions={0: committed}, why=IDLE)
    assert words in told(runs.judge_invoices, books)


def test_who_has_committed_what_is_missing_had_come_to_it(monkeypatch):
    tries(monkeypatch)
    assert "it commits before the work" in told(runs.judge_runs, killed(ALL[:34], committed=40, why=IDLE))
    gap = [n for n in ALL[:34] if n != 7]
    assert "it commits before the work" in told(runs.judge_runs, killed(gap, committed=34, why=IDLE))
    once = dict.fromkeys(range(34), 1)
    books = Invoices(100.0, 2, counts=once, positions={0: 40}, why=IDLE)
    assert "the next offset was written before" in told(runs.judge_invoices, books)
    tries(monkeypatch, BOOKED)
    all_committed = Invoices(100.0, 2, counts=once, positions={0: 34}, why=ALL_COMMITTED)
    assert "they were told before the invoice" in told(runs.judge_invoices, all_committed)


def test_commits_that_nobody_waits_for_were_early_enough_by_chance(monkeypatch):
    tries(monkeypatch, "%%program p\nwhile True:\n    orders.work(m)\n    c.commit(message=m)")
    said = told(runs.judge_runs, killed([*ALL, 13], hurried=True))
    assert "takes the next order while a commit is under way, and this time each arrived early" in said
    assert "were done, and not committed" in told(runs.judge_runs, killed([*ALL, 11, 12, 13], hurried=True))


def test_a_worker_that_was_not_written_failed_or_is_of_an_earlier_try(monkeypatch):
    tries(monkeypatch, began=99.0)
    assert "ended in an error: NameError: x; it should" in told(
        runs.judge_runs, killed([], fault="NameError: x")
    )
    assert "the second commit() finds nothing new" in told(
        runs.judge_runs, killed([], fault='KafkaError{code=_NO_OFFSET,val=-168,str="x"}')
    )
    with pytest.raises(NotAttempted, match=r"Exercise 6\.1 is not attempted yet"):
        runs.judge_runs(killed([], idle=True))
    tries(monkeypatch, began=101.0)
    assert "the program has changed since it was killed" in told(runs.judge_runs, killed(ALL))


def test_a_program_that_is_written_and_ended_at_once_is_an_attempt(monkeypatch):
    tries(monkeypatch, "%%program careful\nfor m in c.consume(10, timeout=0.2):\n    orders.work(m)")
    assert "ended by itself before it was a member of its group" in told(
        runs.judge_runs, killed([], idle=True)
    )
    tries(monkeypatch, "%%program member\nc.subscribe([t])\nover.set()\nthread.join()")
    assert "Look at: `until_ctrl_c()`" in told(leaving.judge_leaving, Departure(100.0, idle=True))
    tries(monkeypatch, "%%program member\nover = threading.Event()")
    with pytest.raises(NotAttempted, match=r"Exercise 6\.4 is not attempted yet"):
        leaving.judge_leaving(Departure(100.0, idle=True))


def test_a_program_that_ends_when_nothing_comes(monkeypatch):
    ends = "%%program p\nwhile True:\n    m = c.poll(1)\n    if m is None:\n        break\n    orders.work(m)"
    tries(monkeypatch, ends)
    assert "ends as soon as nothing has come" in told(runs.judge_runs, killed([*ALL, 13]))
    tries(monkeypatch, "%%program p\nfor _ in range(99):\n    m = c.poll(1)\n    orders.work(m)")
    assert "reads as often as its `range(…)` says" in told(runs.judge_runs, killed([*ALL, 13]))


def test_what_is_stored_is_committed_in_the_background(monkeypatch):
    tries(monkeypatch, "%%program p\norders.work(m)\nc.store_offsets(m)")
    assert "Look at: who commits: the client does so in the background" in told(
        runs.judge_runs, killed([*ALL, 3, 4])
    )


BOOKED = (
    "%%program b\nc.subscribe([t])\nwhile True:\n    write()\n    c.commit(message=m, asynchronous=False)"
)
BEGINS = "def begin(c, places):\n    places[0].offset = next_offset(0)\n    c.assign(places)\n"


def test_why_invoices_of_who_begins_where_the_brokers_say_are_wrong(monkeypatch):
    once = dict.fromkeys(range(40), 1)
    tries(monkeypatch, BOOKED)
    lost = Invoices(100.0, 2, counts={n: 1 for n in range(40) if n != 7}, positions={0: 40})
    assert "they were told before the invoice was written" in told(runs.judge_invoices, lost)
    again = Invoices(100.0, 3, counts=once | dict.fromkeys((20, 21), 2), positions={0: 40})
    assert "and died before it had told them" in told(runs.judge_invoices, again)
    tries(
        monkeypatch, BOOKED.replace("c.subscribe([t])", f"{BEGINS}c.subscribe([t])")
    )  # nobody is told of it
    assert "and died before it had told them" in told(runs.judge_invoices, again)
    tries(monkeypatch, BOOKED.replace("c.subscribe([t])", f"{BEGINS}c.subscribe([t], on_assign=begin)"))
    assert "stand in two transactions" in told(runs.judge_invoices, again)
    runs.judge_invoices(Invoices(100.0, 3, counts=once, positions={0: 40}))


def test_a_bookkeeper_without_a_topic(monkeypatch):
    tries(monkeypatch, "%%program b\nm = c.poll(0.2)")
    assert "has not got one order: its consumer has asked for no topic" in told(
        runs.judge_invoices, Invoices(100.0)
    )
    tries(monkeypatch, "%%program b\nc.subscribe([t])")
    assert "nothing stands in the table" in told(runs.judge_invoices, Invoices(100.0))
    why = "it asked for no topic"
    assert "has asked for no topic" in told(runs.judge_invoices, Invoices(100.0, why=why))


def test_invoices(monkeypatch):
    tries(monkeypatch)
    once = dict.fromkeys(range(40), 1)
    runs.judge_invoices(Invoices(100.0, 2, counts=once, positions={0: 40}))
    unkilled = Invoices(100.0, 0, counts=once, positions={0: 40})
    assert "the program was killed 0 times" in told(runs.judge_invoices, unkilled)
    for counts, positions, words in (
        ({}, {}, "nothing stands in the table `invoices`"),
        (once, {}, "the table `positions` is empty"),
        (
            {n: 1 for n in range(40) if n != 13},
            {0: 40},
            "order 13 has no invoice: the next offset was written",
        ),
        (once | {6: 2, 12: 2}, {0: 39}, "orders 6, 12 have two invoices, and `positions` says 39"),
        (once | dict.fromkeys(range(7), 2), {0: 40}, "the program began again at offset 0"),
        (once | {13: 2}, {0: 40}, "order 13 has two invoices: invoice and offset stand in two transactions"),
        (once, {0: 39}, "`positions` says {0: 39}"),
        (once | dict.fromkeys(range(13), 3), dict.fromkeys(range(1, 41), 0), "`positions` has 40 rows"),
    ):
        assert words in told(runs.judge_invoices, Invoices(100.0, 2, counts=counts, positions=positions))


def test_offsets_that_are_set_and_given_to_nobody(monkeypatch):
    again = Invoices(100.0, 2, counts=dict.fromkeys(range(40), 2), positions={0: 40})
    program = "%%program bookkeeper\nconsumer.subscribe([topic], on_assign=begin)"
    tries(monkeypatch, program)
    assert "gives its offsets to nobody" in told(runs.judge_invoices, again)
    tries(monkeypatch, f"{program}\nconsumer.assign(partitions)")
    assert "the program began again at offset 0" in told(runs.judge_invoices, again)


def test_what_the_database_holds_is_told_in_words():
    books = Invoices(1.0, counts={n: 1 + (n == 3) for n in range(39)}, positions={0: 40})
    assert repr(books) == (
        "40 orders: 38 have one invoice, 1 (order 3) has more, 1 (order 39) has none\n"
        "positions (partition: next offset): {0: 40}"
    )


IN_THREAD = "Thread(target=work).start()\ndef work():\n"
LEFT = {"joined": True, "seconds": 0.3, "ended": True}


@pytest.mark.parametrize(
    ("departure", "source", "words"),
    [
        ({"joined": False}, "", "nobody joined the group"),
        ({"seconds": None, "static": True}, "", "has a group.instance.id"),
        ({"seconds": None}, "", "its thread ends with the program"),
        ({"seconds": 1.6}, f"{IN_THREAD}    c.poll(2)", "left after 1.6 s; it should leave within 1 s"),
        ({"seconds": None, "ended": False}, f"{IN_THREAD}    c.poll(30)", "poll waits too long (up to 30 s)"),
        (
            {"seconds": None, "ended": False},
            f"{IN_THREAD}    c.poll()",
            "poll waits too long (without a bound)",
        ),
        ({"seconds": None, "ended": False}, "c.consume(5, timeout=9)", "(up to 9 s)"),
        ({"seconds": None, "ended": False}, "c.poll(0.2)", "its program goes on after Ctrl-C"),
        ({"seconds": None, "ended": False}, "c.poll(30)", "its program goes on after Ctrl-C"),
        ({"ended": False}, "c.poll(wait)", "its consumer has left, and its program goes on"),
    ],
)
def test_who_did_not_leave_at_once(monkeypatch, departure, source, words):
    tries(monkeypatch, f"%%program member\n{source}")
    assert words in told(leaving.judge_leaving, Departure(100.0, **(LEFT | departure)))


def test_who_left_at_once(monkeypatch):
    tries(monkeypatch)
    leaving.judge_leaving(Departure(100.0, **LEFT))
    leaving.judge_leaving(Departure(100.0, **(LEFT | {"seconds": 2.5})))  # a busy machine
    assert repr(Departure(1.0, **LEFT)) == "The member left after 0.3 s; its program has ended."
    assert "has not left; its program goes on" in repr(Departure(1.0, joined=True, ended=False))
    assert repr(Departure(1.0)) == "Nobody joined the group."


def payment(number: int, **changes: Any) -> Record:
    headers = (("trace", b"t"), ("ledger-number", b"x:1:1"))
    made = Record("payments", 0, number, b"customer", b"%d" % number, 0, "create", headers)
    return Record(**{**made.__dict__, **changes})


def letter(number: int, **changes: Any) -> Record:
    more = (("reason", b"r"), ("partition", b"0"), ("offset", b"%d" % number))
    return payment(number, **{"headers": (*payment(number).headers, *more), **changes})


def test_a_dead_letter_holds_all_that_the_record_had():
    dead_letters._judge_letter(payment(9), [letter(9), letter(17)])
    for letters, words in (
        ([], "payment 9 is neither booked nor among the dead letters"),
        ([letter(9, value=b"other")], "has other bytes than the record (b'other')"),
        ([letter(9), letter(9)], "is there 2 times"),
        ([letter(9, key=None)], "and its dead letter has None"),
        ([letter(9, headers=letter(9).headers[1:])], "the header 'trace' of payment 9 is lost"),
        ([letter(9, headers=(("trace", b"t"),))], "no header 'reason'"),
        ([letter(9, headers=letter(9).headers[:3])], "the header 'partition' of payment 9 is None"),
    ):
        assert words in told(dead_letters._judge_letter, payment(9), letters)


def test_payments_are_booked_once_and_no_good_one_is_set_aside():
    good = [n for n in range(24) if n not in (9, 17)]
    dead_letters._judge_booked(good, [letter(9)])
    assert "2 payments are neither booked nor set aside" in told(dead_letters._judge_booked, good, [])
    assert "1 payment that can be booked is not (the first: number 0)" in told(
        dead_letters._judge_booked, good[1:], [letter(9)]
    )
    assert "1 payment came into the books twice" in told(dead_letters._judge_booked, [*good, 0], [letter(9)])
    records = [payment(n) for n in range(24)]
    dead_letters._judge_letters([letter(9), letter(17)], records)
    said = told(dead_letters._judge_letters, [letter(3)], records)
    assert "1 payment among the dead letters can be booked" in said


def test_each_dead_letter_tells_its_own_reason():
    dead_letters._judge_reasons([letter(9), letter(17, headers=(("reason", b"KeyError"),))])
    said = told(dead_letters._judge_reasons, [letter(9), letter(17)])
    assert "the reason of each dead letter is 'r'" in said


def test_who_leaves_the_commits_to_the_client_was_lucky():
    own = counting(24)
    lab: Any = SimpleNamespace(consumers=lambda: [own])
    assert "commits by itself, in the background" in told(dead_letters._expect_own_commits, lab, "mine")
    for setting in ("enable.auto.commit", "enable.auto.offset.store"):
        own.config = {"group.id": "mine", setting: False}
        dead_letters._expect_own_commits(lab, "mine")
    dead_letters._expect_own_commits(lab, "other")


def commit_record(group: str, offset: int | None) -> Record:
    name = struct.pack(">h", len(group)) + group.encode()
    key = struct.pack(">h", 1) + name + struct.pack(">h", 6) + b"clicks" + struct.pack(">i", 0)
    value = None if offset is None else struct.pack(">hq", 3, offset) + b"rest"
    return Record("__consumer_offsets", 1, 0, key, value, 0, "create")


def test_commits_are_read_from_the_topic_of_the_offsets():
    written = [commit_record("mine", 5), commit_record("other", 7), commit_record("mine", None)]
    assert commits.commits_in([*written, commit_record("mine", 9)], "mine", "clicks") == [5, 9]


PLAIN: Any = SimpleNamespace()  # a consumer that does not count


def counting(received: int, group: str = "mine") -> Any:
    one = LabConsumer.__new__(LabConsumer)
    one.config, one.received = {"group.id": group}, received
    return one


def test_offsets_of_records_that_nobody_has_read(monkeypatch):
    first, second = counting(2000), counting(3000)
    lab: Any = SimpleNamespace(consumers=lambda: [first, second, counting(5000, "other")])
    commits._expect_all_read(lab, "mine", "visits", first, 5000)
    commits._expect_all_read(lab, "mine", "visits", PLAIN, 5000)
    second.received = 0
    assert "`visitor` has read 2000 of 5000 records; all" in told(
        commits._expect_all_read, lab, "mine", "visits", first, 5000
    )


def test_who_has_read_nothing_is_told_why(monkeypatch):
    one = counting(0)
    lab: Any = SimpleNamespace(consumers=lambda: [one])
    monkeypatch.setattr(commits, "why_nothing", lambda *_: None)

    def said() -> str:
        return told(commits._expect_all_read, lab, "mine", "visits", one, 5000)

    one.asked = False
    assert "has read 0 of 5000 records: it has neither subscribed" in said()
    one.asked = True
    assert "has read 0 of 5000 records: `auto.offset.reset` is latest" in said()
    one.config["auto.offset.reset"] = "earliest"
    assert "has read 0 of 5000 records; all should be read" in said()
    monkeypatch.setattr(commits, "why_nothing", lambda *_: NotYet("nothing came", "no such topic", "there"))
    assert "no such topic" in said()


@pytest.mark.parametrize(
    ("written", "at", "words"),
    [
        (range(50, 5001, 50), 5000, "written down 100 commits"),
        ([5000], 5000, "the brokers have no commit between 0 and 5000"),
        ([500, 1001, 5000], 5000, "no commit between 1001 and 5000"),
        ([4800], 4800, "has committed 4800 of 5000"),
        ([5000, 250], 250, "went back from 5000 to 250"),
        ([], None, "the group `group` has committed nothing in 'clicks'"),
        ([499, 999, 4999], 4999, "the group has committed 4999: one too small"),
    ],
)
def test_commits_that_are_too_many_too_few_or_in_the_wrong_order(monkeypatch, written, at, words):
    monkeypatch.setattr(commits, "COMMIT_SECONDS", 0)
    monkeypatch.setattr(commits, "expect_topic", lambda lab, topic, wanted: None)
    monkeypatch.setattr(commits, "count_of", lambda lab, topic: 5000)
    monkeypatch.setattr(commits, "committed", lambda lab, group, topic: {} if at is None else {0: at})
    records = [commit_record("mine", offset) for offset in written]
    monkeypatch.setattr(commits, "read_log", lambda bootstrap, topic: records)
    lab = SimpleNamespace(bootstrap="")
    assert words in told(commits.judge_commits, lab, "mine", "clicks", PLAIN)


def test_few_commits_pass(monkeypatch):
    monkeypatch.setattr(commits, "expect_topic", lambda lab, topic, wanted: None)
    monkeypatch.setattr(commits, "count_of", lambda lab, topic: 5000)
    monkeypatch.setattr(commits, "committed", lambda lab, group, topic: {0: 5000})
    records = [commit_record("mine", offset) for offset in [*range(250, 5001, 250), 5000]]
    monkeypatch.setattr(commits, "read_log", lambda bootstrap, topic: records)
    monkeypatch.setattr(expect_clients, "CLOSED_SECONDS", 0)
    groups: list[Any] = [SimpleNamespace(coordinator=1, members=())]
    state = SimpleNamespace(state=lambda topics, wanted: SimpleNamespace(groups=groups))
    lab = SimpleNamespace(bootstrap="", cluster=state)
    commits.judge_commits(lab, "mine", "clicks", PLAIN)
    groups[0] = SimpleNamespace(coordinator=1, members=("somebody",))
    assert "1 member of the group 'mine' has not left it; `visitor` should be closed" in told(
        commits.judge_commits, lab, "mine", "clicks", PLAIN
    )


RECORDS = [payment(n, partition=p, timestamp=n * 10) for p in (0, 1) for n in range(5)]


def test_what_is_young_enough_is_told_from_the_rest():
    wanted = [(p, n) for p in (0, 1) for n in (3, 4)]
    replay.judge_places(RECORDS, 30, wanted)
    replay.judge_places(RECORDS, 0, [(p, n) for p in (0, 1) for n in range(5)])
    for places, words in (
        ([(p, n) for p in (0, 1) for n in range(5)], "as for a time of 1970"),
        ([*wanted, (0, 2)], "holds 1 record older than `since`"),
        (wanted[:2], "there is nothing of partition 1"),
        (wanted[:3], "1 record since then is missing; there are 4"),
        ([*wanted, (0, 3)], "1 record came twice"),
    ):
        assert words in told(replay.judge_places, RECORDS, 30, places)


def replays(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    monkeypatch.setattr(replay, "attempt", lambda: SimpleNamespace(code=ast.parse(code)))


def test_an_empty_list_has_its_reason(monkeypatch):
    reader, own = counting(92, "six-bookers-1-opened"), counting(9, "six-bookers-1-opened")
    made = [counting(7, "six-bookers-0-opened"), reader]
    lab: Any = SimpleNamespace(consumers=lambda: made)
    replays(monkeypatch, "b.assign([TopicPartition(t, p, since) for p in range(3)])")
    assert "the offset `since`, and this is a time" in str(replay._nothing(lab, 92))
    replays(monkeypatch, "b.offsets_for_times([TopicPartition(t, p, since)])")
    assert "`replayed` is empty: nothing came" in str(replay._nothing(lab, 92))
    made.append(own)
    assert "the consumer got 9 records: your program kept none" in str(replay._nothing(lab, 92))
    made.append(counting(92, "six-bookers-own-opened"))
    assert "nothing came" in str(replay._nothing(lab, 92))  # nobody can tell
    made.clear()
    assert replay._received(lab, 92) == 0


def test_a_loop_that_ends_at_a_late_record(monkeypatch):
    places = [(0, 3), (0, 4)]
    replays(monkeypatch, "while True:\n    if m.timestamp()[1] < since:\n        break")
    assert "your loop ends at the first record that is older" in told(
        replay.judge_places, RECORDS, 30, places
    )
    replays(monkeypatch, "while True:\n    if m is None:\n        break\n    if t < since:\n        continue")
    assert "there is nothing of partition 1" in told(replay.judge_places, RECORDS, 30, places)


def test_what_came_late_is_old_where_it_stands():
    late = [*RECORDS, payment(5, partition=0, timestamp=1)]
    wanted = [(p, n) for p in (0, 1) for n in (3, 4)]
    replay.judge_places(late, 30, wanted)
    said = told(replay.judge_places, late, 30, [*wanted, (0, 5)])
    assert "1 record older than `since`: it came late, and stands behind younger ones" in said
    assert "an offset is no time" in told(replay.judge_places, late, 30, [*wanted, (0, 5), (0, 2)])


def test_a_partition_without_a_young_record_ends_where_it_is():
    wanted = [(0, 3), (0, 4)]
    records = [*RECORDS[:5], *(payment(n, partition=2, timestamp=n) for n in range(5))]
    said = told(replay.judge_places, records, 30, [*wanted, (2, 0)])
    assert "`replayed` holds 1 record of partition 2, which has none since then" in said


def test_since_stays_as_the_cell_computes_it():
    records, now = [payment(n, timestamp=n * 60_000) for n in range(90)], 90 * 60.0
    for since in (now - 600, now - 599, now - 400):  # the last one: computed again later
        replay.expect_since(records, int(since * 1000), now + 200)
    for wrong in (0, int(now) - 600, int((now - 36_000) * 1000), int(now * 1000)):
        assert "which is not ten minutes ago" in told(replay.expect_since, records, wrong, now)


def test_a_dead_letter_is_safe_before_its_offset_is_committed(monkeypatch):
    postman = LabProducer.__new__(LabProducer)
    postman.has_listener, postman.settled_at = False, deque([1.0, 5.004, 9.0])
    sent = {9: 5000, 17: 8000}
    assert dead_letters._known(9, sent, postman) == (5004, 9)
    assert dead_letters._known(17, sent, postman) == (9000, 17)
    assert dead_letters._known(9, {9: 5000, 17: 5003}, postman) == (5004, 17)  # both are on their way
    dead_letters._judge_order(9, 5004, 9, [(9, 4000), (10, 5004), (24, 6000)])
    dead_letters._judge_order(9, 5004, 17, [(10, 4001)])
    dead_letters._judge_order(9, 5004, 9, [(10, 4910)])  # by another clock
    for commits_ in ([(10, 4899)], [(10, 4002)], [(24, 4003)]):
        assert "before the dead letter of payment 9 was acknowledged" in told(
            dead_letters._judge_order, 9, 5004, 9, commits_
        )
    monkeypatch.setattr(dead_letters, "learns_by_flush", lambda postman: False)  # it may know in another way
    assert dead_letters._known(9, sent, postman) == dead_letters._known(9, sent, PLAIN) == (5000, 9)
    postman.config = {"acks": 0}
    monkeypatch.setattr(dead_letters, "expect_topic", lambda lab, topic, wanted: None)
    assert "`postman` has acks=0" in told(dead_letters.judge_dead_letters, None, "dead", {}, postman)


def test_three_groups_that_get_nothing(monkeypatch):
    monkeypatch.setattr(heard, "expect_topic", lambda lab, topic, wanted: None)
    monkeypatch.setattr(heard, "log_of", lambda lab, topic: [payment(n) for n in range(5, 10)])
    for got, words in (
        ({}, 'there is no `got["A"]`'),
        ({"A": 5}, '`got["A"]` is 5'),
        ({"A": []}, '`got["A"]` is empty'),
        ({"A": ["x"]}, '`got["A"][0]` is'),
    ):
        assert words in told(heard.judge_heard, None, "headlines", {}, got)
    assert '`silent["A"]` is None' in told(heard._group, {}, "A")
    monkeypatch.setattr(heard, "log_of", lambda lab, topic: [payment(n) for n in range(5, 15)])
    assert "holds 10 records; the five that were there" in told(heard.judge_heard, None, "headlines", {}, {})
