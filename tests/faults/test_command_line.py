"""Odd ways to call commands, and odd places to call them from."""

import os
import re
import subprocess
import sys

import pytest

from tests.faults.stand_ins import LAB, Clone, clone
from threebrokers.doctor import report
from tools import ROOT
from tools.setup import environment, packages
from tools.setup.errors import SetupError

__all__ = ["clone"]

PROGRAM = "import sys; from threebrokers.app.cli import app; sys.exit(app())"


def shell(script: str, home: object, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a shell script in which "$@" is the command line of the course."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "THREEBROKERS_HOME": str(home), **more}
    words = ["bash", "-c", script, "sh", sys.executable, "-c", PROGRAM]
    return subprocess.run(words, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("port", ["²", "٣", "-1", "8890x", "9" * 5000, "99999", "80"])
@pytest.mark.fault("Command line", "PORT is no port")
def test_a_port_that_is_none(clone: Clone, monkeypatch, port, behaviour):
    done = clone.run("lab", "--port", port)
    assert done.exit_code == 1
    assert "choose a number from 1024 to 65535, such as 8890" in done.stderr
    behaviour("nothing is started", says=done.stderr.replace(port[:9], "…").strip("✗ \n"))


@pytest.mark.parametrize("number", ["²", "", "0x2", "-", "../02", "9" * 5000])
@pytest.mark.fault("Command line", "a lab is named that is none")
def test_a_lab_that_is_none(clone: Clone, number, behaviour):
    done = clone.run("restore", number) if number != "-" else clone.run("restore", "--", number)
    assert done.exit_code == 1
    assert "the labs are 02" in done.stderr
    said = done.stderr.replace(f"lab {number}:", "lab …:").strip("✗ \n")
    behaviour("nothing is changed", says=said)


@pytest.mark.fault("Command line", "the output is closed early (`threebrokers doctor | head -1`)")
def test_an_output_that_is_closed(tmp_path, behaviour):
    for command in ("doctor --json", "status", "--help"):
        done = shell(f'"$@" {command} | true', tmp_path / "home")
        assert "Traceback" not in done.stderr
        assert "Exception ignored" not in done.stderr
    behaviour("the command ends without a word")


@pytest.mark.fault("Command line", "the user has no home folder (a container's user without a name)")
def test_no_home_folder(tmp_path, monkeypatch, behaviour):
    done = shell('"$@" status', "~nobody-of-this-name/x")
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1
    monkeypatch.setattr("pathlib.Path.home", _unknown)
    assert '"ok": true' in report([])
    behaviour("one sentence names the variable that helps", says=done.stderr.strip("✗ \n"))


def _unknown() -> None:
    raise RuntimeError("Could not determine home directory.")


@pytest.mark.parametrize("content", ["", "<<<<<<< HEAD", "[]", "{}", '{"cells": [1]}', "[" * 100_000])
@pytest.mark.fault("Command line", "a notebook of labs/ is damaged (a merge, a full disk)")
def test_a_damaged_lab(clone: Clone, content, behaviour):
    (clone.root / "labs" / LAB).write_text(content)
    done = clone.run("progress")
    assert done.exit_code == 1
    assert f"git checkout labs/{LAB}" in done.stderr
    said = re.sub(r"\(\w+\)", "(…)", done.stderr).strip("✗ \n")
    behaviour("the sentence names the command that brings it back", says=said)


@pytest.mark.parametrize("kind", ["file", "a link to nowhere", "folders for files"])
@pytest.mark.fault("Command line", "work/, or a notebook in it, is something else")
def test_work_is_something_else(clone: Clone, kind, behaviour):
    work = clone.root / "work"
    if kind == "file":
        work.write_text("mine")
    elif kind == "a link to nowhere":
        work.symlink_to(clone.root / "nowhere")
    else:
        (work / LAB / "inside").mkdir(parents=True)
    for command in ("lab", "restore 02", "restore 02 --exercise 1", "progress"):
        clone.run(*command.split())
    assert kind != "file" or work.read_text() == "mine"
    behaviour("a sentence names it, and it stays as it is")


@pytest.mark.parametrize("content", ["", "<<<<<<< HEAD\n# [uv]\n", "# [runtime] learners\n"])
@pytest.mark.fault("Set-up", "requirements.txt was changed by a merge")
def test_a_changed_lock(tmp_path, content, behaviour):
    (tmp_path / "requirements.txt").write_text(content)
    with pytest.raises(SetupError, match="git checkout requirements") as raised:
        packages.section(tmp_path, "build", "uv")
    behaviour("the set-up ends, and names the command that brings it back", says=raised.value)


@pytest.mark.fault("Set-up", "requirements.txt is missing")
def test_a_missing_lock(tmp_path, monkeypatch, behaviour):
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    told = str(environment.main(["runtime"]))
    assert "git status" in told
    behaviour("the set-up ends", says=told.strip("✗ "))


@pytest.mark.fault("Set-up", ".venv is a file")
def test_venv_is_a_file(tmp_path, monkeypatch, behaviour):
    for name in packages.SOURCES:
        (tmp_path / name).write_text(name)
    (tmp_path / ".venv").write_text("mine")
    made = []
    monkeypatch.setattr(packages, "make_venv", lambda venv: made.append(venv.exists()) or venv.mkdir())
    monkeypatch.setattr(environment, "_install", lambda *_: None)
    environment.ensure(tmp_path, "", lambda text: None)
    assert made == [False]
    behaviour("it is replaced by the environment")
