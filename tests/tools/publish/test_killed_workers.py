"""Workers that are killed for docs/guarantees.md: the programs of lab 06, each killed as often as it says."""

from typing import Any

import pytest

from threebrokers.errors import LabError
from threebrokers.lab.orders import COUNT
from threebrokers.lab.scenarios import Invoices, Killed, killing
from threebrokers.ledger import Balance, Entry
from threebrokers.ledger.journal import Number
from tools.publish import killed_workers
from tools.publish.killed_workers import Account, account
from tools.publish.verdicts import Repeated


def entry(number: int) -> Entry:
    return Entry(Number(1, number), 0, number)


def test_every_way_is_one_that_a_program_of_the_lesson_knows(
    lab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[Any]()

    def twice(lab: Any, program: str, *, way: str, **more: Any) -> Killed:
        asked.append((way, more["topic"]))
        orders = [entry(n) for n in range(COUNT)]
        done = [*orders[:7], *orders[8:], entry(13), entry(13)]
        return Killed(1.0, 2, balance=Balance("t", committed=orders, processed=done))

    monkeypatch.setattr(killed_workers, "killed_twice", twice)
    books = Invoices(1.0, 2, counts=dict.fromkeys(range(COUNT), 1))
    monkeypatch.setattr(killed_workers, "killed_between_statements", lambda lab, program: books)
    said = list[str]()
    found = killed_workers.measured(lab, 2, said.append).runs
    assert [list(run) for run in found] == [list(killed_workers.WAYS)] * 2
    *told, in_the_database = found[1].values()
    assert told == [Account(40, 38, 1, 1)] * 4
    assert in_the_database == Account(40, 40, 0, 0)
    assert len(said) == 2
    assert len({topic for _, topic in asked} | {killing.TOPIC}) == len(killed_workers.WAYS)
    worker, *_, bookkeeper = lab.started.values()
    assert all(f'"{way}"' in worker for way, _ in asked if way != "automatic")
    assert '"automatic" in orders.way' in worker
    assert "INSERT OR REPLACE INTO positions" in bookkeeper


def test_a_number_stands_alone_only_if_every_run_said_so() -> None:
    steady = {way: account(0, 1) for way in killed_workers.WAYS}
    runs = [{**steady, "`enable.auto.commit`": account(1, twice)} for twice in (6, 4)]
    (section,) = killed_workers.written(Repeated(runs))
    assert section.startswith(f"## {killed_workers.HEADING}\n")
    assert "| work, then commit | 40 | 39 | 0 | 1 |\n" in section
    assert "| `enable.auto.commit` | 40 | 33–35 | 1 | 4–6 |\n" in section
    assert "2 runs.\n" in section


@pytest.mark.parametrize("ending", [{"killed": 1}, {"killed": 2, "fault": "NameError: x"}])
def test_a_run_in_which_nobody_died_as_told_is_no_run(
    lab: Any, monkeypatch: pytest.MonkeyPatch, ending: dict[str, Any]
) -> None:
    run = Killed(1.0, **ending), account(0, 0)
    monkeypatch.setattr(killed_workers, "WAYS", {"a way": ("worker", lambda lab, program: run)})
    with pytest.raises(LabError, match="'a way' was killed"):
        killed_workers._once(lab)
