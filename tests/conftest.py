"""For all tests: notes that are printed at the end, and a small course to build and to break."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.ticks import ticks
from tools import rules
from tools.lessons import lesson
from tools.lessons.build import build

__all__ = ["ticks"]

SAMPLE = Path(__file__).parent / "course"
QUESTIONS = "threebrokers/predictions/questions/lab03.toml"
QUESTION = """["3.a"]
question = "How many copies are left?"
answers = [
  { answer = "two", why = "The other one is gone." },
  { answer = "3", why = "You think of `replication_factor`." },
]
"""
PREDICTION = """guess_3a = lab.predict("3.a")
# TODO: choose
# BEGIN SOLUTION
guess_3a.choose("two")
# END SOLUTION

# %%
guess_3a.compare("two")
"""
pytest_plugins = ["tests.reliability", "tests.facts", "tests.hung"]
NOTES = pytest.StashKey[list[str]]()

pytest.register_assert_rewrite("tests.contract")
# How long an example takes says how busy the machine is, and nothing about the course.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[NOTES] = []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for note in config.stash[NOTES]:
        terminalreporter.write_line(note)


@pytest.fixture(scope="session")
def notes(request: pytest.FixtureRequest) -> list[str]:
    """Lines that are printed at the end."""
    return request.config.stash[NOTES]


@dataclass(frozen=True)
class Course:
    """A copy of the sample course: one lesson, 03_replication."""

    root: Path

    @property
    def path(self) -> Path:
        return self.root / "lessons" / "03_replication.py"

    def edit(self, old: str, new: str, path: str = "lessons/03_replication.py") -> None:
        """Replace a text, which must be there, once."""
        file = self.root / path
        text = file.read_text("utf-8")
        assert old in text
        file.write_text(text.replace(old, new, 1), "utf-8")

    def predict(self) -> None:
        """Let the lesson ask question 3.a, and compare; until a test edits them, both keep the rules."""
        self.edit('shown = "shown"\nprint(shown)\n', PREDICTION)
        self.questions.parent.mkdir(parents=True)
        self.questions.write_text(QUESTION, "utf-8")

    @property
    def questions(self) -> Path:
        return self.root / QUESTIONS

    def problems(self) -> list[str]:
        return rules.problems(lesson.read(self.path), self.root)

    def notebook(self, folder: str) -> Path:
        return self.root / folder / "03_replication.ipynb"


@pytest.fixture
def course(tmp_path: Path) -> Course:
    shutil.copytree(SAMPLE, tmp_path / "course")
    return Course(tmp_path / "course")


@pytest.fixture
def runnable(course: Course) -> Course:
    """The sample course, built, over a `threebrokers` that needs no brokers."""
    (course.root / "solutions").mkdir()
    (course.root / "stand_in.py").rename(course.root / "solutions" / "threebrokers.py")
    assert build(course.root) == []
    return course
