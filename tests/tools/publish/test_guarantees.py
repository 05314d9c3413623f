"""docs/guarantees.md: what it says was counted by ledgers, in as many runs as it says."""

import re
from types import SimpleNamespace
from typing import Any

import pytest

from threebrokers.lab.transfers import PLACES
from threebrokers.ledger import Balance
from threebrokers.ledger.entries import Entry
from threebrokers.ledger.journal import Number
from tools.publish import guarantees, killed_transfers, killed_workers
from tools.publish.guarantees import Verdict
from tools.publish.killed_transfers import Account, Run
from tools.publish.killed_workers import account

SAME, ANOTHER = Verdict(200, 200, 0, 100, 100, 0), Verdict(200, 198, 2, 100, 98, 0)


def entry(number: int, offset: int) -> Entry:
    return Entry(Number(1, number), 0, offset)


def test_a_ledger_becomes_six_numbers() -> None:
    balance = Balance(
        "t",
        attempted=[Number(1, n) for n in range(4)],
        acknowledged=[entry(0, 0), entry(1, 1), entry(2, 2)],
        stored=[entry(0, 0), entry(1, 1), entry(1, 2)],
    )
    assert Verdict.of(balance) == Verdict(4, 3, 0, 2, 1, 1)


def test_every_fault_is_run_so_many_times_and_each_set_up_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, said = list[str](), list[str]()

    def fault(name: str) -> Any:
        def run(lab: Any, set_ups: Any) -> Any:
            asked.append(name)
            return SimpleNamespace(balances={of: Balance("t") for of in set_ups})

        return run

    monkeypatch.setattr(guarantees, "FAULTS", {"a": (fault("a"), ""), "b": (fault("b"), "")})
    closed = list[str]()
    lab: Any = SimpleNamespace(close=lambda: closed.append(asked[-1]))
    tally = guarantees.measured(lab, 3, said.append)
    assert asked == ["a", "b"] * 3
    assert closed == ["b"] * 3, "the producers of a run are closed after it"
    assert {len(verdicts) for of_fault in tally.values() for verdicts in of_fault.values()} == {3}
    assert len(said) == 6


def test_a_number_stands_alone_only_if_every_run_said_so() -> None:
    tally = {name: {of: [SAME, SAME] for of in guarantees.SET_UPS} for name in guarantees.FAULTS}
    tally["The answer gets lost"]["acks=1"] = [SAME, ANOTHER]
    workers = {way: [account(0, 1), account(0, 1)] for way in killed_workers.WAYS}
    workers["`enable.auto.commit`"] = [account(1, 6), account(1, 4)]
    sections = guarantees.sections(tally, workers, None)
    lines = guarantees.page(sections, ["Kafka 1", "client 2"]).splitlines()
    assert "Measured with Kafka 1, client 2." in lines
    assert lines.count("2 runs.") == 3
    assert lines.count("| `acks=1` | 200 | 200 | 0 | 100 | 100 | 0 |") == 1
    assert lines.count("| `acks=1` | 200 | 198–200 | 0–2 | 100 | 98–100 | 0 |") == 1
    assert lines.count("| work, then commit | 40 | 39 | 0 | 1 |") == 1
    assert lines.count("| `enable.auto.commit` | 40 | 33–35 | 1 | 4–6 |") == 1


def test_a_part_is_written_between_the_others_as_they_are() -> None:
    old = guarantees.PAGE.read_text("utf-8")
    versions = re.findall(r"Measured with (.*)\.", old)[0].split(", ")
    run = Run(Account(18, 17, 0, 1, 0, 36, 38), {"when it had only started": killed_transfers.NOTHING})
    section = next(guarantees.sections(None, None, {"a way": [run]}))
    new = guarantees.page([section], versions, old)
    assert new.endswith(section)
    assert new.startswith(old.partition("## A worker of transfers")[0])
    assert "| a way | 18 | 17 | 0 | 1 | 0 | 36 | 38 |" in section
    assert "| when it had only started | nothing was in work |" in section
    assert guarantees.page([section], versions, new) == new


def test_a_part_is_not_written_beside_those_of_other_versions() -> None:
    with pytest.raises(ValueError, match="measured with other versions"):
        guarantees.page([], ["Kafka 1"], guarantees.PAGE.read_text("utf-8"))


def test_no_runs_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert guarantees.main(["--runs", "0"]) == 2
    assert "give at least 1" in capsys.readouterr().err


def test_the_page_in_the_repository_has_every_set_up_and_twenty_runs() -> None:
    text = guarantees.PAGE.read_text("utf-8")
    for name in guarantees.FAULTS:
        section = text.partition(f"## {name}\n")[2].partition("\n## ")[0]
        assert f"{guarantees.RUNS} runs." in section
        assert [line for line in section.splitlines() if line.startswith("| `")] != []
        for of in guarantees.SET_UPS:
            assert f"| `{of}` |" in section
    workers = text.partition("## A worker is killed")[2]
    assert [way for way in killed_workers.WAYS if f"| {way} | {killed_workers.COUNT} |" not in workers] == []
    transfers = text.partition("## A worker of transfers")[2]
    assert f"{guarantees.RUNS} runs." in transfers
    rows = [*(f"{way} | {killed_transfers.COUNT}" for way in killed_transfers.WAYS), *PLACES.values()]
    assert [row for row in rows if f"| {row} |" not in transfers] == []
    *_, one_transaction = killed_transfers.WAYS
    assert f"| {one_transaction} | 18 | 18 | 0 | 0 | 0 |" in transfers
