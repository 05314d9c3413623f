"""What a walk types and runs, in the lab's order."""

from collections.abc import Iterator
from dataclasses import dataclass

from tools.lessons import notebooks, solution_marks
from tools.lessons.lesson import Cell, Exercise, Lesson

WRONGS = 2  # natural mistakes of each exercise; those that learners give first stand first


@dataclass(frozen=True)
class Act:
    """One cell that runs: `typed` is written into it first, unless empty.

    `place` counts all cells of the notebook from 0. `exercise` and `answer` say which try it belongs to, and
    `wanted` whether the try's check solves it; `judges` that this cell says so. `fails` announces an error.
    """

    place: int
    name: str
    typed: str = ""
    exercise: str = ""
    answer: str = ""
    wanted: bool = True
    judges: bool = False
    fails: bool = False


def acts(lesson: Lesson, wrongs: int = WRONGS) -> Iterator[Act]:
    """Yield what is run: each cell once, those of an exercise for each answer that is tried."""
    kept = [(place, cell, name) for place, (cell, name) in enumerate(notebooks.ids(lesson))]
    by_start = {one.answers[0].place: one for one in lesson.exercises if one.answers and one.checks}
    done = -1
    for place, cell, name in kept:
        if cell.kind != "code" or cell.place <= done:
            continue
        exercise = by_start.get(cell.place)
        if exercise is None:
            yield Act(place, name, fails="raises-exception" in cell.tags)
            continue
        done = exercise.checks[0].place
        own = [one for one in kept if cell.place <= one[1].place <= done and one[1].kind == "code"]
        for answer, text, tagged in _answers(exercise, wrongs):
            for where, what, called in own:
                is_answer = what.place == cell.place
                yield Act(
                    place=where,
                    name=called,
                    typed=text if is_answer else "",
                    exercise=exercise.number,
                    answer=answer,
                    wanted=tagged is None,
                    judges=what.place == done,
                    fails="raises-exception" in (tagged if is_answer and tagged else what).tags,
                )


def _answers(exercise: Exercise, wrongs: int) -> Iterator[tuple[str, str, Cell | None]]:
    """Yield the name of each answer, the text of its cell, and its own cell if it is a wrong one."""
    source = exercise.answers[0].source
    for wrong in exercise.wrongs[:wrongs]:
        typed = wrong.cell.source.partition("\n")[2]  # without the line that names it
        yield wrong.name, solution_marks.replaced(source, typed), wrong.cell
    yield "the right answer", solution_marks.solved(source), None
