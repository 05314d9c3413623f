"""docs/reliability.md: its rows come from tests, and each test tells one."""

import subprocess
import sys

import pytest

from tools import ROOT
from tools.publish.reliability import general

TEST = """
import pytest

def test_without_a_mark():
    pass

@pytest.mark.fault("Disks", "a disk is full")
def test_that_tells_nothing():
    pass

@pytest.mark.fault("Disks", "a disk is full")
def test_that_tells_its_row(behaviour):
    behaviour("nothing is lost", says=OSError("full"))
"""


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("The folder /tmp/x-17/home cannot be made.", "The folder …/home cannot be made."),
        ("Waited 60 s for broker 2 (process 4711)", "Waited N s for broker 2 (process N)"),
        ("'/a/b' and lab 02, exercise 2.1", "'…/b' and lab 02, exercise 2.1"),
        ("see `threebrokers doctor` or work/02.ipynb", "see `threebrokers doctor` or work/02.ipynb"),
        ("two\n  lines", "two lines"),
    ],
)
def test_what_is_of_one_run_only_is_left_out(said, shown):
    assert general(said) == shown


@pytest.mark.programs
def test_a_test_of_a_fault_that_tells_nothing_fails(tmp_path):
    path = tmp_path / "faults" / "test_some.py"
    path.parent.mkdir()
    path.write_text(TEST)
    words = (
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "tests.reliability",
        "-c",
        ROOT / "pyproject.toml",
        path,
    )
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "2 failed, 1 passed" in done.stdout, done.stdout
    assert done.stdout.count("It passed, but told no row") >= 2
