"""What is tried with each exercise of a lesson, in order."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tools.lessons import code_names
from tools.lessons.lesson import Exercise, Lesson, Wrong

OTHER = "_another_topic"
WHOLE = (1, 1)
# What a learner may pass by mistake: nothing, a number, a topic that is there, one that is not, and an error,
# which leaves an exception behind when it is compared with what is no whole number.
NONSENSE = ("None", "-7", OTHER, "'no-such-topic'", "__import__('confluent_kafka').KafkaError(3)")
FIXED_STEPS = 4  # of each exercise: untouched, the solution twice, nonsense


@dataclass(frozen=True)
class Step:
    """One thing to try: `kind` is untouched, wrong, right, solution, nonsense or rest.

    `wrong` is the answer of the kinds wrong and right.
    """

    label: str
    kind: str
    exercise: Exercise | None = None
    wrong: Wrong | None = None


def steps(lesson: Lesson, answers: int | None = None, share: tuple[int, int] = WHOLE) -> Iterator[Step]:
    """Yield what is tried, in the lesson's order; at most so many wrong answers of each exercise.

    And half as many right ones. The first ones are those that learners give first. A `share`, such as the
    second of three, tries only some exercises: those before them are solved, those after them left out.
    """
    lab = lesson.number
    own = _shared(lesson.exercises, share[1])[share[0] - 1]
    for exercise in lesson.exercises:
        name = f"{lab} {exercise.number}"
        if exercise not in own:
            if not own or lesson.exercises.index(exercise) > lesson.exercises.index(own[-1]):
                break
            yield Step(f"{name} solution", "solution", exercise)
            continue
        wrongs, rights = (
            [Step(f"{name} {kind}: {a.name}", kind, exercise, a) for a in found]
            for kind, found in zip(("wrong", "right"), chosen(exercise, answers), strict=True)
        )
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
    if share[0] == share[1]:
        yield Step(f"{lab} rest of the lesson", "rest")


def chosen(exercise: Exercise, answers: int | None) -> tuple[Sequence[Wrong], Sequence[Wrong]]:
    """Return the wrong and the right answers that are tried: at most so many, and half as many."""
    return exercise.wrongs[:answers], exercise.rights[: None if answers is None else answers // 2]


def _shared(exercises: Sequence[Exercise], count: int) -> list[list[Exercise]]:
    """Cut exercises into so many runs that have about as many answers each; the last ones may be empty."""
    weights = [len(exercise.wrongs) + len(exercise.rights) + FIXED_STEPS for exercise in exercises]
    shares: list[list[Exercise]] = [[] for _ in range(count)]
    done = 0
    for exercise, weight in zip(exercises, weights, strict=True):
        shares[int((done + weight / 2) * count / sum(weights))].append(exercise)
        done += weight
    return shares


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
