"""The glossary: one sentence for each term, and where it is first met."""

import pytest

from tools import ROOT
from tools.publish import glossary, terms
from tools.publish.terms import Term
from tools.rules.wording import PATTERNS

TERMS = [
    Term("acks", "03_replication", "Who answers?", True, True),
    Term("log", "02_the_log", "A log", False, True),
]
TOLD = {"acks": "Who must have a record.", "log": "Records in order."}


@pytest.fixture(scope="module")
def told():
    return glossary.sentences(ROOT)


def test_each_term_of_the_course_has_its_sentence(told):
    assert told
    assert glossary.problems(terms.explained(ROOT), told) == []


def test_a_sentence_has_no_word_that_another_one_stands_for(told):
    found = [(name, match[0]) for name, text in told.items() for p in PATTERNS if (match := p.search(text))]
    assert found == []


def test_the_page_is_built(told):
    page = (ROOT / "docs" / "glossary.md").read_text("utf-8")
    assert page == glossary.page(terms.explained(ROOT), told)


def test_a_row_has_the_sentence_and_the_place():
    page = glossary.page(TERMS, TOLD)
    link = "[Who answers?](../labs/03_replication.ipynb#Who-answers%3F)"
    assert f"- **`acks`**: Who must have a record. Lab 03, {link}" in page
    assert page.index("## A") < page.index("## L")


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (
            {"log": TOLD["log"]},
            "has no sentence for 'acks' (lessons/03_replication.py, 'Who answers?')",
        ),
        (TOLD | {"lag": "How far."}, "has a sentence for 'lag', which no lesson explains; delete it"),
        (TOLD | {"log": "Records. In order."}, "'log' is to have one sentence of 30 words at most"),
        (TOLD | {"log": "Records in order"}, "'log' is to have one sentence"),
        (TOLD | {"log": "Word " * 31 + "end."}, "'log' is to have one sentence"),
        (TOLD | {"log": "The `log."}, "'log' is to have one sentence"),
    ],
)
def test_what_is_missing_is_told_in_a_sentence(told, said):
    [sentence] = glossary.problems(TERMS, told)
    assert said in sentence


def test_a_course_without_sentences_has_no_glossary(tmp_path):
    assert glossary.sentences(tmp_path) == {}
    assert glossary.problems(TERMS, {}) == []
