"""Every exercise on a real cluster: untouched, the solution, each wrong answer, the solution again, nonsense.

One story in parameters: a step needs those before it, so choose lessons with --lesson, not steps with -k.
With --answers only some answers are tried, and only the cells run that the exercises need.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from threebrokers.cluster import Cluster
from threebrokers.grading.kernel import Kernel
from tools import rules
from tools.lessons import lesson as lessons
from tools.lessons.build import ROOT
from tools.proof.exercise_runner import FailedError, Trial
from tools.proof.incidents import unasked
from tools.proof.steps import Step, steps


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    only = metafunc.config.getoption("--lesson", default=None)
    paths = [path for path in lessons.lessons(ROOT) if not only or path.stem[:2] in only]
    answers = metafunc.config.getoption("--answers", default=None)
    tries = [(path, step) for path in paths for step in steps(lessons.read(path), answers)]
    metafunc.parametrize(("path", "step"), tries, ids=[step.label for _, step in tries])


class Bench:
    """One lesson at a time, in a kernel of its own."""

    def __init__(self, home: Path, notes: list[str], whole: bool) -> None:
        self.home, self.notes, self.whole = home, notes, whole
        self.trial: Trial | None = None

    def trial_of(self, path: Path) -> Trial:
        """Return the trial of a lesson; the first time it ends the one of another lesson."""
        if self.trial is None or self.trial.lesson.path != path:
            self.end()
            lesson = lessons.read(path)
            if broken := [text for text in rules.problems(lesson, ROOT) if ", exercise " in text]:
                raise FailedError(broken[0])
            self.before = unasked(self.home)
            self.trial = Trial(lesson, Kernel(path.parent), whole=self.whole)
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
    bench = Bench(home, notes, whole=pytestconfig.getoption("--answers", default=None) is None)
    yield bench
    bench.end()


def test_exercise(path: Path, step: Step, bench: Bench) -> None:
    try:
        bench.trial_of(path).take(step)
    except FailedError as fault:
        pytest.fail(str(fault), pytrace=False)
