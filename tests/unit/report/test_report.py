"""The progress as a page: what was done, what to repeat, a button that puts an exercise back."""

import json
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from threebrokers import progress, theme
from threebrokers.errors import LabError
from threebrokers.lab.lab import Lab
from threebrokers.predictions import question as predictions
from threebrokers.quiz import question as quizzes
from threebrokers.report import collect, fragment, page, shown, words

NOTEBOOK = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {},
    "cells": [
        {"id": "t", "cell_type": "markdown", "source": "# What is <lost>?\n\n*25 minutes, and 5 more.*"},
        {"id": "a", "cell_type": "markdown", "source": "### Exercise 3.1: Survive one"},
        {"id": "b", "cell_type": "code", "source": "topic = ...", "outputs": []},
        {"id": "c", "cell_type": "markdown", "source": "### Exercise 3.2: Count twice"},
        {"id": "d", "cell_type": "code", "source": "count = ...", "outputs": []},
    ],
}


@pytest.fixture(autouse=True)
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    monkeypatch.setattr("threebrokers.workspace.root", lambda: tmp_path)
    monkeypatch.setattr("threebrokers.workspace.course", lambda: tmp_path)
    for folder in ("labs", "work"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "03_replication.ipynb").write_text(json.dumps(NOTEBOOK))
    return tmp_path


def learn() -> None:
    """Do something of each kind, some of it wrong."""
    progress.record("3.1", solved=True)
    progress.record("3.2", solved=False)
    first, second = list(predictions.of_lab("03"))[:2]
    right = predictions.of_lab("03")[first].answers[0].answer
    progress.record_guess(first, progress.Guess(right, right))
    wrong = predictions.of_lab("03")[second].answers[0].answer
    progress.record_guess(second, progress.Guess(wrong, "another one"))
    asked = quizzes.of_lab("03")
    progress.record_answer("3.q1", asked["3.q1"].truth, right=True)
    progress.record_answer("3.q2", asked["3.q2"].answers[0].answer, right=False)


def test_nothing_was_done_yet():
    [lab] = collect().labs
    assert (lab.solved.good, lab.solved.every, lab.minutes, lab.is_begun) == (0, 2, 25, False)
    assert collect().minutes_left == 25
    assert "0 of 2 exercises are solved. The labs that you have not begun take 25 minutes." in words(
        collect()
    )
    assert "Nothing to repeat." in fragment(collect())


def test_what_was_done_is_counted():
    learn()
    [lab] = collect("03").labs
    assert [look for _, _, look in lab.exercises] == [theme.GOOD, theme.BAD]
    assert (lab.predictions.good, lab.predictions.done) == (1, 2)
    assert (lab.quiz.good, lab.quiz.done, lab.quiz.every) == (1, 2, len(quizzes.of_lab("03")))
    assert collect().minutes_left == 0


def test_what_to_repeat_is_what_went_wrong_and_the_right_answer_of_a_quiz_is_not_told():
    learn()
    exercise, prediction, quiz = collect().repeat
    assert exercise.what == "Exercise 3.2: Count twice"
    assert "It was: another one." in prediction.why
    asked = quizzes.of_lab("03")["3.q2"]
    assert quiz.what == asked.question
    assert asked.truth not in quiz.why


def test_the_page_is_whole_and_asks_nobody_for_anything():
    learn()
    told = page(collect())
    assert "What is &lt;lost&gt;?" in told
    assert "http" not in told
    assert "<script" not in told
    assert '<span role="img" aria-label="3.1 solved"' in told
    assert "1 of 2 exercises are solved." in told


def test_answers_to_questions_that_are_gone_do_not_matter():
    progress.record_answer("3.q77", "x", right=False)
    progress.record_guess("3.zz", progress.Guess("x", "y"))
    assert collect().repeat == ()


def test_in_a_notebook_a_button_puts_an_exercise_back(repo):
    lab = Lab("03", SimpleNamespace(bootstrap="nowhere:1", access=None), lambda: None, "x")
    mine = repo / "work" / "03_replication.ipynb"
    changed = json.loads(mine.read_text())
    changed["cells"][2]["source"] = "topic = 1"
    mine.write_text(json.dumps(changed))
    told = lab.progress()
    assert told.reset.exercises == [["3.1", "Survive one"], ["3.2", "Count twice"]]
    sent = []
    told.reset.send = sent.append
    told.reset._handle_custom_msg({"exercise": "3.1"}, [])
    assert told.reset.note.startswith(
        "Exercise 3.1 in work/03_replication.ipynb is as it was handed out; what"
    )
    assert sent == [{"done": "3.1"}]
    assert json.loads(mine.read_text())["cells"][2]["source"] == "topic = ..."
    assert (repo / "work" / "03_replication.old.ipynb").exists()


def test_what_cannot_be_put_back_is_said_beside_the_button(repo):
    (repo / "work" / "03_replication.ipynb").unlink()
    reset = shown.Reset("03", [("3.1", "Survive one")])
    reset.put_back("3.1")
    assert reset.note.startswith("work/03_replication.ipynb is not there yet")
    reset.put_back("3.9")
    assert reset.note == "Lab 03 has no exercise 3.9: it has 3.1, 3.2."


def test_the_twin_in_a_notebook_has_the_same_facts():
    learn()
    data = shown.Shown(collect(), "03")._repr_mimebundle_()[0]
    assert data["text/plain"].startswith("1 of 2 exercises are solved.")
    assert "<h3>What to repeat</h3>" in data["text/html"]


def test_all_of_it_can_be_taken_along(tmp_path):
    learn()
    progress.export(tmp_path / "mine.json")
    told = json.loads((tmp_path / "mine.json").read_text())
    assert set(told) == {"exported", "exercises", "predictions", "quizzes"}
    assert set(told["exercises"]) == {"3.1", "3.2"}
    assert told["exercises"]["3.2"] is None
    assert told["quizzes"]["3.q1"]["right"] is True


def test_one_lab_is_forgotten_or_all(repo):
    learn()
    progress.record("4.1", solved=True)
    progress.record_answer("13.q1", "x", right=True)
    assert progress.forget("03") == 6
    assert (set(progress.tried()), progress.guesses(), set(progress.answers())) == ({"4.1"}, {}, {"13.q1"})
    (repo / "home" / "quizzes.damaged.json").write_text("?")
    assert progress.forget() == 2
    assert (progress.tried(), progress.answers()) == (set(), {})
    assert list((repo / "home").glob("*damaged*")) == []


def test_when_an_answer_was_given_is_kept():
    progress.record_answer("3.q1", "x", right=True)
    assert progress.answers()["3.q1"].at <= datetime.now(UTC)


def test_a_lab_that_is_not_there_is_told():
    with pytest.raises(LabError, match="There is no lab 77"):
        collect("77")
