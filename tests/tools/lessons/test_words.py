"""Terms show their sentences in a lab: where they stand first, and in a list at its end."""

import nbformat
import pytest

from tools.lessons import words
from tools.lessons.words import Words
from tools.publish.terms import Term


def term(name, stem, *, code=True):
    return Term(name, stem, "Section", code, True)


KNOWN = Words(
    (
        term("min.insync.replicas", "03_replication"),
        term("pause", "03_replication"),
        term("high watermark", "04_failover", code=False),
        term("acks", "04_failover"),
        term("later.one", "05_later"),
    ),
    {
        "min.insync.replicas": 'How "many" `replicas` <must> have it.',
        "pause": "To wait.",
        "high watermark": "Up to it is read.",
        "acks": "Who answers.",
        "later.one": "Later.",
    },
)


def marked(*texts, known=KNOWN):
    """Return the Markdown cells of lab 04 with these texts, once marked."""
    cells = [nbformat.v4.new_markdown_cell(text) for text in texts]
    notebook = nbformat.v4.new_notebook(cells=[*cells, nbformat.v4.new_code_cell("`acks`")])
    words.mark(notebook, "04_failover", known)
    return [cell.source for cell in notebook.cells]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("The **high watermarks** are.", '<abbr title="Up to it is read.">**high watermarks**</abbr> are.'),
        ("With `acks`, and `acks`.", 'With <abbr title="Who answers.">`acks`</abbr>, and `acks`.'),
        ("A `min.insync.replicas`", '<abbr title="How &quot;many&quot; replicas &lt;must&gt; have it.">`min'),
        ("| `acks` | 1 |", '| <abbr title="Who answers.">`acks`</abbr> | 1 |'),
    ],
)
def test_the_first_place_shows_the_sentence(text, shown):
    assert shown in marked(text)[0]


@pytest.mark.parametrize(
    "text",
    [
        "## With `acks`",
        "[`acks`](x.md)",
        "```\n`acks`\n```",
        '<a title="`acks`">',
        "`acks=all`",
        "`later.one` is explained later",
        "`pause` may be another word",
        "acks and high watermark without a sign",
    ],
)
def test_all_else_stays_as_it_is(text):
    assert marked(text)[0] == text


def test_all_of_them_stand_in_a_list_that_needs_no_mouse():
    _, folded, last = marked("With `min.insync.replicas`.")
    assert last == "`acks`"
    assert folded.startswith(f"<details><summary>{words.TITLE}</summary>\n\n- **`acks`**: Who answers.\n")
    assert "- **high watermark**: Up to it is read.\n- **`min.insync.replicas`**: How" in folded
    assert "later.one" not in folded
    assert words.MORE in folded


def test_a_course_without_sentences_stays_as_it_is():
    assert marked("With `acks`.", known=Words(KNOWN.terms, {})) == ["With `acks`.", "`acks`"]
