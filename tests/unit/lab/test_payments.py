"""The payments of lab 06: what is made for an experiment, and what an exercise is judged by."""

from types import SimpleNamespace
from typing import Any

from threebrokers.lab.scenarios import payments_with_poison


def test_an_experiment_leaves_the_topic_and_the_ledger_of_the_exercise_alone():
    topics: list[str] = []
    ledgers: list[str] = []

    def ledger(name: str) -> Any:
        ledgers.append(name)
        producer = SimpleNamespace(produce=lambda *record, **more: None, flush=lambda: 0)
        return SimpleNamespace(producer=lambda config: producer)

    lab: Any = SimpleNamespace(fresh_topic=lambda name: topics.append(name) or name, ledger=ledger)
    assert payments_with_poison(lab)[0] == "payments-in"  # what the check of 6.3 reads
    assert payments_with_poison(lab, "payments-stuck")[0] == "payments-stuck"
    assert topics == ledgers == ["payments-in", "payments-stuck"]
