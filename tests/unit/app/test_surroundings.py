"""What a terminal brings along must not reach the course."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from threebrokers.app import surroundings
from tools import ROOT


def test_what_python_compiles_is_kept_also_if_the_terminal_says_otherwise():
    program = """if True:
        import os, subprocess, sys
        from threebrokers.app import surroundings
        print(sys.dont_write_bytecode)
        surroundings.leave_behind()
        print(sys.dont_write_bytecode)
        subprocess.run([sys.executable, "-c", "import sys; print(sys.dont_write_bytecode)"])
    """
    done = subprocess.run(
        [sys.executable, "-u", "-c", program],
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["True", "False", "False"]


@pytest.mark.parametrize("given", ["foreign", "../{}/foreign", "./foreign/"])
def test_a_foreign_folder_is_left_behind_however_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    (tmp_path / "foreign").mkdir()
    monkeypatch.chdir(tmp_path)
    given = given.format(tmp_path.name)
    seen = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sys.path, sep='\\n')"],
        env=os.environ | {"PYTHONPATH": given},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert str(tmp_path / "foreign") in seen
    surroundings._only_own_packages({"PYTHONPATH": given}, seen)
    assert [folder for folder in seen if "foreign" in folder] == []
