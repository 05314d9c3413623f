"""make, while a conda environment is active: the course's own is used as it is, others change nothing."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from threebrokers import progress
from tools import ROOT as REPO
from tools.publish import clean


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone whose only content is the Makefile, and a conda environment whose programs say what they do."""
    clone = tmp_path / "clone"
    clone.mkdir()
    shutil.copy(REPO / "Makefile", clone)
    for name in ("python", "threebrokers"):
        program = tmp_path / "conda" / "bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f'#!/bin/sh\necho "conda\'s {name} $* PYTHONNOUSERSITE=$PYTHONNOUSERSITE"\n')
        program.chmod(0o755)
    return clone


def make(clone: Path, active: str, *words: str) -> tuple[int, str]:
    """Return make's exit code and all that it printed, with a conda environment of this name active."""
    # What `make test DOCKER=yes` was told, it tells every make below it.
    ours = ("CONDA", "MAKE", "MFLAGS", "PYTHON", "BUSY", "DOCKER", "LAB", "PART", "TEST")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    conda_says = {"CONDA_DEFAULT_ENV": active, "CONDA_PREFIX": str(clone.parent / "conda")} if active else {}
    done = subprocess.run(
        ["make", "--no-print-directory", *words],
        cwd=clone,
        env={**kept, **conda_says},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    ("command", "does"),
    [
        ("lab", ["python -m tools.setup conda runtime", "threebrokers lab"]),
        ("test", ["python -m tools.setup conda authors", "python -m tools test"]),
        ("down", ["threebrokers down"]),
        ("clean", ["python -m tools clean"]),
    ],
)
def test_make_uses_the_environment_that_is_active(clone: Path, command: str, does: list[str]):
    _, told = make(clone, "threebrokers", command)
    assert re.findall(r"^conda's (.*?) PYTHONNOUSERSITE=1$", told, re.MULTILINE) == does
    assert not (clone / ".venv").exists()
    assert (clone.parent / "conda" / "bin" / "python").exists()


def test_another_python_does_not_come_between(clone: Path):
    _, told = make(clone, "threebrokers", "lab", "PYTHON=/bin/false")
    assert told.startswith("conda's python -m tools.setup conda runtime")


@pytest.mark.parametrize("active", ["base", "", "my-threebrokers", "/home/me/threebrokers"])
def test_no_other_environment_changes_anything(clone: Path, active: str):
    python = clone.parent / "python3"
    python.write_text('#!/bin/sh\necho "this python $* $PYTHONNOUSERSITE"; exit 1\n')
    python.chmod(0o755)
    _, told = make(clone, active, "lab", f"PYTHON={python}")
    assert told.startswith("this python -m tools.setup runtime \n")
    _, told = make(clone, active, "-n", "test")
    assert ".venv/bin/python -m tools test" in told
    assert "conda/bin" not in told


def test_an_environment_without_python(clone: Path):
    (clone.parent / "conda" / "bin" / "python").unlink()
    code, told = make(clone, "threebrokers", "lab")
    assert code
    assert re.match(
        r"✗ .*/conda/bin/python was not found: run `conda env update -f environment\.yml --prune`,", told
    )


@pytest.mark.parametrize("active", ["base", "threebrokers"])
@pytest.mark.parametrize("command", ["down", "clean"])
def test_where_nothing_is_set_up_nothing_is_stopped(clone: Path, active: str, command: str):
    (clone.parent / "conda" / "bin" / "threebrokers").unlink()
    code, told = make(clone, active, command)
    assert code == 0
    assert "so no broker was stopped; with conda, activate threebrokers first." in told


class NoBrokers:
    """A cluster of which nothing runs."""

    def __init__(self, engine_name: str) -> None:
        self.engine_name = engine_name

    def erase(self) -> None:
        return None


@pytest.mark.parametrize("by_conda", [True, False])
def test_cleaning_leaves_the_environment_of_conda(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], by_conda: bool
):
    prefix, home = tmp_path / "conda", tmp_path / "home"
    (prefix / ("conda-meta" if by_conda else "bin")).mkdir(parents=True)
    (home / "data").mkdir(parents=True)
    monkeypatch.setattr(clean, "Cluster", NoBrokers)
    monkeypatch.setattr(clean, "home", lambda: home)
    monkeypatch.setattr(sys, "prefix", str(prefix))
    clean.main()
    assert list(home.iterdir()) == []
    assert ("The conda environment stays: `conda deactivate`" in capsys.readouterr().out) == by_conda
    assert prefix.exists()


def test_cleaning_keeps_what_the_learner_has_solved_predicted_and_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    monkeypatch.setattr(clean, "Cluster", NoBrokers)
    progress.record("3.1", True)
    progress.record_guess("4.a", progress.Guess("all", "all"))
    progress.record_answer("4.q1", "all", right=True)
    (tmp_path / "quizzes.damaged.json").write_text("{")
    told = progress.lost()
    (tmp_path / "cluster.json").write_text("{}")
    clean.main()
    kept = (set(progress.solved()), set(progress.guesses()), set(progress.answers()))
    assert kept == ({"3.1"}, {"4.a"}, {"4.q1"})
    assert (tmp_path / "quizzes.damaged.json").exists()
    assert (len(told), progress.lost()) == (1, []), "and nobody is told of it again"
    assert not (tmp_path / "cluster.json").exists()
