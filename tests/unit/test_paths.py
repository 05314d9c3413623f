"""The names of a lab, and its checks."""

import inspect
import os
from pathlib import Path
from types import SimpleNamespace as Told

import pytest

from threebrokers import paths
from threebrokers.errors import LabError
from threebrokers.lab import names
from threebrokers.lab.exercise import exercise
from threebrokers.lab.lab import Checks
from threebrokers.lab.opening import open_lab
from threebrokers.ledger import Ledger
from threebrokers.paths import course, home


@pytest.mark.parametrize("number", [1, "1", "../01", "", None, "001"])
def test_a_lab_is_named_by_two_digits(number):
    with pytest.raises(LabError, match="two digits"):
        open_lab(number)


def test_a_lab_that_is_not_written_yet_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    with pytest.raises(LabError, match="no lab 99 yet"):
        open_lab("99")


@pytest.mark.parametrize("damage", [None, b"\xff", b'["99"]\ntopics = 3'])
def test_damaged_names_of_topics_say_what_to_do(tmp_path, monkeypatch, damage):
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    monkeypatch.setattr(names, "FILE", tmp_path / "names.toml")
    if damage is not None:
        names.FILE.write_bytes(damage)
    with pytest.raises(LabError, match="git restore"):
        open_lab("99")


def test_checks_are_called_with_the_lab_first(tmp_path, monkeypatch):
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    seen = []

    @exercise("9.1", "Count")
    def counted(lab: object, number: int) -> str:
        """Count."""
        seen.append((lab, number))
        return "counting matters."

    lab = Told(number="09")
    # A ledger has a number too, and is imported by a lab's checks.
    checks = Checks(lab, lambda: Told(counted=counted, helper=len, Ledger=Ledger))
    assert checks.counted(5).number == "9.1"
    assert seen == [(lab, 5)]
    assert dir(checks) == ["counted"]
    for name in ("helper", "Ledger"):
        with pytest.raises(AttributeError, match=f"lab 09 has no check '{name}': it has counted$"):
            getattr(checks, name)


def test_a_check_tells_jupyter_what_it_takes():
    @exercise("9.1", "Count")
    def counted(lab: object, number: int) -> str:
        """Count the records."""
        return ""

    checks = Checks(Told(number="09"), lambda: Told(counted=counted))
    assert str(inspect.signature(checks.counted)) == "(number: int) -> str"
    assert inspect.getdoc(counted) == "Count the records."


def test_checks_are_loaded_when_one_is_asked_for():
    def fail():
        raise ZeroDivisionError

    checks = Checks(Told(number="09"), fail)
    with pytest.raises(ZeroDivisionError):
        dir(checks)


def test_each_clone_has_a_home_of_its_own(tmp_path, monkeypatch):
    monkeypatch.delenv("THREEBROKERS_HOME", raising=False)
    monkeypatch.setenv("THREEBROKERS_CACHE", str(tmp_path))
    monkeypatch.setattr("threebrokers.paths.root", lambda: tmp_path / "one" / "course")
    one = home()
    monkeypatch.setattr("threebrokers.paths.root", lambda: tmp_path / "two" / "course")
    assert home() != one
    assert one.is_relative_to(tmp_path)


def test_a_home_that_cannot_be_made_is_one_sentence(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path / "file" / "home"))
    with pytest.raises(LabError, match="or set THREEBROKERS_HOME to another folder"):
        home()
    assert (course() / "pyproject.toml").is_file()


# Without a clone: the course is in the package, and work/ in the folder where the command was run.


@pytest.fixture
def wheel(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "IN_WHEEL", tmp_path / "site-packages" / "course")
    (tmp_path / "site-packages" / "course").mkdir(parents=True)
    (tmp_path / "mine" / "inner").mkdir(parents=True)
    monkeypatch.delenv(paths.ROOT, raising=False)
    return tmp_path


def test_an_installed_course_works_in_the_current_folder(wheel, monkeypatch):
    monkeypatch.chdir(wheel / "mine")
    assert not paths.is_clone()
    assert course() == wheel / "site-packages" / "course"
    assert paths.root() == wheel / "mine"


def test_from_inside_the_folder_that_has_work_it_is_found(wheel, monkeypatch):
    monkeypatch.chdir(wheel / "mine" / "inner")
    assert paths.root() == wheel / "mine" / "inner"
    (wheel / "mine" / "work").mkdir()
    (wheel / "mine" / paths.HANDED_OUT).write_text("{}")
    assert paths.root() == wheel / "mine"


@pytest.mark.parametrize("planted", ["another user's", "a link"])
def test_a_work_folder_of_somebody_else_is_never_taken(wheel, monkeypatch, planted):
    monkeypatch.chdir(wheel / "mine" / "inner")
    register = wheel / "mine" / paths.HANDED_OUT
    register.parent.mkdir()
    register.write_text("{}")
    register.chmod(0o666)  # as everything is on a disk of Windows
    register.parent.chmod(0o777)
    assert paths.root() == wheel / "mine"
    if planted == "a link":
        register.rename(wheel / "register")
        register.symlink_to(wheel / "register")
    else:
        others = os.getuid() + 1
        monkeypatch.setattr(os, "getuid", lambda: others)
    assert paths.root() == wheel / "mine" / "inner"


def test_a_work_folder_that_somebody_put_where_we_are_is_one_sentence(wheel, monkeypatch):
    monkeypatch.chdir(wheel / "mine")
    (wheel / "mine" / "work").mkdir()
    (wheel / "mine" / paths.HANDED_OUT).write_text("{}")
    own, look = os.getuid(), Path.lstat
    monkeypatch.setattr(os, "getuid", lambda: own + 1)
    assert paths.root() == wheel / "mine"  # who owns the folder above has made it, as outside of a container

    def planted(path: Path) -> os.stat_result:
        found = list(look(path))
        found[4] += 2
        return os.stat_result(found)

    monkeypatch.setattr(Path, "lstat", planted)
    with pytest.raises(LabError, match=r"work belongs to another user, .* go to a folder of your own"):
        paths.root()


def test_a_kernel_is_told_the_folder_wherever_it_goes(wheel, monkeypatch):
    monkeypatch.chdir(wheel)
    monkeypatch.setenv(paths.ROOT, str(wheel / "mine"))
    assert paths.root() == wheel / "mine"
    monkeypatch.setenv(paths.ROOT, "mine")  # not a whole path: of which folder?
    assert paths.root() == wheel


def test_a_folder_that_was_deleted_is_one_sentence(wheel, monkeypatch):
    monkeypatch.chdir(wheel / "mine" / "inner")
    (wheel / "mine" / "inner").rmdir()
    with pytest.raises(LabError, match="folder was deleted"):
        paths.root()


def test_two_folders_of_an_installed_course_have_two_homes(wheel, monkeypatch):
    monkeypatch.delenv("THREEBROKERS_HOME", raising=False)
    monkeypatch.setenv("THREEBROKERS_CACHE", str(wheel / "cache"))
    monkeypatch.chdir(wheel / "mine")
    one = home()
    monkeypatch.chdir(wheel / "mine" / "inner")
    assert home() != one


def test_sentences_name_the_command_that_is_there(wheel, monkeypatch):
    assert paths.lab_command("02", "8890") == "threebrokers lab 02 --port 8890"
    (wheel / "site-packages" / "course").rmdir()
    assert paths.lab_command("02", "8890") == "make lab LAB=02 PORT=8890"
    assert paths.lab_command() == "make lab"
