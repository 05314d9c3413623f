"""The three outcomes of a check, on checks made for the purpose."""

import logging
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from threebrokers import progress
from threebrokers.cells import CellRun
from threebrokers.cluster.actions import Action
from threebrokers.cluster.trouble import Trouble
from threebrokers.errors import LabError
from threebrokers.lab import outage
from threebrokers.lab.attempt import judged
from threebrokers.lab.exercise import NotAttempted, NotYet, Solved, eventually, exercise


@pytest.fixture(autouse=True)
def _home(tmp_path, monkeypatch):
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))


@exercise("9.1", "Count to three")
def counts(lab: object, number: int, name: str = "x") -> str:
    if number != 3:
        raise NotYet(f"you counted to {number}", "it should be 3", "number = …")
    return "three is enough."


def test_solved_says_number_title_and_reason_and_is_remembered():
    outcome = counts("lab", 3)
    assert isinstance(outcome, Solved)
    assert repr(outcome) == "✓ 9.1  Count to three: three is enough."
    assert "9.1" in progress.solved()


def test_not_yet_is_one_sentence_with_the_number():
    with pytest.raises(NotYet) as seen:
        counts("lab", 4)
    assert str(seen.value) == "✗ 9.1  you counted to 4; it should be 3. Look at: number = …"
    assert "9.1" not in progress.solved()


@pytest.mark.parametrize(("answers", "named"), [((...,), {}), ((3, ...), {}), ((3,), {"name": ...})])
def test_dots_anywhere_are_not_attempted(answers, named):
    with pytest.raises(NotAttempted, match=r"9\.1"):
        counts("lab", *answers, **named)
    assert progress.tried() == set()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "`number` is None"),
        ("three", "`number` is 'three' (str); it should be a whole number"),
        (True, "`number` is True (bool)"),
        ([3], "`number` is [3] (list)"),
    ],
)
def test_a_value_of_another_type_is_named(answer, said):
    with pytest.raises(NotYet) as seen:
        counts("lab", answer)
    assert said in str(seen.value)


@pytest.mark.parametrize("hint", [object, Any, bool, int | bool])
def test_true_and_false_are_values_of_anything(hint):
    def any_value(lab: object, value: hint) -> str:  # type: ignore[valid-type]
        return "it is there."

    assert exercise("9.5", "Take anything")(any_value)("lab", False).reason == "it is there."


def test_too_many_or_too_few_values_are_told_by_name():
    with pytest.raises(NotYet, match="got 3 values; it takes 2: number, name"):
        counts("lab", 1, "a", "b")
    with pytest.raises(NotYet, match="got 0 values"):
        counts("lab")


def test_a_check_that_stumbles_over_a_value_says_which():
    @exercise("9.2", "Look inside")
    def looks_inside(lab: object, parts: list) -> str:
        return parts[0].name

    with pytest.raises(NotYet, match=r"cannot use `parts` = \[1\]") as seen:
        looks_inside("lab", [1])
    assert isinstance(seen.value.__cause__, AttributeError)


def stumbles(lab: object) -> str:
    raise ZeroDivisionError("our own")


def test_what_a_check_stumbles_over_is_kept_in_a_log(tmp_path):
    check = exercise("9.6", "Stumble")(stumbles)
    for _ in range(2):
        with pytest.raises(NotYet, match="cannot use"):
            check("lab")
    log = (tmp_path / "checks.log").read_text()
    assert log.count("Traceback") == log.count("ZeroDivisionError: our own") == 2
    assert "in stumbles" in log


def test_a_log_that_is_full_begins_anew(tmp_path):
    log = tmp_path / "checks.log"
    log.write_text("x" * 2_000_000)
    with pytest.raises(NotYet):
        exercise("9.6", "Stumble")(stumbles)("lab")
    assert log.stat().st_size < 10_000
    assert "ZeroDivisionError" in log.read_text()


def test_a_log_that_cannot_be_written_hides_no_answer(tmp_path):
    (tmp_path / "checks.log").mkdir()
    with pytest.raises(NotYet, match="our own"):
        exercise("9.6", "Stumble")(stumbles)("lab")


def test_an_answer_that_is_only_wrong_is_not_logged(tmp_path):
    with pytest.raises(NotYet):
        counts("lab", 4)
    assert not (tmp_path / "checks.log").exists()


