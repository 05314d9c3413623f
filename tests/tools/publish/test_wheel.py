"""What is built for those who have no clone: the wheel holds the course, and works from any folder."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.commands import Ended
from tools import ROOT
from tools.publish import wheel

pytestmark = pytest.mark.programs


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheel and the sdist, by their suffix."""
    return {path.suffix: path for path in wheel.build(tmp_path_factory.mktemp("dist"))}


@pytest.fixture(scope="module")
def installed(built: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel's files in it, and nothing of the clone."""
    folder = tmp_path_factory.mktemp("site-packages")
    with zipfile.ZipFile(built[".whl"]) as archive:
        archive.extractall(folder)
    return folder


def run(installed: Path, here: Path, *words: str) -> Ended:
    """Run a command of the unpacked wheel in a folder."""
    environment = {**os.environ, "PYTHONPATH": str(installed), "THREEBROKERS_HOME": str(here / "home")}
    program = "import sys; from threebrokers.app.cli import app; sys.exit(app())"
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        cwd=here,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def test_both_are_whole_small_and_have_sound_metadata(built: dict[str, Path]) -> None:
    assert built.keys() == {".whl", ".gz"}
    assert [trouble for path in built.values() for trouble in wheel.troubles(path)] == []
    assert max(path.stat().st_size for path in built.values()) <= 20_000_000


def test_the_wheel_has_every_file_of_the_course_and_nothing_of_this_machine(built: dict[str, Path]) -> None:
    names = set(wheel.names_in(built[".whl"]))
    for folder in ("labs", "solutions"):
        for path in (ROOT / folder).glob("*.ipynb"):
            assert f"threebrokers/course/{folder}/{path.name}" in names
    package = subprocess.run(
        ["git", "ls-files", "threebrokers"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    there = {name for name in package.stdout.split() if (ROOT / name).is_file()}
    assert there <= names
    tops = ("threebrokers/", "threebrokers-")
    assert [name for name in names if not name.startswith(tops) or "__pycache__" in name] == []


def test_the_sdist_can_be_built_again(built: dict[str, Path]) -> None:
    names = {name.partition("/")[2] for name in wheel.names_in(built[".gz"])}
    assert {"hatch_build.py", "pyproject.toml", "labs/02_the_log.ipynb", "docker-compose.yml"} <= names


def test_without_a_clone_work_is_in_the_current_folder(installed: Path, tmp_path: Path) -> None:
    done = run(installed, tmp_path, "restore", "02")
    assert done.exit_code == 0, done
    untouched = installed / "threebrokers" / "course" / "labs" / "02_the_log.ipynb"
    assert (tmp_path / "work" / "02_the_log.ipynb").read_bytes() == untouched.read_bytes()
    told = run(installed, tmp_path / "work", "progress")
    assert "(`threebrokers lab 00`)" in told.output
    assert "make" not in told.output


def test_a_port_that_is_taken_names_the_command_that_is_there(installed: Path, tmp_path: Path) -> None:
    told = run(installed, tmp_path, "lab", "--port", "99999")
    assert told.exit_code == 1
    told = run(installed, tmp_path, "lab", "77")
    assert "There is no lab 77" in told.stderr
    assert not (tmp_path / "work").exists()


def test_what_is_missing_or_too_large_is_said(built: dict[str, Path], tmp_path: Path, monkeypatch) -> None:
    thin = tmp_path / built[".whl"].name
    with zipfile.ZipFile(built[".whl"]) as whole, zipfile.ZipFile(thin, "w") as less:
        for name in whole.namelist():
            if "/solutions/" not in name:
                less.writestr(name, whole.read(name))
    assert wheel.troubles(thin)[-1].endswith("0 of threebrokers/course/solutions/, and 15 belong there.")
    monkeypatch.setattr(wheel, "LARGEST", 1000)
    assert "MB, and 0 are allowed" in wheel.troubles(thin)[0]
