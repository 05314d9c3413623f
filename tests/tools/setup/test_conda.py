"""In the conda environment of environment.yml: its packages are looked at, and no .venv is made."""

import json
import shutil
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from tools.setup import __main__, conda
from tools.setup.conda_file import NAMES, listed, renewed
from tools.setup.errors import SetupError

CURE = "run `conda env update -f environment.yml --prune`, then the same command again."
PROJECT = """\
[project]
dependencies = ["kafka-lib>=1,<2", "drawing >=3"]
[project.optional-dependencies]
test = ["tester"]
"""
PINS = "kafka-lib==1.2\ndrawing==3.4\n# [test] more\ntester==5.6\n"


class Environment:
    """What is installed beside this clone: by name, and from where the course runs."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.packages = {"kafka-lib": "1.2", "drawing": "3.4", "tester": "5.6"}
        self.direct: str | None = json.dumps({"url": root.as_uri(), "dir_info": {"editable": True}})

    def version(self, name: str) -> str:
        if name not in self.packages:
            raise PackageNotFoundError(name)
        return self.packages[name]

    def distribution(self, name: str) -> "Environment":
        assert name == "threebrokers"
        if self.direct is None:
            raise PackageNotFoundError(name)
        return self

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return self.direct

    def fault(self, extra: str = "") -> str:
        with pytest.raises(SetupError) as raised:
            conda.check(self.root, extra)
        assert "\n" not in str(raised.value)
        assert str(raised.value).endswith(CURE)
        return str(raised.value)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Environment:
    root = tmp_path / "my clone"
    root.mkdir()
    (root / "pyproject.toml").write_text(PROJECT)
    (root / "requirements.txt").write_text(PINS)
    here = Environment(root)
    monkeypatch.setattr(conda, "version", here.version)
    monkeypatch.setattr(conda, "distribution", here.distribution)
    return here


def test_a_whole_environment_is_silent(here: Environment):
    conda.check(here.root, "test")
    del here.packages["tester"]
    conda.check(here.root, "")


def test_a_missing_package_is_one_sentence(here: Environment):
    del here.packages["drawing"]
    assert here.fault().startswith("The conda environment lacks drawing 3.4: run")


def test_authors_need_more(here: Environment):
    del here.packages["tester"]
    assert here.fault("test").startswith("The conda environment lacks tester 5.6: run")


def test_another_version_is_one_sentence(here: Environment):
    here.packages["kafka-lib"] = "1.3"
    assert here.fault().startswith("The conda environment has kafka-lib 1.3 instead of 1.2: run")


def test_an_empty_environment_is_one_sentence(here: Environment):
    here.packages.clear()
    here.direct = None
    assert here.fault("test").startswith(
        "The conda environment lacks kafka-lib 1.2, drawing 3.4, tester 5.6 and 1 more: run"
    )


@pytest.mark.parametrize("direct", [None, ""])
def test_a_course_that_is_not_there(here: Environment, direct: str | None):
    here.direct = direct
    assert here.fault().startswith("The conda environment lacks the course itself: run")


def test_the_course_of_another_clone(here: Environment):
    here.direct = json.dumps({"url": "file:///the/other%20clone"})
    assert here.fault().startswith(
        f"The conda environment runs the course in /the/other clone, not the one in {here.root}: run"
    )


def test_a_fault_ends_the_command_with_a_sentence(here: Environment, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(conda, "ROOT", here.root)
    del here.packages["tester"]
    monkeypatch.setattr(sys, "argv", ["setup", "conda", "runtime"])
    assert __main__.main() == 0
    monkeypatch.setattr(sys, "argv", ["setup", "conda", "authors"])
    assert __main__.main().startswith("✗ The conda environment lacks tester 5.6")


def test_an_old_python_in_the_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "argv", ["setup", "conda", "runtime"])
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    monkeypatch.setattr(shutil, "which", lambda name: pytest.fail("another Python is no cure here"))
    assert __main__.main() == (
        f"✗ The conda environment has Python 3.9, and the course needs 3.11 or newer: {CURE}"
    )


FILE = """\
dependencies:
  - python=3.11
  - drawing-base==3.3 # a comment
  - pip:
      - kafka-lib==1.1
      - -e .[test]
"""


def test_new_versions_are_written_and_the_rest_is_kept(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(NAMES, "drawing-base", "drawing")
    assert listed(FILE) == ({"drawing": "3.3"}, {"kafka-lib": "1.1"})
    new = renewed(FILE, {"drawing": "3.4", "kafka-lib": "1.2", "python": "3.14"})
    assert new == FILE.replace("3.3", "3.4").replace("==1.1", "==1.2")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("  - matplotlib==3.11.2", "matplotlib has another name on conda-forge"),
        ("  - kafka-lib==1.1", "lists a package twice"),
        ("  - matplotlib-base==3\n  - matplotlib-base==4", "lists a package twice"),
    ],
)
def test_a_file_that_conda_would_not_take(line: str, told: str):
    with pytest.raises(ValueError, match=told):
        listed(FILE.replace("  - python=3.11", line))
