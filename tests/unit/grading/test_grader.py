"""A grading goes on whatever one hand-in is, keeps what is known, and prints nothing that is not text."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.handed_in import NAME
from threebrokers.errors import LabError
from threebrokers.grading.grader import Grader, Wish
from threebrokers.grading.grades import Grade, Grades
from threebrokers.grading.handins import HandIn
from threebrokers.grading.orders import Limits, Told
from tools import ROOT

LABS = {"01": ROOT / "labs" / NAME, "02": next((ROOT / "labs").glob("02_*.ipynb"))}
Graders = Callable[..., Grader]


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test a home of its own, which keeps the key."""
    folder = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("THREEBROKERS_HOME", str(folder))
    return folder


@pytest.fixture
def grader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path) -> Graders:
    """Make a grader whose hand-ins of labs 01 and 02 run in no box; `run` is what comes of one."""
    monkeypatch.setattr(Grader, "_prepare", lambda self: None)
    for name, lab in (("anna.ipynb", LABS["01"]), ("bao.ipynb", LABS["02"])):
        shutil.copy(lab, tmp_path / name)

    def made(run: Callable[[HandIn], list[Told]] = lambda one: [], **more: Any) -> Grader:
        found = Grader(Wish(tmp_path, Limits(), **more), LABS, lambda told: None)
        grade = found._one

        def one(given: HandIn, *rest: Any) -> Grade:
            notes = [told.note for told in run(given)]
            return replace(grade(given, *rest), notes=notes)

        monkeypatch.setattr(found, "_one", one)
        return found

    return made


def refused(one: HandIn) -> list[Told]:
    raise ValueError("no\nbody")


def test_a_hand_in_that_fails_the_grader_costs_only_itself(grader: Graders, tmp_path: Path) -> None:
    only = grader(lambda one: refused(one) if one.learner == "anna" else [])
    anna, bao = only.grade()
    assert anna.fault == "It could not be graded (ValueError: no)."
    assert (bao.fault, len(bao.marks) > 0) == ("", True)
    again = Grades(tmp_path)
    assert not only._known(HandIn(tmp_path / "anna.ipynb", "anna", "d", "01"), again)


def test_a_name_that_is_no_text_is_written_and_printed_as_numbers(grader: Graders, tmp_path: Path) -> None:
    for name in (b"\xff.ipynb", b"\x1b[2J.ipynb"):
        shutil.copy(LABS["01"], os.fsencode(tmp_path) + b"/" + name)
    names = [(grade.learner, grade.file) for grade in grader().grade()]
    assert (r"\x1b[2J", r"\x1b[2J.ipynb") in names
    assert (r"\xff", r"\xff.ipynb") in names
    assert Grades(tmp_path).of([r"\xff.ipynb"]) != []


def test_what_a_hand_in_has_named_moves_no_cursor_and_has_an_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook = json.loads(LABS["01"].read_text("utf-8"))
    for cell in notebook["cells"]:
        cell["source"] = "reports = []" if cell["id"] == "exercise-1-1" else cell["source"]
    (tmp_path / "anna.ipynb").write_text(json.dumps(notebook), "utf-8")
    heard = [Told(note="The cell \x1b]0;mine\x07 was interrupted."), Told(note="x" * 900), Told(at="end")]
    monkeypatch.setattr(Grader, "_prepare", lambda self: None)
    monkeypatch.setattr(Grader, "_run", lambda *_: heard)
    [grade] = Grader(Wish(tmp_path, Limits()), LABS, print).grade()
    assert grade.notes[0] == r"The cell \x1b]0;mine\x07 was interrupted."
    assert len(grade.notes[1]) == 600


def test_of_one_lab_the_grades_of_the_others_stay_as_they_are(grader: Graders, tmp_path: Path) -> None:
    anna, bao = grader().grade()
    assert grader(refused, only="02").grade() == [bao]
    assert [grade.fault for grade in grader(refused, only="02", again=True).grade()] != [""]
    assert Grades(tmp_path).of(["anna.ipynb"]) == [anna]
    with pytest.raises(LabError, match="No notebook of lab 03 lies in"):
        grader(only="03").grade()


def test_to_grade_again_loses_nothing_until_it_can_begin(
    grader: Graders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = grader().grade()

    def fails(self: Grader) -> None:
        raise LabError("No boxes")

    monkeypatch.setattr(Grader, "_prepare", fails)
    with pytest.raises(LabError, match="No boxes"):
        grader(again=True).grade()
    assert Grades(tmp_path).of(["anna.ipynb", "bao.ipynb"]) == before
    monkeypatch.setattr(Grader, "_prepare", lambda self: None)
    (tmp_path / "grades.json").write_text("{")
    assert len(grader(again=True).grade()) == 2


def test_grades_that_were_handed_in_are_not_believed(
    grader: Graders, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = grader().grade()
    [key] = home.glob("*key.json")
    assert (key.stat().st_mode & 0o777, grader(refused).grade()) == (0o600, before)
    ours = (tmp_path / "grades.json").read_text()
    assert "not attempted" in ours
    forged = ours.replace("not attempted", "solved")
    unsigned = json.dumps({"grades": json.loads(forged)["grades"]})
    for text in (forged, unsigned):
        (tmp_path / "grades.json").write_text(text)
        with pytest.raises(LabError, match=r"grades\.json was not signed .* --again"):
            grader().grade()
    assert grader(again=True).grade() == before
    monkeypatch.setenv("THREEBROKERS_HOME", str(home / "another"))
    with pytest.raises(LabError, match="was not signed"):
        grader().grade()


def test_what_was_graded_before_a_stop_is_kept_and_a_stopped_box_is_not(
    grader: Graders, tmp_path: Path
) -> None:
    found: list[Grader] = []

    def stopped(one: HandIn) -> list[Told]:
        if one.learner == "anna":  # she is the first, and ends last
            while not Grades(tmp_path).of(["bao.ipynb"]) and not found[0]._stopped.wait(0.1):
                pass
            found[0]._stopped.set()
        return []

    found.append(grader(stopped, jobs=2))
    found[0].grade()
    kept = Grades(tmp_path)
    assert kept.of(["bao.ipynb"]) != []
    assert kept.of(["anna.ipynb"]) == []


def test_a_warden_that_starts_while_all_are_stopped_is_stopped_too(grader: Graders, tmp_path: Path) -> None:
    stopped = grader(apart=False)
    stopped._stopped.set()
    order = stopped._order("", tmp_path, "", only_try=True)
    with stopped._warden(order) as heard:
        assert [told.at for told in heard] == [""]


@pytest.mark.parametrize(("apart", "last"), [(True, b""), (False, b"its brokers are ended\n")])
def test_who_stops_lets_a_warden_without_a_box_end_its_brokers(
    grader: Graders, apart: bool, last: bytes
) -> None:
    script = "trap 'echo its brokers are ended; exit' TERM; echo ready; while :; do sleep 0.1; done"
    with subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE) as one:
        assert one.stdout.readline() == b"ready\n"
        grader(apart=apart)._halt([one])
        assert one.stdout.read() == last
    assert one.returncode == (-signal.SIGKILL if apart else 0)


def test_a_warden_that_does_not_hear_is_killed(grader: Graders, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("threebrokers.grading.grader.END_SECONDS", 0.1)
    with subprocess.Popen(["sh", "-c", "trap '' TERM; echo; exec sleep 60"], stdout=subprocess.PIPE) as one:
        one.stdout.readline()
        grader(apart=False)._halt([one])
    assert one.returncode == -signal.SIGKILL
