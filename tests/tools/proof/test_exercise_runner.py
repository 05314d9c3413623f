"""The pass over a lesson's exercises finds what it must find; its lab here is a stand-in without brokers."""

from collections.abc import Iterator

import pytest

from threebrokers.grading.kernel import Kernel
from tools import ROOT
from tools.lessons import lesson
from tools.proof import expectations
from tools.proof.exercise_runner import FailedError, Trial
from tools.proof.steps import nonsense, steps

pytestmark = pytest.mark.programs

CHECKED = """
class NotYet(Exception):
    def _render_traceback_(self):
        return [str(self)]


class NotAttempted(NotYet):
    pass


class Solved:
    def __repr__(self):
        return "✓ 3.1  Survive"


class Check:
    def survives_one_broker(self, topic):
        if topic is ...:
            raise NotAttempted("not attempted")
        copies = topic[1] if isinstance(topic, tuple) else None
        if copies in (1, 2):
            raise NotYet(f"keeps {copies} copy" if copies == 1 else "keeps 2 copies")
        if not isinstance(topic, tuple) or topic != ("failsafe", 3):
            raise NotYet("is not 'failsafe'")
        return Solved()

    def counts_twice(self, first, second):
        if first is ...:
            raise NotAttempted("not attempted")
        if first == 0:
            raise NotYet("begins with 0")
        if (first, second) != (1, 2):
            raise NotYet("something else")
        return Solved()


class Lab:
    check = Check()

    def fresh_topic(self, name, replication_factor=1):
        return name, replication_factor

    def quiz(self):
        pass


lab = Lab()
"""


@pytest.fixture
def stand_in(course, tmp_path):
    course.edit('from threebrokers import open_lab\n\nlab = open_lab("03")\n', CHECKED)
    return course


@pytest.fixture(scope="module")
def kernel(tmp_path_factory) -> Iterator[Kernel]:
    with Kernel(tmp_path_factory.mktemp("kernel")) as kernel:
        yield kernel


@pytest.fixture
def doomed(tmp_path) -> Iterator[Kernel]:
    with Kernel(tmp_path) as kernel:
        yield kernel


def told(course, kernel) -> dict[str, str]:
    """Take every step; return what the failed ones said."""
    read = lesson.read(course.path)
    trial, faults = Trial(read, kernel), {}
    for step in steps(read):
        try:
            trial.take(step)
        except FailedError as fault:
            faults[step.label] = str(fault)
    return faults


def test_a_good_lesson_passes(stand_in, kernel):
    assert told(stand_in, kernel) == {}


def test_steps_have_names_and_an_order(course):
    labels = [step.label for step in steps(lesson.read(course.path))]
    assert labels[:8] == [
        "03 3.1 untouched",
        "03 3.1 solution",
        "03 3.1 wrong: one copy",
        "03 3.1 wrong: two copies",
        "03 3.1 wrong: another name",
        "03 3.1 again: solution",
        "03 3.1 nonsense",
        "03 3.2 untouched",
    ]
    assert labels[-1] == "03 rest of the lesson"


@pytest.mark.parametrize("number", ["00", "04"])
@pytest.mark.parametrize("count", [1, 2, 3, 6])
def test_shares_try_together_what_one_run_tries(count, number):
    read = next(lesson.read(path) for path in lesson.lessons(ROOT) if path.stem.startswith(number))
    whole, together = list(steps(read)), []
    for n in range(1, count + 1):
        share = list(steps(read, None, (n, count)))
        untouched = [step.exercise for step in share if step.kind == "untouched"]
        if untouched:
            before = read.exercises[: read.exercises.index(untouched[0])]
            assert [step.exercise for step in share[: len(before)]] == list(before)
            assert {step.kind for step in share[: len(before)]} <= {"solution"}
            share = share[len(before) :]
        together += share
    assert together == whole


def test_of_many_answers_the_first_ones_are_tried(course):
    labels = [step.label for step in steps(lesson.read(course.path), 2)]
    assert [label for label in labels if label.startswith("03 3.1")] == [
        "03 3.1 untouched",
        "03 3.1 solution",
        "03 3.1 wrong: one copy",
        "03 3.1 wrong: two copies",
        "03 3.1 again: solution",
        "03 3.1 nonsense",
    ]


def test_who_does_not_try_the_whole_lesson_does_without_what_no_exercise_needs(stand_in, kernel):
    read = lesson.read(stand_in.path)
    kernel.run("shown = 'not yet'", "x")
    trial = Trial(read, kernel, {})
    for step in steps(read, 2):
        trial.take(step)
    assert kernel.run("shown", "x").result == "'not yet'"


def test_who_has_seen_the_solution_run_wants_the_same_words(stand_in, kernel):
    read = lesson.read(stand_in.path)
    again = next(step for step in steps(read) if step.label == "03 3.1 again: solution")
    Trial(read, kernel, {"check-3-1": "✓ 3.1  Survive"}).take(again)
    with pytest.raises(FailedError, match=r"the same words as before \(✓ 3.1  Live\)"):
        Trial(read, kernel, {"check-3-1": "✓ 3.1  Live"}).take(again)


