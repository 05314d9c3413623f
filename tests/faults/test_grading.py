"""Thirty hand-ins are graded, and most of them do harm: each one costs only itself."""

from pathlib import Path

import pytest

from tests import grading_of, handed_in
from tests.reliability import Behaviour
from tools import ROOT

SPARK = {
    "12": "batches",
    "14": "streams with state, whose Java starts programs all the time",
    "15": "a Spark cluster of two workers",
}


@pytest.mark.slow_fault
@pytest.mark.timeout(3600)
@pytest.mark.fault(
    "Grading", "hand-ins that hang, exit, take all memory, delete topics, kill brokers, or cheat"
)
def test_thirty_hand_ins_get_what_they_have_earned(tmp_path: Path, behaviour: Behaviour) -> None:
    with handed_in.server() as (port, came):
        made = handed_in.all_thirty(port)
        grades = grading_of.graded(tmp_path, made, jobs=2)
    assert len(made) >= 30
    assert grading_of.faults(made, grades) == []
    assert came == []
    assert grading_of.left_behind(handed_in.DAEMON) == []
    assert not (ROOT / "threebrokers" / "written.py").exists()
    behaviour("each costs only itself, and all others get the verdicts that they have earned")


@pytest.mark.slow_fault
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    "number",
    [
        pytest.param(number, marks=pytest.mark.fault("Grading", f"half of a hand-in is wrong; Spark: {what}"))
        for number, what in SPARK.items()
    ],
)
def test_a_lab_with_spark_is_graded_in_its_box(tmp_path: Path, behaviour: Behaviour, number: str) -> None:
    assert grading_of.every_other(tmp_path, number) == []
    behaviour("the other half is solved, and each wrong answer is told what is wrong with it")


@pytest.mark.slow_fault
@pytest.mark.timeout(1200)
@pytest.mark.fault("Grading", "without boxes a hand-in starts programs that outlive it, or kills brokers")
def test_without_boxes_all_that_a_hand_in_has_started_is_ended_by_its_mark(
    tmp_path: Path, behaviour: Behaviour
) -> None:
    every = handed_in.all_thirty(0)
    made = {name: every[name] for name in ("right", "daemon", "kills-processes")}
    grades = grading_of.graded(tmp_path, made, apart=False)
    assert grading_of.faults(made, grades) == []
    assert grading_of.left_behind(handed_in.DAEMON) == []
    assert not any(one.apart for one in grades.values())
    behaviour("all that it has started is ended by its mark, and the next one gets fresh brokers")