def test_a_fault_of_the_bench_passes_as_it_is():
    @exercise("9.3", "Break")
    def breaks(lab: object) -> str:
        raise LabError("the disk is full: free some.")

    with pytest.raises(LabError, match="disk is full"):
        breaks("lab")


@pytest.mark.parametrize(
    ("actions", "away", "is_told"),
    [
        ([Action(5, "pause", 3)], {3}, False),
        ([Action(1, "kill", 3)], {3}, False),  # before the exercise's cell
        ([Action(5, "pause", 3), Action(20, "slow", 1)], {3}, False),
        ([Action(20, "pause", 3)], {3}, True),
        ([Action(5, "pause", 3), Action(20, "pause", 1)], {1, 3}, True),
        ([Action(4, "kill", 2), Action(5, "pause", 3)], {2, 3}, True),  # no majority is left
        ([Action(5, "kill", 3), Action(6, "start", 3)], {3}, True),  # it has ended by itself
        ([], {3}, True),
        ([], set(), True),  # nobody carries the links
    ],
)
def test_a_broker_that_the_experiment_has_taken_away_is_no_reason(actions, away, is_told, monkeypatch):
    found = Trouble("broker 3 is paused", "`lab.cluster.resume(3)`", frozenset(away))
    monkeypatch.setattr(outage, "trouble", lambda cluster, since: found)
    lab = SimpleNamespace(cluster=SimpleNamespace(access=None, actions=lambda: actions))
    told = []

    def look(reason):
        told.append(reason() is not None)
        return nullcontext()

    monkeypatch.setattr("threebrokers.lab.exercise.bounded", look)
    with judged(CellRun("exercise-9-1", "", 3.0, 10.0)):
        counts(lab, 3)
    counts(lab, 3)  # outside a notebook nobody knows what belongs to the experiment
    monkeypatch.setattr(outage, "trouble", lambda cluster, since: None)
    counts(lab, 3)
    assert told == [is_told, True, False]


def test_no_cure_is_told_for_what_the_experiment_wants(monkeypatch):
    found = Trouble("broker 3 is paused", "`lab.cluster.resume(3)`", frozenset({3}))
    monkeypatch.setattr(outage, "trouble", lambda cluster, since: found)
    harmed = [Action(5.0, "pause", 3)]
    lab = SimpleNamespace(cluster=SimpleNamespace(access=None, actions=lambda: harmed))

    @exercise("9.1", "Waits")
    def waits(lab, number):
        raise LabError("Waited 40 s for the rest", "run it again")

    with judged(CellRun("exercise-9-1", "", 3.0, 10.0)):
        said = str(outage.no_answer(lab))
        assert said.startswith("The brokers that run did not answer the check in time")
        with pytest.raises(LabError, match=r"Waited 40 s for the rest: run it again"):
            waits(lab, 3)
    with judged(CellRun("exercise-9-1", "", 3.0, 4.0)):  # it was paused after the exercise's cell
        assert "because broker 3 is paused: run `lab.cluster.resume(3)`" in str(outage.no_answer(lab))
        with pytest.raises(LabError, match=r"broker 3 is paused"):
            waits(lab, 3)


def test_eventually_looks_again_until_it_is_right():
    answers = iter([NotYet("a", "b", "c"), NotYet("a", "b", "c"), 5])

    def look():
        answer = next(answers)
        if isinstance(answer, NotYet):
            raise answer
        return answer

    assert eventually(look, what="five", within=10) == 5


def test_eventually_ends_with_the_last_reason():
    seen = []

    def look():
        seen.append(1)
        raise NotYet(f"look {len(seen)}", "never", "here")

    with pytest.raises(NotYet, match=r"look \d+; never"):
        eventually(look, what="nothing", within=0.2)
    assert len(seen) > 1


def test_eventually_lets_other_exceptions_out_at_once():
    def look():
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        eventually(look, what="nothing", within=60)


@pytest.mark.parametrize("fault", [NotYet("a", "b", "c"), NotAttempted("x"), LabError("y")])
def test_a_notebook_shows_one_line_and_no_traceback(ipython, fault, capsys):
    shell = ipython
    shell.user_ns["fault"] = fault
    logging.disable()
    result = shell.run_cell("raise fault")
    logging.disable(logging.NOTSET)
    shown = capsys.readouterr().out
    assert result.error_in_exec is fault
    assert "Traceback" not in shown
    assert str(fault) in shown
