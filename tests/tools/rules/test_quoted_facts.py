"""Defaults that a lesson quotes: each stands in docs/facts.md, with the number that the lesson says."""

import pytest

from tools import ROOT, rules
from tools.lessons import lesson
from tools.rules import facts

SENTENCE = "A partition is one log."
PAGE = """
| tries | `linger.ms` 5 | `linger.ms` 5 | versions | how |
| time | `message.timeout.ms` 300000 | `delivery.timeout.ms` 120000; in this course 9 | versions | how |
| bytes | – | `segment.bytes` 1073741824 | versions | how |
| kbytes | `queue.max.kbytes` 1048576 | has no such setting | versions | how |
| no bound | – | `retention.bytes` -1 | versions | how |
| switch | `check.crcs` false | `check.crcs` true | versions | how |
| word | – | `cleanup.policy` delete | versions | how |
| minutes | – | `offsets.retention.minutes` 10080 | versions | how |
| seen | `max.poll.records` is taken | `max.poll.records` 500 | versions | how |
| seen | `no.value.ms` says so | as `linger.ms` | versions | how |
"""
TABLE = "| | here | default |\n# |---|---|---|\n# | {} | 7 s | {} |"


def told(course, text):
    """Let the sample say this, and return what the rule says of it."""
    course.edit(SENTENCE, text)
    (course.root / "docs").mkdir()
    (course.root / "docs" / "facts.md").write_text(PAGE, "utf-8")
    return [wrong for _, wrong, _ in facts.faults(lesson.read(course.path), course.root)]


@pytest.mark.parametrize(
    "text",
    [
        TABLE.format("`linger.ms`", "5 ms"),
        TABLE.format("`linger.ms`, `message.timeout.ms`", "5 ms, 5 min"),
        TABLE.format("`segment.bytes`", "1 GB"),
        TABLE.format("`retention.bytes`, `segment.bytes`", "none, 1 GB"),
        TABLE.format("`queue.max.kbytes`", "1 GB"),
        TABLE.format("`check.crcs`", "no"),
        TABLE.format("`offsets.retention.minutes`", "7 days"),
        TABLE.format("a topic `alone`", "8 s"),
        TABLE.format("`no.value.ms`", "that of the brokers"),
        "| | default |\n# |---|---|\n# | `linger.ms` | a short time |",
        "| client | Java |\n# |---|---|\n# | `message.timeout.ms`: 5 min | `max.poll.records` 500 |",
        "| | here |\n# |---|---|\n# | `linger.ms` | 8 s |",
        "With `linger.ms`, by default 5 ms, records wait.",
        "With `message.timeout.ms` it ends. The default is 5 minutes.",
        "It is `cleanup.policy`; the default is `delete`.",
        "It keeps them (`offsets.retention.minutes`, 7 days).",
        "It is 200 ms here (`linger.ms`).",
        "The sum is 14 days by default. So it is with `linger.ms`.",
    ],
)
def test_what_stands_there_may_be_quoted(course, text):
    assert told(course, text) == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (TABLE.format("`linger.ms`", "6 ms"), "'6 ms'"),
        (TABLE.format("`linger.ms`", "5 s"), "'5 s'"),
        (TABLE.format("`linger.ms`, `message.timeout.ms`", "5 ms, 4 min"), "`message.timeout.ms` 300000"),
        (TABLE.format("`segment.bytes`", "1 MB"), "'1 MB'"),
        (TABLE.format("`max.poll.records`", "50"), "`max.poll.records` 500"),
        ("| | here | default |\n# |---|---|---|\n# | `linger.ms` | 9 ms | the same |", "'9 ms'"),
        ("| client | Java |\n# |---|---|\n# | `linger.ms`: 7 | 5 |", "'7'"),
        ("| client | Java |\n# |---|---|\n# | `max.poll.records` 50 | 5 |", "'50'"),
        ("With `linger.ms`, by default 6 ms, records wait.", "'6 ms'"),
        ("With `message.timeout.ms` it ends. The default is 2 minutes.", "'2 minutes'"),
        ("It ends after `message.timeout.ms` (2 minutes by default).", "'2 minutes'"),
        ("It ends after `message.timeout.ms`, a minute by default.", "'a minute'"),
        ("It is `cleanup.policy`; the default is `compact`.", "'`compact`'"),
        ("It keeps them (`offsets.retention.minutes`, 6 days).", "'6 days'"),
        ("It ends after `linger.ms` (6 ms).", "'6 ms'"),
        ("It ends. After `delivery.timeout.ms` it is over, by default 9 s.", "`delivery.timeout.ms` 120000"),
    ],
)
def test_another_number_is_named(course, text, wrong):
    [sentence] = told(course, text)
    assert wrong in sentence
    assert sentence.startswith("it says '")


@pytest.mark.parametrize(
    "text",
    [
        TABLE.format("`no.such.ms`", "6 ms"),
        TABLE.format("`no.such.ms`", "no bound"),
        "With `no.such.ms`, by default 6 ms, records wait.",
        "| client | Java |\n# |---|---|\n# | `no.such.ms`: 7 | 5 |",
    ],
)
def test_a_setting_without_a_row_is_named(course, text):
    assert told(course, text) == ["`no.such.ms` has no row in docs/facts.md"]


def test_a_row_that_tells_no_value_is_none_for_a_number(course):
    told_of = TABLE.format("`no.value.ms`", "6 ms")
    assert told(course, told_of) == ["`no.value.ms` has no row in docs/facts.md"]


def test_it_is_told_with_the_other_rules_and_keeps_no_lesson_from_being_built(course):
    wrong = "`linger.ms` has no row in docs/facts.md"
    course.edit(SENTENCE, "With `linger.ms`, by default 6 ms, records wait.")
    assert any(wrong in sentence for sentence in rules.gates(lesson.read(course.path), course.root))
    assert not any(wrong in sentence for sentence in course.problems())


def test_lessons_quote_enough_that_it_is_worth_its_while():
    texts = [cell.source for path in lesson.lessons(ROOT) for cell in lesson.read(path).cells]
    assert sum(len(list(facts.quotes(text))) for text in texts) > 80
