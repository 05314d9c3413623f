"""Progress as a page, exported and deleted from the command line."""

import json
from pathlib import Path

import pytest

from threebrokers import progress
from threebrokers.app import own_progress
from threebrokers.app.cli import app


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    monkeypatch.setenv("BROWSER", "none")
    return tmp_path


def test_a_page_is_written_into_the_home(home, capsys):
    progress.record("3.1", solved=True)
    assert app(["progress", "--page"]) == 0
    assert capsys.readouterr().out == f"Your progress is in {home / 'progress.html'}\n"
    told = (home / "progress.html").read_text("utf-8")
    assert "1 of " in told
    assert told.count('<th scope="row">') > 10
    assert (home / "progress.html").stat().st_mode & 0o777 == 0o600


def test_where_there_is_a_browser_the_page_opens(home, monkeypatch):
    opened = []
    monkeypatch.setattr(own_progress, "can_open_browser", lambda: True)
    monkeypatch.setattr(own_progress.webbrowser, "open", opened.append)
    assert app(["progress", "03", "--page"]) == 0
    assert opened == [(home / "progress.html").as_uri()]
    assert (home / "progress.html").read_text("utf-8").count('<th scope="row">') == 1


def test_an_export_overwrites_nothing(tmp_path, capsys):
    progress.record("3.1", solved=True)
    file = tmp_path / "mine.json"
    assert app(["progress", "--export", str(file)]) == 0
    assert set(json.loads(file.read_text())["exercises"]) == {"3.1"}
    assert app(["progress", "--export", str(file)]) == 1
    assert "mine.json is there already" in capsys.readouterr().err


def test_an_export_to_nowhere_is_one_sentence(tmp_path, capsys):
    for folder in (str(tmp_path / "no"), "~nobody-has-this-name"):
        assert app(["progress", "--export", f"{folder}/mine.json"]) == 1
        told = capsys.readouterr().err
        assert told == f"✗ {folder} is not a folder: name a file in one that is there.\n"
    assert not (tmp_path / "no").exists()


def test_an_export_may_be_named_by_its_owners_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert app(["progress", "--export=~/mine.json"]) == 0
    assert (tmp_path / "mine.json").is_file()


@pytest.mark.parametrize(("answer", "left"), [("yes", set()), ("no", {"3.1"}), ("", {"3.1"})])
def test_to_forget_asks_first(monkeypatch, answer, left):
    progress.record("3.1", solved=True)
    monkeypatch.setattr("builtins.input", lambda _: answer)
    assert app(["progress", "--forget"]) == 0
    assert progress.tried() == left


def test_where_nobody_answers_nothing_is_deleted(monkeypatch, capsys):
    def nobody(_):
        raise EOFError

    progress.record("3.1", solved=True)
    monkeypatch.setattr("builtins.input", nobody)
    assert app(["progress", "--forget"]) == 0
    assert capsys.readouterr().out == "Nothing was deleted.\n"
    assert progress.tried() == {"3.1"}


def test_one_lab_is_forgotten_without_a_question(capsys):
    progress.record("3.1", solved=True)
    progress.record("4.1", solved=True)
    assert app(["progress", "3", "--forget", "--yes"]) == 0
    assert capsys.readouterr().out == "Your progress of lab 03 is deleted: 1 thing.\n"
    assert progress.tried() == {"4.1"}
