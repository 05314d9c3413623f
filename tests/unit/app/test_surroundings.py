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


def test_a_path_in_a_variable_leads_to_the_same_place_from_every_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command runs in one folder, the kernels that it starts in another."""
    monkeypatch.chdir(tmp_path)
    given = {
        "THREEBROKERS_HOME": "mine",
        "THREEBROKERS_CACHE": "~/cache",
        "THREEBROKERS_JAVA": "",
        "THREEBROKERS_CLIENT": "~nobody-has-this-name/client.properties",
        "HOME": "here",
    }
    monkeypatch.setenv("HOME", str(tmp_path / "anna"))
    surroundings._whole_paths(given)
    assert given == {
        "THREEBROKERS_HOME": str(tmp_path / "mine"),
        "THREEBROKERS_CACHE": str(tmp_path / "anna" / "cache"),
        "THREEBROKERS_JAVA": "",
        "THREEBROKERS_CLIENT": "~nobody-has-this-name/client.properties",
        "HOME": "here",
    }


def test_every_command_has_one_home(tmp_path: Path) -> None:
    program = """if True:
        import os, sys
        from threebrokers import progress
        from threebrokers.app import cli
        from threebrokers.paths import home
        def tell():
            os.chdir("/")
            print(home())
            return []
        progress.lost = tell
        sys.exit(cli.app())
    """
    done = subprocess.run(
        [sys.executable, "-c", program, "progress"],
        cwd=tmp_path,
        env=os.environ | {"THREEBROKERS_HOME": "mine", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[0] == str(tmp_path / "mine")
