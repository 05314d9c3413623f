"""Thirty hand-ins are graded, and most of them do harm: each one costs only itself."""

from pathlib import Path

import pytest

from tests import grading_of, handed_in
from tools import ROOT


@pytest.mark.slow_fault
@pytest.mark.timeout(3600)
def test_thirty_hand_ins_get_what_they_have_earned(tmp_path: Path) -> None:
    with handed_in.server() as (port, came):
        made = handed_in.all_thirty(port)
        grades = grading_of.graded(tmp_path, made, jobs=2)
    assert len(made) >= 30
    assert grading_of.faults(made, grades) == []
    assert came == []
    assert grading_of.left_behind(handed_in.DAEMON) == []
    assert not (ROOT / "threebrokers" / "written.py").exists()


# Batches; streams with state, whose Java starts programs all the time; a Spark cluster of two workers.
@pytest.mark.slow_fault
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("number", ["12", "14", "15"])
def test_a_lab_with_spark_is_graded_in_its_box(tmp_path: Path, number: str) -> None:
    assert grading_of.every_other(tmp_path, number) == []


@pytest.mark.slow_fault
@pytest.mark.timeout(1200)
def test_without_boxes_all_that_a_hand_in_has_started_is_ended_by_its_mark(tmp_path: Path) -> None:
    every = handed_in.all_thirty(0)
    made = {name: every[name] for name in ("right", "daemon", "kills-processes")}
    grades = grading_of.graded(tmp_path, made, apart=False)
    assert grading_of.faults(made, grades) == []
    assert grading_of.left_behind(handed_in.DAEMON) == []
    assert not any(one.apart for one in grades.values())
