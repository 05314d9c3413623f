"""Predictions: question and answers stand in their file, and the page gives none of them away."""

import pytest

from tests.conftest import QUESTIONS

BEGIN, END = "# BEGIN SOLUTION\n", "# END SOLUTION\n"
ASKED = 'guess_3a = lab.predict("3.a")\n'
LAST = '{ answer = "3", why = "You think of `replication_factor`." }'

# what stands in the lesson, what it becomes, and words of the message
BROKEN = {
    "more than a choice": (f'"two")\n{END}', f'"two")\nx = 1\n{END}', "does more than choose"),
    "not closed": (f'"two")\n{END}', '"two")\n', "is not closed"),
    "no name": ('predict("3.a")', "predict()", "the prediction '': its id is not understood"),
    "the old form": ('predict("3.a")', 'predict("?", {}, id="3.a")', "its id is not understood"),
    "another lab's": ('predict("3.a")', 'predict("4.a")', "'4.a': its id is not understood"),
    "asked twice": (ASKED, f"{ASKED}\n# %%\n{ASKED}", "another cell asks it too"),
    "not in the file": (
        ASKED,
        f'{ASKED}guess_3b = lab.predict("3.b")\nguess_3b.compare(1)\n',
        "'3.b': it has no question in",
    ),
    "another variable": ("guess_3a =", "guess = guess_3a =", 'write `guess_3a = lab.predict("3.a")`'),
    "bound again": (
        "guess_3a.compare(",
        "guess_3a = guess_3a\nguess_3a.compare(",
        "the cell 'guess_3a = guess_3a' binds guess_3a again",
    ),
    "bound in a loop": (
        "guess_3a.compare(",
        "for guess_3a in [guess_3a]:\n    guess_3a.compare(",
        "binds guess_3a again",
    ),
    "bound by a wrong answer": ("# one copy | keeps 1 copy\n", "# a | b\nguess_3a = 1\n", "binds guess_3a"),
    "never compared": ("guess_3a.compare(", "print(", "'3.a': it is never compared"),
    "no answer of it": (
        'choose("two")',
        'choose("all")',
        "it chooses 'all', which is no answer of '3.a'; choose one of 'two', '3'.",
    ),
    "a computed answer": ('choose("two")', 'choose("t" + "wo")', "it chooses ''"),
    "an answer beside it": ("# TODO: choose", '# TODO: choose "two" or "3"', "it shows an answer to '3.a'"),
    "why on the page": (
        "A partition is one log.",
        "The other one is gone.",
        "it shows the explanation of an answer to '3.a'",
    ),
    "not asked": (ASKED, "guess_3a = 1\n", "no cell of the lesson asks '3.a'"),
}  # fmt: skip

# the same, in the file
DAMAGED = {
    "no TOML": ('["3.a"]', "[", "it cannot be read"),
    "no why": (', why = "The other one is gone."', "", "it cannot be read"),
    "misspelt": ("question =", "qestion =", "it cannot be read"),
    "one answer": (f"  {LAST},\n", "", "'3.a' has fewer than two answers"),
    "the same twice": (f"  {LAST}", f"  {LAST},\n  {LAST}", "two answers of '3.a' are the same"),
    "empty why": ("The other one is gone.", " ", "a text of '3.a' is empty"),
    "backtick": ("`replication_factor`", "`replication_factor", "a backtick of '3.a' has no partner"),
}  # fmt: skip


@pytest.fixture(autouse=True)
def predicted(course):
    course.predict()


def test_the_sample_keeps_the_rules(course):
    assert course.problems() == []


@pytest.mark.parametrize(("old", "new", "words"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_rule_is_named(course, old, new, words):
    course.edit(old, new)
    told = [sentence for sentence in course.problems() if words in sentence]
    assert told, course.problems()
    assert all(sentence.startswith("lessons/03_replication.py, ") for sentence in told)


@pytest.mark.parametrize(("old", "new", "words"), DAMAGED.values(), ids=DAMAGED.keys())
def test_a_fault_in_the_file_is_named(course, old, new, words):
    course.edit(old, new, QUESTIONS)
    told = [sentence for sentence in course.problems() if words in sentence]
    assert told, course.problems()
    assert all(sentence.startswith(f"lessons/03_replication.py, {QUESTIONS}: ") for sentence in told)


def test_without_a_file_there_is_no_question(course):
    course.questions.unlink()
    assert course.problems() == [
        f"lessons/03_replication.py, the prediction '3.a': it has no question in {QUESTIONS}; write it there."
    ]


def test_a_wrong_answer_may_ask_again(course):
    course.edit("# one copy | keeps 1 copy\n", f"# one copy | keeps 1 copy\n{ASKED}")
    assert course.problems() == []


def test_numbers_are_answers_too(course):
    course.edit('choose("two")', "choose(3)")
    assert course.problems() == []
