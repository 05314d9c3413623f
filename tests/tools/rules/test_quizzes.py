"""The rules of a quiz."""

import pytest

from threebrokers.quiz import question
from tools import rules
from tools.lessons import lesson

FILE = "threebrokers/quiz/questions/lab03.toml"
CELL = "# %%\nlab.quiz()\n"


def test_the_sample_keeps_them(course):
    assert course.problems() == []


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"3.q1"', '"4.q1"', "the name '4.q1' is not understood"),
        ("right = true", "right = false", "'3.q1' has not exactly one right answer"),
        ('  { answer = "none", why = "A copy does not need the others." },\n', "", "'3.q1' has 2 different"),
        ('"none"', '"three"', "'3.q1' has 2 different answers"),
        ('"two", why', '"two of the three, and both are whole", why', "known by its length"),
        ("`one` is", "`one is", "'3.q1' has a backtick without a partner"),
        ("You count the lost one, too.", " ", "'3.q1' has an empty text"),
        ("question =", "quest =", "cannot be read"),
        ("Who leads?", "Who leads the quorum?", "is an idiom, or has another word here"),
    ],
)
def test_each_broken_rule_of_a_file_is_a_sentence(course, old, new, told):
    course.edit(old, new, FILE)
    sentences = [*course.problems(), *rules.gates(lesson.read(course.path), course.root)]
    assert any(told in sentence and FILE in sentence for sentence in sentences), sentences


def test_three_to_five_questions(course):
    path = course.root / FILE
    path.write_text(path.read_text("utf-8").partition('["3.q2"]')[0], "utf-8")
    assert any("it has 1 questions; write 3 to 5" in told for told in course.problems())


def test_the_right_answer_has_not_always_the_same_place(course):
    path = course.root / FILE
    one = path.read_text("utf-8").partition('["3.q2"]')[0]
    path.write_text("".join(one.replace("q1", f"q{count}") for count in (1, 2, 3)), "utf-8")
    assert any("stands in the same place each time" in told for told in course.problems())


def test_an_older_lesson_is_told_what_is_missing(course):
    course.edit(CELL, "# %% [markdown]\n# 1. How many?\n")
    (course.root / FILE).unlink()
    told = "\n".join(course.problems())
    assert f"write its questions to {FILE}, and one cell `lab.quiz()` right under '## Quiz'" in told
    assert f"there is no {FILE}; write 3 to 5 questions there" in told


def test_the_quiz_stands_under_its_heading(course):
    course.edit("# ## Quiz", "# ## Questions")
    assert any("one cell `lab.quiz()` under '## Quiz' is missing" in told for told in course.problems())


def test_questions_of_earlier_labs_come_right_after_the_set_up(course):
    first = course.path.read_text("utf-8")
    course.path.with_name("01_hello.py").write_text(first, "utf-8")
    told = "\n".join(course.problems())
    assert "questions of earlier labs are not the second code cell; write a cell `lab.review()`" in told
    course.edit('lab = open_lab("03")\n', 'lab = open_lab("03")\n\n# %%\nlab.review()\n')
    assert "lab.review()" not in "\n".join(course.problems())
    course.path.with_name("01_hello.py").unlink()
    assert "come in the first lab; leave them out" in "\n".join(course.problems())


def test_such_a_call_has_a_cell_of_its_own(course):
    course.edit("lab.quiz()", "lab.quiz()\nx = 1")
    assert any("it holds more than this call" in told for told in course.problems())


def test_names_of_questions():
    assert question.lab_of("4.q1") == "04"
    assert question.lab_of("4.a") == ""
