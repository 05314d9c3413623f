"""What the grader knows of lessons is what they say."""

from threebrokers.grading import course
from tools import ROOT
from tools.lessons import lesson


def test_the_exercises_that_are_done_with_buttons_are_those_that_lessons_call_so() -> None:
    by_hand = set()
    for path in lesson.lessons(ROOT):
        for exercise in lesson.read(path).exercises:
            if exercise.by_hand:
                by_hand.add(exercise.number)
    graded = [course.read(path) for path in sorted((ROOT / "labs").glob("*.ipynb"))]
    assert by_hand == {task.number for lab in graded for task in lab.tasks if task.by_hand}
