"""A quiz: answers are explained, the first one is kept, and it has a twin without a kernel."""

from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from threebrokers import progress
from threebrokers.errors import LabError
from threebrokers.lab.lab import Lab
from threebrokers.quiz import Quiz, question, twin
from threebrokers.quiz.question import Answer, Question

ASKED = {
    "4.q1": Question(
        "Who has `<b>`?",
        [Answer("nobody", "You think of none."), Answer("`one` & all", "It is so.", right=True)],
    ),
    "4.q2": Question("Who reads?", [Answer("x", "It does.", right=True), Answer("y", "It writes.")]),
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    return tmp_path


def press(quiz, name, answer):
    quiz.asked[name].buttons._handle_custom_msg({"answer": answer}, [])


def again(quiz, name):
    quiz.asked[name].buttons._handle_custom_msg({"again": True}, [])


def test_a_right_answer_is_explained_and_kept():
    quiz = Quiz(ASKED)
    press(quiz, "4.q1", "`one` & all")
    shown = quiz.asked["4.q1"].buttons
    assert (shown.chosen, shown.truth) == ("`one` & all", "`one` & all")
    assert shown.note_html == "Right. It is so."
    assert progress.answers()["4.q1"].right
    assert set(progress.answers()) == {"4.q1"}


def test_a_wrong_answer_tells_its_idea_and_the_right_one():
    quiz = Quiz(ASKED)
    press(quiz, "4.q1", "nobody")
    told = "No. You think of none. The right answer is “<code>one</code> &amp; all”. It is so."
    assert quiz.asked["4.q1"].buttons.note_html == told
    assert not progress.answers()["4.q1"].right


def test_answered_again_the_first_answer_stays():
    quiz = Quiz(ASKED)
    press(quiz, "4.q1", "nobody")
    press(quiz, "4.q1", "`one` & all")  # a button that does nothing any more
    again(quiz, "4.q1")
    shown = quiz.asked["4.q1"].buttons
    assert (shown.chosen, shown.truth) == (None, None)
    assert shown.note_html == "Choose an answer. Your first answer is the one that is kept."
    press(quiz, "4.q1", "`one` & all")
    assert shown.note_html.startswith("Right.")
    assert progress.answers()["4.q1"].answer == "nobody"


def test_on_another_day_the_answer_is_shown_and_a_new_one_counts():
    press(Quiz(ASKED), "4.q1", "nobody")
    quiz = Quiz(ASKED, kept=True)
    assert quiz.asked["4.q1"].buttons.chosen == "nobody"
    assert quiz.asked["4.q2"].buttons.chosen is None
    assert Quiz(ASKED).asked["4.q1"].buttons.chosen is None
    again(quiz, "4.q1")
    press(quiz, "4.q1", "`one` & all")
    assert progress.answers()["4.q1"].right


def test_an_answer_that_is_gone_from_the_file_is_not_shown():
    progress.record_answer("4.q1", "an older one", right=True)
    assert Quiz(ASKED, kept=True).asked["4.q1"].buttons.chosen is None


def test_nonsense_is_not_kept():
    quiz = Quiz(ASKED)
    press(quiz, "4.q1", "z")
    quiz.asked["4.q1"].buttons._handle_custom_msg({"what": 1}, [])
    assert progress.answers() == {}


def test_the_twin_is_the_same_whatever_was_answered_and_folds_the_answers():
    quiz = Quiz(ASKED)
    before = repr(quiz)
    press(quiz, "4.q1", "nobody")
    data = quiz._repr_mimebundle_()[0]
    assert data["text/plain"] == before == twin.text(ASKED)
    assert before == "Who has `<b>`?\n○ nobody\n○ `one` & all\n\nWho reads?\n○ x\n○ y"
    assert data["text/html"].count("<details><summary>Answer</summary>") == 2
    assert "✓ <b><code>one</code> &amp; all</b> (right): It is so." in data["text/html"]
    assert "<b>Who has <code>&lt;b&gt;</code>?</b>" in data["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in data


def test_without_questions_it_says_so():
    assert Quiz({})._repr_mimebundle_() == {
        "text/plain": twin.NOTHING,
        "text/html": f"<div>{twin.NOTHING}</div>",
    }


def test_every_question_of_the_course_has_one_right_answer_and_reads_well():
    every = question.every()
    assert len(every) >= 3 * len(question.labs())
    for name, one in every.items():
        assert question.lab_of(name) in question.labs()
        assert sum(answer.right for answer in one.answers) == 1
        for answer in one.answers:
            assert one.told(answer.answer).startswith("Right. " if answer.right else "No. ")


def test_a_lab_shows_its_own_quiz_and_reviews_earlier_ones():
    lab = Lab("02", SimpleNamespace(bootstrap="nowhere:1", access=None), lambda: None, "x")
    assert list(lab.quiz().asked) == list(question.read("02"))
    assert list(lab.review().asked) == ["1.q1", "0.q2", "1.q2"]
    assert (
        list(Lab("00", SimpleNamespace(bootstrap="nowhere:1", access=None), lambda: None, "x").review().asked)
        == []
    )


def test_a_lab_without_a_quiz_says_so_in_one_sentence():
    with pytest.raises(
        LabError, match=r"^The quiz of lab 77 cannot be read \(.*: No such file or directory\): "
    ):
        Lab("77", SimpleNamespace(bootstrap="nowhere:1", access=None), lambda: None, "x").quiz()


def test_a_damaged_file_of_answers_is_kept_aside_and_told_once(home):
    (home / "quizzes.json").write_text('{"4.q1": 1}')
    [told] = progress.lost()
    assert told.startswith("Your answers to quizzes could not be read: ")
    assert progress.lost() == []
    progress.record_answer("4.q1", "x", right=True)
    assert progress.answers()["4.q1"].at <= datetime.now(UTC)
