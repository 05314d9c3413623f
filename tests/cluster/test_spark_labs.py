"""Each lab with Spark, its solution from top to bottom, on a Spark cluster and through Spark Connect."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from threebrokers.cluster import Cluster, spark_cluster
from threebrokers.grading.kernel import Kernel, Reply
from tools.lessons import lesson as lessons
from tools.lessons.build import ROOT
from tools.proof.exercise_runner import Trial
from tools.proof.steps import Step

pytestmark = [pytest.mark.cluster, pytest.mark.weekly, pytest.mark.timeout(1200)]

LABS = ("12", "13", "14", "15")
HERE = "session()"
SECONDS = 300
# What Spark Connect cannot do, and the lab says so: the words of the cell, and those of its refusal.
REFUSED = {
    "12": ("last_tasks(spark)", "Counting tasks needs Spark's driver in this notebook"),
    "14": ("foreachBatch(note)", "[STREAMING_CONNECT_SERIALIZATION_ERROR]"),
}
# Cells before it kill Spark's driver, and so have one in the notebook.
BEGINS = {"15": "exercise-15-3"}


class Elsewhere(Kernel):
    """A kernel whose cells get another session than that of this machine, wherever they ask for one.

    It begins with the cell `begins`: what asked for a session before that is run again then. The cell that
    has the first of the words `refused` ends in an error with the second.
    """

    def __init__(self, address: str, begins: str = "", refused: tuple[str, str] | None = None) -> None:
        self.address, self.begins, self.refused = address, begins, refused
        self.before: list[tuple[str, str]] = []
        self.was_refused = False
        super().__init__(ROOT / "lessons")

    def run(
        self, text: str, cell: str, within: float = SECONDS, expressions: Mapping[str, str] | None = None
    ) -> Reply:
        if self.begins and cell != self.begins:
            if HERE in text:
                self.before.append((text, cell))
            return super().run(text, cell, SECONDS, expressions)
        self.begins = ""
        while self.before:
            earlier = self._there(*self.before.pop(0))
            assert not earlier.error, earlier.message
        reply = self._there(text, cell)
        if self.refused and self.refused[0] in text:
            assert self.refused[1] in reply.message, reply
            self.was_refused = True
            return Reply()
        return reply

    def _there(self, text: str, cell: str) -> Reply:
        return super().run(text.replace(HERE, f'session("{self.address}")'), cell, SECONDS)


@pytest.fixture
def addresses(cluster: Cluster, home: Path) -> tuple[str, str]:
    """The addresses of a Spark master and of its server of Spark Connect; lab 15 ends them at its end."""
    master = spark_cluster.up(home, lambda _: None)
    return master, spark_cluster.connect_address(home) or ""


@pytest.fixture(scope="module", autouse=True)
def _ended(home: Path) -> Iterator[None]:
    yield
    spark_cluster.down(home)


def rest(number: str, kernel: Elsewhere) -> None:
    """Run all cells of a lab's solution; the first that fails is an error."""
    [path] = [path for path in lessons.lessons(ROOT) if path.stem.startswith(number)]
    with kernel:
        Trial(lessons.read(path), kernel).take(Step(f"{number} rest", "rest"))


@pytest.mark.parametrize("number", LABS)
def test_a_lab_works_on_a_spark_cluster(number, addresses):
    rest(number, Elsewhere(addresses[0]))


@pytest.mark.parametrize("number", LABS)
def test_a_lab_works_through_spark_connect(number, addresses):
    kernel = Elsewhere(addresses[1], BEGINS.get(number, ""), REFUSED.get(number))
    rest(number, kernel)
    assert kernel.was_refused == (number in REFUSED)
    assert not kernel.begins
