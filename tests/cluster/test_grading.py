"""Hand-ins are graded in boxes of their own: each gets what it has earned, whatever another one does."""

from pathlib import Path

import pytest

from tests import grading_of, handed_in
from threebrokers.grading.grades import Grade, Grades


@pytest.mark.timeout(900)
def test_each_hand_in_gets_what_it_has_earned(tmp_path: Path) -> None:
    with handed_in.server() as (port, came):
        made = handed_in.short(port)
        grades = grading_of.graded(tmp_path, made, jobs=2)
    assert grading_of.faults(made, grades) == []
    assert came == []
    assert _again(tmp_path, grades)


def _again(folder: Path, grades: dict[str, Grade]) -> bool:
    """Tell whether a second grading would find all of them graded."""
    kept = Grades(folder / "handed in")
    return all(kept.known(one.file, one.digest, one.course) for one in grades.values())
