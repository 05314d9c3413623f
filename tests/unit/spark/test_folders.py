"""Folders of checkpoints: each lab has its own, and each opening of a lab begins with none."""

from types import SimpleNamespace

import pytest

from threebrokers.lab import opening
from threebrokers.lab.lab import Lab
from threebrokers.spark import spark_session
from threebrokers.spark.crashes import at_death
from threebrokers.spark.spark_session import folder, fresh_folder


@pytest.fixture
def opened(monkeypatch, tmp_path):
    """Open a lab in a notebook."""
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    names: dict[str, object] = {}
    monkeypatch.setattr(opening, "shell", lambda: SimpleNamespace(user_ns=names))
    monkeypatch.setattr(spark_session, "_begun", set())

    def open_lab(number: str, opening: str, name: str = "lab") -> None:
        lab = object.__new__(Lab)
        lab.number, lab.opened, lab.opened_at = number, opening, float(len(names))
        names[name] = lab

    return open_lab


def test_a_folder_of_one_lab_is_not_that_of_another(opened):
    opened("13", "a")
    first = fresh_folder("checkpoint")
    (folder("checkpoint") / "metadata").write_text("{}")
    opened("15", "b", "other")
    assert fresh_folder("checkpoint") != first
    assert not list(folder("checkpoint").iterdir())
    assert first.endswith("/spark/folders/13/checkpoint")
    assert str(folder("checkpoint")).endswith("/spark/folders/15/checkpoint")


def test_a_lab_that_is_opened_again_finds_nothing_of_before(opened):
    opened("15", "a")
    fresh_folder("v1")
    assert folder("v1").is_dir()
    opened("15", "b")
    assert not folder("v1").exists()
    fresh_folder("v1")
    assert folder("v1").is_dir()


def test_a_check_in_another_process_finds_them_and_deletes_nothing(opened, monkeypatch):
    opened("15", "a")
    fresh_folder("plain-at-death")
    monkeypatch.setattr(opening, "shell", lambda: None)
    monkeypatch.setattr(spark_session, "_begun", set())
    assert at_death("plain", SimpleNamespace(number="15", opened="a")).is_dir()


def test_without_a_lab_folders_stay(monkeypatch, tmp_path):
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    monkeypatch.setattr(opening, "shell", lambda: None)
    assert fresh_folder("bench").endswith("/spark/folders/no-lab/bench")
    assert folder("bench").is_dir()
