"""What a lesson says: short paragraphs, no idioms, one word for one thing, and labs that are there."""

import pytest

from tests.conftest import QUESTIONS
from tools import rules
from tools.lessons import lesson, notebooks
from tools.lessons.build import build

CHECKS = "threebrokers/checks/lab03.py"
SENTENCE = "A partition is one log."


def told(course):
    return rules.gates(lesson.read(course.path), course.root)


def test_the_sample_keeps_the_rules(course):
    course.predict()
    assert told(course) == []


def test_a_long_paragraph_is_named(course):
    course.edit(SENTENCE, "word " * 101)
    assert told(course) == [
        "lessons/03_replication.py, the cell '## One topic, three copies': "
        "the paragraph 'word word word word word …' has 101 words (at most 100); "
        "divide it, or leave something out."
    ]


@pytest.mark.parametrize(
    "text",
    [
        "word " * 60 + "\n#\n# " + "word " * 60,
        "- " + "word " * 60 + "\n# - " + "word " * 60,
        "1. " + "word " * 60 + "\n# 2. " + "word " * 60,
        "| " + "word | " * 101,
        "```text\n# " + "word " * 101 + "\n# ```",
    ],
    ids=["two", "list", "numbered list", "table", "program"],
)
def test_what_is_no_long_paragraph(course, text):
    course.edit(SENTENCE, text)
    assert told(course) == []


@pytest.mark.parametrize(
    "text",
    [
        "Our Bench is up.",
        "The next cell but one runs.",
        "It gives way.",
        "Press it, then run on.",
        "It confirmed it.",
    ],
)
def test_an_idiom_is_named(course, text):
    course.edit(SENTENCE, text)
    assert len(told(course)) == 1
    assert "is an idiom, or has another word here; say it otherwise: " in told(course)[0]


def test_a_part_of_a_word_is_no_idiom(course):
    course.edit(SENTENCE, "A benchmark and its contents run on a laptop.")
    assert told(course) == []


def test_words_of_checks_and_questions_are_read_too(course):
    course.predict()
    course.edit("The other one is gone.", "The quarrel is over.", QUESTIONS)
    course.edit("two copies are left", "it says ok", CHECKS)
    assert [sentence.split(": ")[0] for sentence in told(course)] == [
        f"lessons/03_replication.py, {CHECKS}",
        f"lessons/03_replication.py, {QUESTIONS}",
    ]


def test_a_lab_that_is_not_there_is_not_named(course):
    course.edit(SENTENCE, "See lab 03 and labs 05 to 07.")
    assert ["it names lab 05, which is not there" in sentence for sentence in told(course)] == [True]


def test_a_lesson_says_once_which_labs_are_coming(course):
    course.edit(SENTENCE, "Labs 05 to 07 are coming.")
    assert told(course) == []
    course.edit("- One copy leads", "- Lab 05 is coming, too")
    assert len(told(course)) == 1


def test_a_core_path_has_a_limit(course):
    assert build(course.root) == []
    path = course.notebook("solutions")
    notebook = notebooks.read(path)
    notebooks.codes(notebook)[0].metadata[notebooks.SECONDS] = 3000
    path.write_text(notebooks.text(notebook), "utf-8")
    assert "the core path: it takes 61 minutes (at most 45);" in told(course)[0]


def test_all_rules_are_told_by_one_command(course, capsys):
    assert rules.main([], course.root) == 0
    course.edit("protect you from?", "protect you from")
    course.edit(SENTENCE, "The bench.")
    assert rules.main(["03"], course.root) == 1
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert rules.main(["12"], course.root) == 0
