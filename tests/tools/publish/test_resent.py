"""A program that is killed and sends again, for docs/guarantees.md: what it notes, and what is counted."""

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from threebrokers.errors import LabError
from threebrokers.kafka.log_reader import Record
from tools.publish import resending, resent
from tools.publish.resending import ACKNOWLEDGED, COUNT, PART, PLAIN, SENT, WAYS, Notes, Program
from tools.publish.resent import Resent
from tools.publish.verdicts import SET_UPS, Repeated

BEFORE, AFTER, LOOKS = (way for way in WAYS if way not in PLAIN)
TOPICS = [f"topic {number}" for number in range(len(WAYS))]
FIRST, SECOND = list(range(PART)), list(range(PART, COUNT))


class Broker:
    """A producer, and what becomes of what it sends; all is acknowledged when it is flushed."""

    def __init__(self, log: dict[str, list[tuple[int, int]]], settings: Any) -> None:
        self.log, self.settings, self.transaction = log, settings, list[Any]()
        self.waiting, self.calls = list[Any](), list[str]()

    def init_transactions(self, seconds: float) -> None:
        self.calls.append("init")

    def begin_transaction(self) -> None:
        self.calls.append("begin")

    def commit_transaction(self, seconds: float) -> None:
        self.calls.append("commit")

    def produce(self, topic: str, value: str) -> None:
        self.waiting.append((topic, value))

    def flush(self, seconds: float) -> int:
        for topic, value in self.waiting:
            self.log.setdefault(topic, []).append((self.settings.get("transactional.id", 0), int(value)))
            if heard := self.settings.get("on_delivery"):
                heard(None, SimpleNamespace(value=lambda value=value: value.encode()))
        self.waiting.clear()
        return 0


@pytest.fixture
def life(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return what begins a life of the program, with the notes of the lives before it."""
    log = dict[str, list[tuple[int, int]]]()
    cluster = SimpleNamespace(wait_for_markers=lambda: None)
    lab: Any = SimpleNamespace(
        producer=lambda settings: Broker(log, settings), topic=str, bootstrap="b", cluster=cluster
    )
    committed = [Record("t", 0, n, None, str(n).encode(), 0, "create") for n in range(COUNT)]
    monkeypatch.setattr(resending, "read_log", lambda bootstrap, topic: committed)
    return lambda: Program(lab, Notes(tmp_path / "notes"), TOPICS)


def test_every_set_up_of_the_other_faults_is_tried() -> None:
    assert [f"`{of}`" for of in SET_UPS] == PLAIN
    assert [(WAYS[way].committed, WAYS[way].looks) for way in (BEFORE, AFTER, LOOKS)] == [
        (False, False),
        (True, False),
        (True, True),
    ]


def test_a_first_life_knows_of_the_first_half_only(life: Any) -> None:
    program = life()
    program.begin()
    notes = program.notes
    assert all(notes.of(ACKNOWLEDGED, way) == FIRST for way in WAYS)
    assert all(notes.of(SENT, way) == FIRST for way in PLAIN)
    assert all(notes.of(SENT, way) == FIRST + SECOND for way in (BEFORE, AFTER, LOOKS))
    calls = {way: program.producers[way].calls for way in WAYS}
    assert calls[BEFORE] == ["init", "begin", "commit", "begin"], "the last transaction is open"
    assert calls[AFTER] == calls[LOOKS] == ["init", "begin", "commit", "begin", "commit"]
    assert calls[PLAIN[0]] == []


def test_a_first_life_that_nobody_kills_sends_the_second_half_and_ends(
    life: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resending, "LIFE_SECONDS", 0)
    program = life()
    program.go_on()
    assert all(program.notes.of(SENT, way) == SECOND for way in PLAIN)
    assert program.notes.of(SENT, AFTER) == []


def test_a_second_life_sends_what_it_has_no_acknowledgement_of(life: Any) -> None:
    life().begin()
    second = life()
    second.again()
    sent = {way: second.notes.of(SENT, way) for way in WAYS}
    assert all(sent[way] == FIRST + SECOND for way in (*PLAIN, LOOKS)), "who looks finds all committed"
    assert all(sent[way] == FIRST + SECOND + SECOND for way in (BEFORE, AFTER))
    assert all(sorted({*second.notes.of(ACKNOWLEDGED, way)}) == FIRST + SECOND for way in WAYS)
    assert second.producers[LOOKS].calls == ["init", "begin", "commit"]


def test_answers_that_do_not_come_are_told(life: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Broker, "flush", lambda self, seconds: 3)
    with pytest.raises(LabError, match="not all was answered"):
        life().begin()


def test_what_became_of_the_orders_is_counted() -> None:
    seen = Counter({**dict.fromkeys(FIRST, 1), **dict.fromkeys(SECOND[1:], 2)})
    counted = resent.account({*FIRST}, {*FIRST, *SECOND}, 100, seen, seen + Counter(SECOND))
    assert counted == Resent(200, 100, again=100, stored=199, lost=1, twice=99, in_the_log=398)


@pytest.fixture
def lives(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Return a lab in which both lives are told by their notes alone."""
    monkeypatch.setattr(resent.paths, "home", lambda: tmp_path)
    monkeypatch.setattr(resent, "controller_last", lambda lab: [2, 3, 1])
    monkeypatch.setattr(resent, "read_log", lambda bootstrap, topic, isolation: [])
    cluster = SimpleNamespace(recover=lambda: None, wait_for_markers=lambda: None)
    return SimpleNamespace(cluster=cluster, bootstrap="b", fresh_topic=lambda name, **more: name)


def test_a_run_is_what_both_lives_have_noted(lives: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def first(lab: Any, path: Path, topics: Any) -> None:
        for way in WAYS:
            Notes(path).add(SENT, way, range(COUNT))
            Notes(path).add(ACKNOWLEDGED, way, range(COUNT if "acks=0" in way else PART))

    def second(path: Path, topics: Any) -> None:
        Notes(path).add(SENT, AFTER, SECOND)

    monkeypatch.setattr(resent, "_first_life", first)
    monkeypatch.setattr(resent, "_second_life", second)
    run = resent.killed_and_started(lives)
    assert run[PLAIN[0]] == Resent(200, 200, again=0, stored=0, lost=200, twice=0, in_the_log=0)
    assert run[AFTER] == Resent(200, 100, again=100, stored=0, lost=100, twice=0, in_the_log=0)


def test_answers_that_came_before_the_kill_are_no_run(lives: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def first(lab: Any, path: Path, topics: Any) -> None:
        for way in WAYS:
            Notes(path).add(ACKNOWLEDGED, way, range(COUNT if way == PLAIN[1] else PART))

    monkeypatch.setattr(resent, "_first_life", first)
    with pytest.raises(LabError, match=r"answers came before the kill \(`acks=1`\)"):
        resent.killed_and_started(lives)


def test_a_life_that_fails_is_told_with_its_last_line(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"failed with code 2 .*required: topics"):
        resent._second_life(tmp_path / "notes", {})


def test_the_section_has_a_row_for_each_way() -> None:
    found = Repeated([dict.fromkeys(WAYS, Resent(200, 100, 100, 200, 0, 100, 300))] * 2)
    (section,) = resent.written(found)
    assert section.startswith(f"## {resent.HEADING}\n")
    rows = [f"| {way} | 200 | 100 | 100 | 200 | 0 | 100 | 300 |" for way in WAYS]
    assert [line for line in section.splitlines() if line.startswith(("| `", "| the same"))] == rows
