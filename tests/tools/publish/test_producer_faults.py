"""Faults that hit producers of all set-ups, for docs/guarantees.md."""

from types import SimpleNamespace
from typing import Any

import pytest

from threebrokers.errors import LabError
from threebrokers.ledger import Balance
from tools.publish import producer_faults
from tools.publish.producer_faults import Fault
from tools.publish.verdicts import SET_UPS, Repeated, Verdict

SAME, ANOTHER = Verdict(200, 200, 0, 100, 100, 0), Verdict(200, 198, 2, 100, 98, 0)


def test_every_fault_is_run_so_many_times_and_each_set_up_counted(
    lab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, said = list[str](), list[str]()

    def fault(name: str) -> Fault:
        def run(lab: Any, set_ups: Any) -> Any:
            asked.append(name)
            return SimpleNamespace(balances={of: Balance("t") for of in set_ups})

        return Fault(run, "", "")

    monkeypatch.setattr(producer_faults, "FAULTS", {"a": fault("a"), "b": fault("b")})
    found = producer_faults.measured(lab, 3, said.append)
    assert asked == ["a"] * 3 + ["b"] * 3
    assert [len(of_fault.runs) for of_fault in found.values()] == [3, 3]
    assert {tuple(run) for of_fault in found.values() for run in of_fault.runs} == {tuple(SET_UPS)}
    assert len(said) == 6
    assert "acks=0: 0 lost, 0 twice" in said[0]


def test_a_section_has_a_row_for_each_set_up() -> None:
    found = {
        name: Repeated([dict.fromkeys(SET_UPS, SAME), {**dict.fromkeys(SET_UPS, SAME), "acks=1": ANOTHER}])
        for name in producer_faults.FAULTS
    }
    written = producer_faults.written(found)
    assert [section.partition("\n")[0] for section in written] == [
        f"## {heading}" for heading in producer_faults.HEADINGS
    ]
    for section in written:
        lines = section.splitlines()
        assert "2 runs." in lines
        assert "| `acks=0` | 200 | 200 | 0 | 100 | 100 | 0 |" in lines
        assert "| `acks=1` | 200 | 198–200 | 0–2 | 100 | 98–100 | 0 |" in lines


def test_a_leader_is_killed_when_all_have_the_records_and_before_it_has_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done = list[Any]()

    class Round:
        leader = 2
        copied = True
        producers = {"mine": [1], "hasty": []}  # noqa: RUF012

        def __init__(self, lab: Any, name: str, set_ups: Any, config: Any) -> None:
            done.append(set_ups)

        def send(self) -> None:
            done.append("send")

        def flush(self, seconds: float) -> None:
            done.append("flush")

        def trials(self) -> str:
            return "trials"

    def note(name: str) -> Any:
        return lambda *words: done.append((name, *words))

    cluster = SimpleNamespace(**{name: note(name) for name in ("slow", "cut", "kill", "heal")})
    lab: Any = SimpleNamespace(cluster=cluster, wait_until=lambda look, what, within: done.append(what))
    monkeypatch.setattr(producer_faults, "Round", Round)
    set_ups = {"mine": {"acks": 1}, "hasty": {"acks": 0}}
    assert producer_faults.killed_before_its_answers(lab, set_ups) == "trials"
    assert done == [
        {of: {"message.timeout.ms": 60_000, **settings} for of, settings in set_ups.items()},
        ("slow", 2, producer_faults.HELD_MS, "clients"),
        "send",
        "three replicas of the last records",
        ("cut", 2, "clients"),
        ("kill", 2),
        ("heal",),
        "flush",
    ]
    Round.producers["mine"] = []
    with pytest.raises(LabError, match=r"answers came before the kill \(mine\)"):
        producer_faults.killed_before_its_answers(lab, set_ups)