BROKEN = {
    "solved too early": (
        "if topic is ...",
        "if False",
        ["untouched"],
        "the cell check-3-1 of 03_replication should say NotAttempted; it says NotYet: is not 'failsafe'",
    ),
    "accepts a wrong answer": (
        "copies in (1, 2)",
        "copies == 1",
        ["wrong: two copies"],
        "'keeps 2 copies'; it",
    ),
    "another's message": (
        '"keeps 2 copies")',
        '"keeps 2 copies, not: keeps 1 copy")',
        ["wrong: two copies"],
        "nothing of 'one copy' ('keeps 1 copy')",
    ),
    "solution refused": ('("failsafe", 3)', '("failsafe", 4)', ["solution"], "should say to be solved"),
    "a traceback": (
        'NotYet("is not',
        'KeyError("is not',
        ["wrong: another name"],
        "NotYet; it says KeyError",
    ),
    "long words": ("[str(self)]", "[str(self), 'more']", ["wrong: one copy"], "no traceback"),
    "nonsense accepted": (
        'if not isinstance(topic, tuple) or topic != ("failsafe", 3)',
        "if isinstance(topic, tuple) and topic[0] != 'failsafe'",
        ["nonsense"],
        "NotYet for lab.check.survives_one_broker(None); it says ✓ 3.1",
    ),
    "other words each time": (
        '"✓ 3.1  Survive"',
        'f"✓ 3.1  {id(self)}" + __import__("time").ctime() + __import__("secrets").token_hex(4)',
        ["again: solution"],
        "the same words as before",
    ),
    "works once only": (
        "return name, replication_factor",
        "self.n = getattr(self, 'n', 0) + 1; return name, replication_factor if self.n < 5 else 9",
        ["again: solution"],
        "to be solved; it says NotYet: is not 'failsafe'",
    ),
}


@pytest.mark.parametrize(("old", "new", "steps_", "words"), BROKEN.values(), ids=BROKEN.keys())
def test_a_fault_is_found_and_its_cell_named(stand_in, kernel, old, new, steps_, words):
    stand_in.edit(old, new)
    faults = told(stand_in, kernel)
    for step in steps_:
        assert words in faults.get(f"03 3.1 {step}", "no fault"), faults


def test_a_cell_that_fails_is_named_and_ends_the_lesson(stand_in, kernel):
    stand_in.edit('shown = "shown"', 'shown = 1 / 0  # "shown"')
    faults = told(stand_in, kernel)
    assert "('shown = 1 / 0  # \"shown\"') failed: ZeroDivisionError" in faults["03 3.1 untouched"]
    assert faults["03 3.2 solution"].startswith("not tried, because earlier the cell code-")


def test_a_wrong_answer_that_raises_must_say_so(stand_in, kernel):
    stand_in.edit(", replication_factor=1)\n", ", replication_factor=1)\nraise ValueError('no')\n")
    assert "failed: ValueError: no" in told(stand_in, kernel)["03 3.1 wrong: one copy"]


def test_a_wrong_answer_may_raise_if_it_says_so(stand_in, kernel):
    stand_in.edit(", replication_factor=1)\n", ", replication_factor=1)\nraise ValueError('no')\n")
    stand_in.edit('tags=["wrong"]', 'tags=["wrong", "raises-exception"]')
    assert told(stand_in, kernel) == {}


RIGHT = """# %% tags=["right"]
# a number in a name
copies = 1 + 2
topic = lab.fresh_topic("failsafe", replication_factor=copies)

# %% tags=["nbval-check-output"]
lab.check.survives_one_broker(topic)
"""
CHECK_CELL = RIGHT.partition("\n\n")[2]


def test_of_some_answers_a_right_one_comes_first_in_the_solutions_place(stand_in, kernel):
    stand_in.edit(CHECK_CELL, RIGHT)
    read = lesson.read(stand_in.path)
    tried = [step for step in steps(read, 2) if step.label.startswith("03 3.1")]
    assert [step.label.removeprefix("03 3.1 ") for step in tried] == [
        "untouched",
        "right: a number in a name",
        "wrong: one copy",
        "wrong: two copies",
        "again: solution",
        "nonsense",
    ]
    trial = Trial(read, kernel, {})
    for step in tried:
        trial.take(step)


def test_another_right_answer_is_tried_and_must_be_solved(stand_in, kernel):
    stand_in.edit(CHECK_CELL, RIGHT)
    assert "03 3.1 right: a number in a name" in [s.label for s in steps(lesson.read(stand_in.path))]
    assert told(stand_in, kernel) == {}
    stand_in.edit("copies = 1 + 2\n", "copies = 1 + 1\n")
    words = "to be solved; it says NotYet: keeps 2 copies"
    assert words in told(stand_in, kernel)["03 3.1 right: a number in a name"]


def test_a_single_step_runs_what_comes_before(stand_in, kernel):
    read = lesson.read(stand_in.path)
    trial = Trial(read, kernel)
    trial.take(next(step for step in steps(read) if step.label == "03 3.2 again: solution"))
    assert kernel.run("done and topic", "x").result == "('failsafe', 3)"


def test_cells_carry_their_id(kernel):
    kernel.run("parent = get_ipython().get_parent()['metadata']", "exercise-3-1")
    assert kernel.run("parent['cellId']", "other").result == "'exercise-3-1'"


def test_what_a_cell_displays_is_kept_in_every_form(kernel):
    text = "from threebrokers.predictions import Verdict; display(Verdict('a', 'b'))"
    reply = kernel.run(text, "cell-1")
    assert expectations.truths(reply) == ["b"]
    assert reply.shown == "✗ You predicted: a. It was: b.\n"


def test_a_cell_that_never_ends_is_told(doomed):
    with pytest.raises(TimeoutError, match="did not end in time"):
        doomed.run("while True: pass", "x", within=1)


def test_a_kernel_that_dies_is_told(doomed):
    with pytest.raises(RuntimeError, match="the kernel died"):
        doomed.run("import os; os._exit(1)", "x", within=30)


def test_nonsense_replaces_each_argument():
    calls = list(nonsense("lab.check.both(a, b)"))
    assert len(calls) == 10
    assert calls[:2] == ["lab.check.both(None, b)", "lab.check.both(-7, b)"]
    assert calls[-2] == "lab.check.both(a, 'no-such-topic')"
