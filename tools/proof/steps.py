"""What is tried with each exercise of a lesson, in order."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tools.lessons import code_names
from tools.lessons.lesson import Exercise, Lesson, Wrong

OTHER = "_another_topic"
# What a learner may pass by mistake: nothing, a number, a topic that is there, one that is not.
NONSENSE = ("None", "-7", OTHER, "'no-such-topic'")


@dataclass(frozen=True)
class Step:
    """One thing to try: `kind` is untouched, wrong, right, solution, nonsense or rest.

    `wrong` is the answer of the kinds wrong and right.
    """

    label: str
    kind: str
    exercise: Exercise | None = None
    wrong: Wrong | None = None


def steps(lesson: Lesson, answers: int | None = None) -> Iterator[Step]:
    """Yield what is tried, in the lesson's order; at most so many wrong answers of each exercise.

    And half as many right ones. The first ones are those that learners give first.
    """
    lab = lesson.number
    right_answers = None if answers is None else answers // 2
    for exercise in lesson.exercises:
        name = f"{lab} {exercise.number}"
        wrongs = [Step(f"{name} wrong: {a.name}", "wrong", exercise, a) for a in exercise.wrongs[:answers]]
        rights = [
            Step(f"{name} right: {a.name}", "right", exercise, a) for a in exercise.rights[:right_answers]
        ]
        yield Step(f"{name} untouched", "untouched", exercise)
        # A wrong answer is a second try itself: each comes after another one, and the solution after all.
        # Where some are tried only, the solution was seen on these brokers before: a right one comes first.
        if answers is None or not rights:
            yield Step(f"{name} solution", "solution", exercise)
            yield from (*wrongs, *rights)
        else:
            yield from (*rights, *wrongs)
        yield Step(f"{name} again: solution", "solution", exercise)
        yield Step(f"{name} nonsense", "nonsense", exercise)
    yield Step(f"{lab} rest of the lesson", "rest")


def nonsense(call: str) -> Iterator[str]:
    """Yield the call of a check with each argument in turn replaced by nonsense."""
    found = code_names.check_call(call)
    assert found is not None
    for position in range(len(found[1].args)):
        for value in NONSENSE:
            changed = ast.parse(call, mode="eval")
            assert isinstance(changed.body, ast.Call)
            changed.body.args[position] = ast.parse(value, mode="eval").body
            yield ast.unparse(changed)
