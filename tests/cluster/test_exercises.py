"""Every exercise on a real cluster: untouched, the solution, each wrong answer, the solution again, nonsense.

One story in parameters: a step needs those before it, so choose lessons with --lesson, not steps with -k.
With --answers only some answers are tried, as it is enough when the solution has run on the same brokers:
what it said is compared, and only the cells run that the exercises need. With --share=2/3 only the exercises
of the second third are tried, and before them, too, only what they need runs: the solution has a job beside.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from threebrokers.cluster import Cluster
from threebrokers.grading.kernel import Kernel
from tools import rules
from tools.lessons import lesson as lessons
from tools.lessons import notebooks
from tools.lessons.build import ROOT
from tools.proof.exercise_runner import FailedError, Trial
from tools.proof.incidents import unasked
from tools.proof.steps import WHOLE, Step, steps


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    only = metafunc.config.getoption("--lesson", default=None)
    paths = [path for path in lessons.lessons(ROOT) if not only or path.stem[:2] in only]
    answers = metafunc.config.getoption("--answers", default=None)
    share = metafunc.config.getoption("--share", default=WHOLE)
    tries = [(path, step) for path in paths for step in steps(lessons.read(path), answers, share)]
    metafunc.parametrize(("path", "step"), tries, ids=[step.label for _, step in tries])


class Bench:
    """One lesson at a time, in a kernel of its own."""

    def __init__(self, home: Path, notes: list[str], answers: int | None, *, is_solution_seen: bool) -> None:
        self.home, self.notes, self.answers = home, notes, answers
        self.is_solution_seen = is_solution_seen
        self.trial: Trial | None = None

    def trial_of(self, path: Path) -> Trial:
        """Return the trial of a lesson; the first time it ends the one of another lesson."""
        if self.trial is None or self.trial.lesson.path != path:
            self.end()
            lesson = lessons.read(path)
            if broken := [text for text in rules.problems(lesson, ROOT) if ", exercise " in text]:
                raise FailedError(broken[0])
            self.before = unasked(self.home)
            seen = None
            if self.is_solution_seen:
                seen = notebooks.results(notebooks.read(ROOT / "solutions" / f"{path.stem}.ipynb"))
            self.trial = Trial(lesson, Kernel(path.parent), seen, self.answers)
        return self.trial

    def end(self) -> None:
        """End the kernel, and note how long the lesson took and how the brokers felt."""
        if self.trial:
            trial, self.trial = self.trial, None
            trial.kernel.close()
            felt = unasked(self.home).since(self.before)
            self.notes.append(f"{trial.lesson.stem}: exercises took {trial.seconds:.0f} s; unasked: {felt}")


@pytest.fixture(scope="session")
def bench(cluster: Cluster, home: Path, notes: list[str], pytestconfig: pytest.Config) -> Iterator[Bench]:
    answers = pytestconfig.getoption("--answers", default=None)
    shared = pytestconfig.getoption("--share", default=WHOLE) != WHOLE
    bench = Bench(home, notes, answers, is_solution_seen=answers is not None or shared)
    yield bench
    bench.end()


def test_exercise(path: Path, step: Step, bench: Bench) -> None:
    try:
        bench.trial_of(path).take(step)
    except FailedError as fault:
        pytest.fail(str(fault), pytrace=False)
