"""A worker that is killed in ten places, as its program and its notebook see it, without brokers."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from threebrokers.kafka.log_reader import Record
from threebrokers.lab import transfers
from threebrokers.lab.scenarios import transferring
from threebrokers.lab.transfers import COUNT, PLACES, Transfers, TransfersJob, job_file, journal


class KilledError(BaseException):
    """What stands for the end of the process."""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    return tmp_path


class Client:
    """A consumer and a producer in one: it hands out transfers, and notes what is asked of it."""

    asked = True

    def __init__(self, settings: Any) -> None:
        self.config = settings
        self.next = 0
        self.calls: list[str] = []

    def consume(self, most: int = 1, timeout: float = 0) -> list[Any]:
        found = [message(n) for n in range(self.next, min(COUNT, self.next + most))]
        self.next += len(found)
        return found

    def poll(self, timeout: float = 0) -> Any:
        return next(iter(self.consume(1)), None)

    def commit(self, *given: Any, **named: Any) -> None:
        self.calls.append("commit")

    def flush(self, timeout: float = 0) -> None:
        self.calls.append("flush")

    def produce(self, *given: Any, **named: Any) -> None:
        self.calls.append("produce")

    def init_transactions(self) -> None:
        self.calls.append("init")

    def begin_transaction(self) -> None:
        self.calls.append("begin")

    def send_offsets_to_transaction(self, *given: Any) -> None:
        self.calls.append("offsets")

    def commit_transaction(self, *given: Any) -> None:
        self.calls.append("end")


def message(number: int) -> Any:
    value = {"transfer": number, "from": "Ann", "to": "Bob", "euros": 10 + number}
    return SimpleNamespace(value=lambda: json.dumps(value).encode(), error=lambda: None)


def lab() -> Any:
    return SimpleNamespace(
        number="11",
        program_name="clerk",
        consumer=Client,
        producer=Client,
        topic=lambda name: name,
        group=lambda name: f"{name}-opened",
        cluster=SimpleNamespace(wait_for_markers=lambda: None),
    )


def worker(monkeypatch: pytest.MonkeyPatch, life: int) -> Transfers:
    """Return the job of one life; where it is to be killed, KilledError is raised."""

    def kill(pid: int, number: int) -> None:
        raise KilledError

    monkeypatch.setattr(transfers, "next_life", lambda most: life)
    monkeypatch.setattr(transfers.os, "kill", kill)
    here = lab()
    job_file(here, "clerk").write(TransfersJob("bank-transfers", "bank-entries", "tellers"))
    return Transfers(here)


def work(bank: Transfers, most: int = 1, *, tied: bool = True) -> Client:
    """Do as the solution does, until there is nothing more to read; return the producer."""
    consumer = bank.consumer({"enable.auto.commit": False})
    producer: Any = bank.producer({"transactional.id": "teller"} if tied else {})
    if tied:
        producer.init_transactions()
    while messages := consumer.consume(most):
        if tied:
            producer.begin_transaction()
        for each in messages:
            for account, entry in bank.split(each):
                producer.produce(bank.entries, entry, key=account)
        if tied:
            producer.send_offsets_to_transaction([], None)
            producer.commit_transaction()
        else:
            producer.flush()
            consumer.commit()
    return producer


def notes() -> list[dict[str, Any]]:
    return transferring._notes(lab(), "clerk")


def test_a_program_without_a_job_ends_at_once(capsys):
    with pytest.raises(SystemExit) as ended:
        Transfers(lab())
    assert ended.value.code == 0
    assert "the next cell gives it" in capsys.readouterr().out


@pytest.mark.parametrize("life", range(10))
@pytest.mark.parametrize("most", [1, 10])
def test_each_life_ends_at_its_own_place(monkeypatch, life, most, capsys):
    with pytest.raises(KilledError):
        work(worker(monkeypatch, life), most)
    (kill,) = [note for note in notes() if note["kind"] == "kill"]
    words = list(PLACES.values())[life]
    assert (kill["life"], kill["place"]) == (life + 1, words)
    assert f"life {life + 1}: killed {words}" in capsys.readouterr().out
    # Who asks for ten gets two: they are in work at most places.
    expected = {"started": None, "read": 2 if most == 1 else 3}
    assert kill["transfer"] == expected.get(list(PLACES)[life], 1)


def test_the_eleventh_life_does_all(monkeypatch):
    made = work(worker(monkeypatch, 10))
    assert made.calls.count("end") == COUNT
    assert {note["kind"] for note in notes()} == {"start", "consumer", "begins", "done"}


def test_a_worker_without_transactions_is_killed_elsewhere(monkeypatch):
    for life, event in enumerate(PLACES):
        if event == "read":
            continue
        with pytest.raises(KilledError):
            work(worker(monkeypatch, life), tied=False)
        words = notes()[-1]["place"]
        loose = event in ("began", "committing", "committed")
        assert words == (transfers.ELSEWHERE if loose else PLACES[event])
    assert any(note["kind"] == "outside" for note in notes())


def test_a_client_that_commits_by_itself_is_told_and_waited_for(monkeypatch):
    waited = []
    monkeypatch.setattr(
        transfers.threading, "Event", lambda: SimpleNamespace(wait=lambda seconds: waited.append(seconds))
    )
    bank = worker(monkeypatch, 4)
    consumer, producer = bank.consumer(), bank.producer({"transactional.id": "t"})
    consumer.consume(2)
    with pytest.raises(KilledError):
        producer.begin_transaction()
    assert waited == [transfers.AUTOMATIC_SECONDS]
    assert [note["automatic"] for note in notes() if note["kind"] == "consumer"] == [True]


def test_a_worker_gets_two_transfers_at_most_and_leaves_work_for_its_next_life(monkeypatch):
    monkeypatch.setattr(transfers, "next_life", lambda most: 10)
    job_file(lab(), "clerk").write(TransfersJob("a", "b", "c"))
    consumer = Transfers(lab()).consumer()
    assert [len(consumer.consume(n, timeout=0)) for n in (1, 2, 10)] == [1, 2, 2]
    assert len(consumer.consume(num_messages=10, timeout=0)) == 2


def test_a_consumer_that_asks_for_no_topic_ends_its_program(monkeypatch):
    monkeypatch.setattr(transfers.os, "_exit", lambda code: None)
    bank = worker(monkeypatch, 3)
    consumer: Any = bank.consumer()
    consumer.asked = False
    consumer.poll(0)
    assert "deaf" in [note["kind"] for note in notes()]


def test_a_program_takes_no_job_of_another_one():
    job_file(lab(), "teller").write(TransfersJob("a", "b", "c"))
    with pytest.raises(SystemExit):
        Transfers(lab())


def test_the_entries_of_a_transfer_and_its_mail(monkeypatch):
    bank = worker(monkeypatch, 0)
    assert bank.split(message(2)) == [
        ("Ann", '{"transfer": 2, "euros": -12}'),
        ("Bob", '{"transfer": 2, "euros": 12}'),
    ]
    bank.mail(message(2))
    assert notes()[-1] == {"kind": "mail", "life": 1, "transfer": 2}


def entry(value: bytes | None) -> Record:
    return Record("bank-entries", 0, 0, b"Ann", value, 0, "create")


def test_entries_are_counted_by_transfer():
    records = [entry(b'{"transfer": 1, "euros": -11}'), entry(b'{"transfer": 1, "euros": 11}')]
    records += [entry(b'{"transfer": 1, "euros": 11}'), entry(b"text"), entry(None), entry(b"[]")]
    assert transferring._counted(records) == ({1: (1, 2)}, 3)


def test_the_job_is_offered_only_while_the_block_runs_and_to_no_earlier_run():
    job = TransfersJob("a", "b", "c", "way")
    here, found = lab(), []
    earlier = SimpleNamespace(
        stop=lambda: found.append(job_file(lab(), "clerk").read()),
        kill=lambda: found.append(job_file(lab(), "clerk").read()),
    )
    here.program = lambda name: earlier
    with transferring._offered(here, "clerk", job):
        assert found == [None, None], "an earlier run could take the job, and be its first life"
        assert job_file(lab(), "clerk").read() == job
        assert journal(lab(), "clerk").read_text("utf-8") == ""
    assert job_file(lab(), "clerk").read() is None


def test_transfers_only_move_money(monkeypatch):
    sent: list[str] = []
    producer = SimpleNamespace(produce=lambda topic, value, key: sent.append(value), flush=lambda: None)
    here = SimpleNamespace(fresh_topic=lambda *a, **k: None, producer=lambda settings: producer)
    transferring._fill(here, TransfersJob("bank-transfers", "bank-entries", "g"))  # type: ignore[arg-type]
    rows = [json.loads(text) for text in sent]
    assert [row["transfer"] for row in rows] == list(range(COUNT))
    assert all(
        row["from"] != row["to"] and row["euros"] == transferring.amount(row["transfer"]) for row in rows
    )


def test_books_side_by_side():
    left = transferring.Booked(1.0, kills=(("x", 1),), counts={0: (1, 0)}, mails={0: 3})
    table = transferring.compared_books({"loose": left})
    assert table.loc["loose"].to_list() == [1, COUNT - 1, 0, 1, -10, 3]


@pytest.mark.parametrize(
    ("entries", "first", "wrong"),
    [
        ([(0, -10), (0, 10), (1, -11)], 1, False),  # what the present life has in work does not count
        ([(0, -10), (0, 10), (1, -11)], 2, True),
        ([], 1, True),
        ([(0, -10), (0, 10), (3, -13), (3, -13)], 1, True),
        ([], 0, False),
    ],
)
def test_books_that_are_wrong_for_good(monkeypatch, entries, first, wrong):
    rows = [entry(json.dumps({"transfer": n, "euros": e}).encode()) for n, e in entries]
    monkeypatch.setattr(transferring, "read_log", lambda bootstrap, topic: rows)
    monkeypatch.setattr(transferring, "MARK_SECONDS", 0)
    job = TransfersJob("bank-transfers", "bank-entries", "g")
    assert transferring._is_wrong(SimpleNamespace(bootstrap=""), job, first) == wrong  # type: ignore[arg-type]


def test_the_last_transfer_is_booked_before_the_program_is_ended(monkeypatch):
    offsets = iter([15, 15, 18])
    looked: list[int] = []

    def state(topics: list[str], groups: list[str]) -> Any:
        looked.append(next(offsets))
        committed = [("bank-transfers", 0, looked[-1])]
        return SimpleNamespace(groups=[SimpleNamespace(committed=committed)])

    here = SimpleNamespace(cluster=SimpleNamespace(state=state, wait_for_markers=lambda: True))
    program = SimpleNamespace(name="clerk", exit_code=None, output="")
    monkeypatch.setattr(transferring, "_notes", lambda lab, program: [{"kind": "done"}])
    job = TransfersJob("bank-transfers", "bank-entries", "g")
    transferring._until_its_end(here, program, job, until_wrong=False, within=9)  # type: ignore[arg-type]
    assert looked == [15, 15, 18]


class TestTheNotebookWaits:
    """When the notebook ends a program, by what stands in the journal."""

    def ended(self, monkeypatch: pytest.MonkeyPatch, lines: list[dict[str, Any]], **more: Any) -> str:
        job = TransfersJob("bank-transfers", "bank-entries", "g")
        program = SimpleNamespace(name="clerk", exit_code=None, output="")
        monkeypatch.setattr(transferring, "_notes", lambda lab, program: lines)
        for name, seconds in more.pop("seconds", {}).items():
            monkeypatch.setattr(transferring, name, seconds)
        slept: list[float] = []
        clock = SimpleNamespace(monotonic=lambda: sum(slept), sleep=slept.append)
        monkeypatch.setattr(transferring, "time", clock)
        own = {"until_wrong": True, "within": 3, **more}
        self.due = transferring._until_its_end(lab(), program, job, **own)  # type: ignore[arg-type]
        return "when its time was over" if sum(slept) >= 3 else "at once"

    def test_when_all_is_done(self, monkeypatch):
        monkeypatch.setattr(transferring, "_is_booked", lambda lab, job: True)
        assert self.ended(monkeypatch, [{"kind": "done"}]) == "at once"
        assert self.ended(monkeypatch, []) == "when its time was over"

    def test_when_nothing_happens_any_more(self, monkeypatch):
        names = [{"kind": "start", "id": "a"}, {"kind": "start", "id": "b"}]
        assert self.ended(monkeypatch, names, seconds={"OTHER_NAMES_SECONDS": 0}) == "at once"
        assert self.ended(monkeypatch, names[:1]) == "when its time was over"
        assert self.ended(monkeypatch, names[:1], seconds={"IDLE_SECONDS": 0}) == "at once"

    def test_when_the_books_are_wrong(self, monkeypatch):
        lives = [{"kind": "begins", "transfer": 0}, {"kind": "begins", "transfer": 1}]
        monkeypatch.setattr(transferring, "_is_wrong", lambda lab, job, first: first == 1)
        assert self.ended(monkeypatch, lives) == "at once"
        assert self.due == 1  # what the second life has in work does not count
        assert self.ended(monkeypatch, lives[:1]) == "when its time was over"
        assert self.due == COUNT
        assert self.ended(monkeypatch, lives, until_wrong=False) == "when its time was over"
