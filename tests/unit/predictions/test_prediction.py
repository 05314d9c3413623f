"""Predictions: chosen before, compared after, kept with the progress; and demonstrations that tell."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from threebrokers import progress
from threebrokers.choices.buttons import HERE
from threebrokers.errors import LabError
from threebrokers.lab.lab import Lab
from threebrokers.predictions import Prediction, Verdict
from threebrokers.predictions.question import QUESTIONS, Answer, Question, question_of, read

CSS = HERE / "buttons.css"
ASKED = Question(
    "How many readers has `orders`?",
    [
        Answer("none", "You think that a topic forgets."),
        Answer("two", "Both groups read."),
        Answer("13", "You count `partitions`."),
    ],
)
FILE = """["4.a"]
question = "How many?"
answers = [{ answer = "one", why = "A." }, { answer = "two", why = "B." }]
"""


@pytest.fixture(autouse=True)
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def guess() -> Prediction:
    return Prediction("4.a", ASKED)


def test_a_right_prediction_is_told_with_its_reason(guess, capsys):
    guess.choose("two")
    guess.compare("two")
    told = capsys.readouterr().out
    assert told == "You predict: two.\n✓ You predicted: two. So it was. Both groups read.\n"
    assert progress.guesses() == {"4.a": progress.Guess("two", "two")}
    assert progress.guesses()["4.a"].right


def test_a_wrong_prediction_names_the_misconception(guess, capsys):
    guess.choose("none")
    guess.compare("two")
    told = capsys.readouterr().out.splitlines()[-1]
    assert told == "✗ You predicted: none. It was: two. You think that a topic forgets."
    assert not progress.guesses()["4.a"].right


def test_without_a_prediction_the_run_goes_on(guess, capsys):
    guess.compare("two")
    assert capsys.readouterr().out.startswith("○ It was: two. You had not chosen an answer")
    assert progress.guesses() == {}


def test_an_answer_may_be_changed_until_the_comparison_and_not_after(guess, capsys):
    guess.choose("none")
    guess.choose("two")
    guess.compare("two")
    with pytest.raises(LabError, match=r"It is known already that it was 'two': to predict again, run"):
        guess.choose("none")
    assert (guess.chosen, guess.late) == ("two", True)


def test_an_answer_that_is_not_offered_is_refused(guess):
    with pytest.raises(LabError, match=r"'three' is none of the answers: choose one of 'none', 'two'"):
        guess.choose("three")
    with pytest.raises(LabError, match=r"This time it was '3', which is none of the answers"):
        guess.compare(3)
    assert guess.truth is None


def test_numbers_are_answers_too(guess, capsys):
    guess.choose(13)
    guess.compare(13)
    assert "✓ You predicted: 13." in capsys.readouterr().out


def test_only_the_first_prediction_counts(capsys):
    for answer in ("none", "two"):
        guess = Prediction("4.a", ASKED)
        guess.choose(answer)
        guess.compare("two")
    assert progress.guesses() == {"4.a": progress.Guess("none", "two")}


def test_a_button_chooses_and_its_refusal_is_shown_beside_it(guess, capsys):
    guess._buttons._handle_custom_msg({"answer": "none"}, [])
    assert (guess.chosen, guess._buttons.chosen) == ("none", "none")
    assert guess._buttons.note_html == "You predict: none. Now run the next cells and compare."
    guess.compare("two")
    assert guess._buttons.note_html == "✓ marks what was measured."
    guess._buttons._handle_custom_msg({"answer": "two"}, [])
    assert (guess.chosen, guess._buttons.chosen, guess._buttons.truth) == ("none", "none", "two")
    assert guess._buttons.note_html.startswith("It is known already that it was &#x27;two&#x27;")


def test_the_text_twin_is_whole_and_the_same_in_every_run(guess, capsys):
    data, _ = guess._buttons._repr_mimebundle_()
    before = data["text/plain"]
    guess.choose("two")
    guess.compare("two")
    assert guess._buttons._repr_mimebundle_()[0]["text/plain"] == before
    assert before == "How many readers has `orders`?\n○ none\n○ two\n○ 13"


def test_a_verdict_is_safe_html_with_a_sign_and_code():
    verdict = Verdict("<b>", "<i>", "Why & `acks=<1>`.")._repr_mimebundle_()
    assert (
        "<b>You predicted: &lt;b&gt;. It was: &lt;i&gt;.</b> Why &amp; <code>acks=&lt;1&gt;</code>."
        in (verdict["text/html"])
    )
    assert verdict["text/plain"] == "✗ You predicted: <b>. It was: <i>. Why & `acks=<1>`."


def test_buttons_show_code_and_escape_the_rest():
    buttons = Prediction(
        "4.a", Question("Is `a<b`?", [Answer("<i>`yes`</i>", "."), Answer("no `", ".")])
    )._buttons
    assert buttons.question_html == "Is <code>a&lt;b</code>?"
    assert buttons.answers_html == ["&lt;i&gt;<code>yes</code>&lt;/i&gt;", "no `"]
    assert buttons.answers == ["<i>`yes`</i>", "no `"]


@pytest.fixture
def lab() -> Lab:
    return Lab("04", SimpleNamespace(bootstrap="nowhere:1", access=None), lambda: None, "x")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("threebrokers.predictions.question.QUESTIONS", tmp_path)
    (tmp_path / "lab04.toml").write_text(FILE, "utf-8")
    return tmp_path / "lab04.toml"


@pytest.mark.usefixtures("file")
def test_asked_again_before_the_comparison_a_question_keeps_the_choice(lab):
    guess = lab.predict("4.a")
    guess._buttons._handle_custom_msg({"answer": "two"}, [])
    again = lab.predict("4.a")
    assert (again.chosen, again._buttons.chosen) == ("two", "two")
    assert again._buttons.note_html == "You predict: two. Now run the next cells and compare."
    again.compare("two")
    assert progress.guesses()["4.a"].right


@pytest.mark.usefixtures("file")
def test_asked_again_after_the_comparison_a_question_starts_afresh(lab):
    guess = lab.predict("4.a")
    guess.choose("two")
    guess.compare("one")
    again = lab.predict("4.a")
    assert (again.chosen, again.truth, again._buttons.chosen) == (None, None, None)
    again.choose("one")
    assert guess.chosen == "two"


@pytest.mark.usefixtures("file")
def test_a_question_that_is_not_there_is_told(lab):
    with pytest.raises(LabError, match=r"^Lab 4 has no question '4.b': choose one of '4.a'\.$"):
        lab.predict("4.b")
    with pytest.raises(LabError, match=r"^'99.a' names no question, as there is no .*lab99.toml: give an id"):
        question_of("99.a")
    with pytest.raises(LabError, match=r"^'How many\?' names no question: give an id like lab.predict"):
        lab.predict("How many?")


@pytest.mark.parametrize("text", ["[", '["4.a"]\nquestion = 1', "\x00", ""])
def test_a_damaged_file_is_told_in_one_sentence(lab, file, text):
    file.write_text(text, "utf-8")
    with pytest.raises(LabError) as told:
        lab.predict("4.a")
    assert "\n" not in str(told.value)
    assert text == "" or str(file) in str(told.value)


def test_a_missing_file_is_told_in_one_sentence(lab, file):
    file.unlink()
    with pytest.raises(LabError, match=r"'4.a' names no question, as there is no .*lab04\.toml: give an"):
        lab.predict("4.a")


def test_every_question_of_the_course_can_be_asked():
    files = sorted(QUESTIONS.glob("*.toml"))
    assert files
    for path in files:
        for name in read(path):
            assert question_of(name).why


def test_a_damaged_file_of_predictions_is_kept_and_they_start_afresh(bench):
    (bench / "predictions.json").write_text('{"4.a": {"answer": "none"}}')
    progress.record_guess("4.b", progress.Guess("two", "two"))
    assert set(progress.guesses()) == {"4.b"}
    assert (bench / "predictions.damaged.json").exists()


def test_what_happened_is_told(capsys):
    Lab.observed(None, "Broker 2 was away.", 1)
    assert capsys.readouterr().out == "✓ Broker 2 was away.\n"


def test_what_did_not_happen_is_told_in_one_sentence():
    with pytest.raises(LabError, match=r"^This time it did not happen: Broker 2 was away; run the cell"):
        Lab.observed(None, "Broker 2 was away.", [])
    with pytest.raises(LabError, match=r": Broker 2 was away \(it was up\); run the cell again"):
        Lab.observed(None, "Broker 2 was away.", False, "it was up")


def test_rules_for_buttons_weigh_more_than_those_of_jupyterlab() -> None:
    # Its `.jp-ThemedContainer button` wins over a rule with one class, and takes the round corners.
    sheet = CSS.read_text("utf-8")
    rules = re.findall(r"^(?=[^@}\n]*\.tb-(?:answer|again))([^{\n]+?)(?: \{|,)$", sheet, re.M)
    assert len(rules) > 8
    assert [rule for rule in rules if not rule.startswith(".tb-predict .")] == []
