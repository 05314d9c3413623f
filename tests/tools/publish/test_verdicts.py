"""What is counted for docs/guarantees.md, in as many runs as it says."""

from typing import Any

import pytest
from confluent_kafka import KafkaException

from threebrokers.errors import LabError
from threebrokers.ledger import Balance
from threebrokers.ledger.entries import Entry
from threebrokers.ledger.journal import Number
from tools.publish import verdicts
from tools.publish.verdicts import Repeated, Verdict, repeat


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


def test_a_fault_is_run_until_so_many_runs_count(lab: Any) -> None:
    results: Any = iter([1, LabError("the answers came before the kill"), KafkaException("gone"), 2, 3, 4])
    said = list[str]()

    def once() -> int:
        result = next(results)
        if isinstance(result, Exception):
            raise result
        return int(result)

    found = repeat(lab, 3, "a fault", once, "{} lost".format, said.append)
    assert found == Repeated([1, 2, 3], void=2)
    assert found.told == "3 runs. 2 more did not count: the fault did not come to pass as it is told here."
    assert (lab.closed, lab.healed) == (5, 5), "nothing is left of a run"
    assert [line.split(",")[1].split(",")[0] for line in said] == [f" run {n} of 3" for n in (1, 1, 1, 2, 3)]
    assert said[0].endswith("1 lost")
    assert said[1].endswith("does not count (the answers came before the kill)")


def test_if_too_many_runs_do_not_count_there_are_fewer(lab: Any) -> None:
    results = iter([7])

    def once() -> int:
        for result in results:
            return result
        raise LabError("nothing happened")

    assert repeat(lab, 2, "a fault", once, str, lambda text: None) == Repeated([7], void=3)
    with pytest.raises(LabError, match="No run of 'a fault' counts"):
        repeat(lab, 2, "a fault", once, str, lambda text: None)


def test_a_fault_of_the_code_is_no_run_that_does_not_count(lab: Any) -> None:
    def once() -> int:
        raise KeyError("x")

    with pytest.raises(KeyError):
        repeat(lab, 1, "a fault", once, str, lambda text: None)
    assert lab.closed == 1


def test_all_runs_that_count_are_told_without_more() -> None:
    assert Repeated([1]).told == "1 run."


def test_a_number_stands_alone_only_if_every_run_said_so() -> None:
    runs = [{"a": (200, 98), "b": (7, 7)}, {"a": (200, 100), "b": (7, 7)}]
    assert verdicts.table("set-up", ["sent", "lost"], verdicts.by_name(runs)).splitlines() == [
        "| set-up | sent | lost |",
        "|---|--:|--:|",
        "| a | 200 | 98–100 |",
        "| b | 7 | 7 |",
    ]


def test_a_section_says_what_is_done_how_often_and_what_to_see() -> None:
    text = "\none\ntwo\n\nthree\n"
    assert verdicts.section("A fault", text, "2 runs.", "| t |\n", see="\nLook!\n") == (
        "## A fault\n\none two\n\nthree\n\n2 runs.\n\n| t |\n\nLook!\n"
    )
    assert verdicts.section("A fault", "x", "1 run.") == "## A fault\n\nx\n\n1 run.\n"
