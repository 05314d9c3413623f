"""A deck that breaks a rule is told so in a sentence, and a block that cannot be shown, too."""

import pytest

from tools import ROOT
from tools.slides import deck, page, rules
from tools.slides.deck import Block, DeckError
from tools.slides.pictures import numbers
from tools.slides.shown import inline, table

NOTES = "\n\nNotes: 2 min.\nSay: a.\nAsk: b?\nExpect: c.\n"
GOOD = [
    f"# What is a topic made of?\n\nThree Brokers · Lab 02{NOTES}",
    f"## A record is bytes.\n\n```flow\nkey -> value\nwords: A key and a value.\n```{NOTES}",
    f"Ten aircraft, two programs.\n\n```vote 2.a\n```{NOTES}",
    f"## Two clients may differ.\n\n```reveal 2.a\n```{NOTES}",
    f"## What to remember\n\n```remember 02\n```{NOTES}",
]


@pytest.fixture
def said(tmp_path):
    def read(*slides: str) -> str:
        path = tmp_path / "02_the_log.md"
        path.write_text("\n---\n\n".join(slides), "utf-8")
        return "\n".join(rules.problems(deck.read(path), ROOT))

    return read


def changed(number: int, before: str, after: str) -> list[str]:
    assert before in GOOD[number]
    return [*GOOD[:number], GOOD[number].replace(before, after), *GOOD[number + 1 :]]


def test_a_good_deck_breaks_no_rule(said) -> None:
    assert said(*GOOD) == ""


@pytest.mark.parametrize(
    ("slides", "sentence"),
    [
        (changed(0, "made of", "good for"), "the lesson's is 'What is a topic made of?'"),
        (changed(1, "Notes: 2 min.", "Notes:"), "slide 2: the notes have no Notes: N min."),
        (changed(1, "Ask: b?\n", ""), "slide 2: the notes have no Ask:"),
        (changed(1, "## A record is bytes.", ""), "slide 2: it has no heading"),
        (changed(1, "bytes.", "bytes"), "is no sentence"),
        (changed(1, "words: A key and a value.\n", ""), "slide 2: A flow needs a last line `words: …`"),
        (changed(1, "flow\n", "drawing\n"), "slide 2: A block 'drawing' is not known"),
        (changed(1, "```flow", "One.\nTwo.\n```flow"), "2 lines of text"),
        (changed(1, "bytes.", "bytes, in a nutshell."), "'in a nutshell'"),
        ([*GOOD[:3], *GOOD[4:]], "slide 3: the vote 2.a has no reveal on the next slide"),
        ([*GOOD[:2], *GOOD[3:]], "the reveal 2.a has no vote on the slide before"),
        (changed(2, "Ten aircraft, two programs.\n\n", ""), "slide 3: the vote has no sentence"),
        (changed(2, "2.a", "2.z"), "has no question '2.z'"),
        ([GOOD[0], *[GOOD[1]] * 11, GOOD[4]], "there are 13 slides; 12 are the most"),
        (GOOD[:4], "the last slide is not `## What to remember`"),
        (changed(1, "flow\nkey -> value\nwords: A key and a value.", "code\n" + "x" * 65), "64 letters"),
        (
            changed(1, "flow\nkey -> value\nwords: A key and a value.", "output 02 nowhere"),
            "0 executed cells",
        ),
        (changed(1, "flow\nkey -> value\nwords: A key and a value.", "picture cake"), "no picture 'cake'"),
        (changed(1, "flow\nkey -> value\nwords: A key and a value.", "picture readers"), "cannot be drawn"),
        (changed(1, "flow\nkey -> value\nwords: A key and a value.", "recording none"), "cannot be read"),
        (changed(1, "flow\nkey -> value\nwords: A key and a value.", "table\n| a | b |\n| c |"), "as many"),
        (changed(1, "flow\nkey -> value\nwords: A key and a value.", "bars\nkill: soon"), "`name: number`"),
    ],
)
def test_a_broken_rule_is_a_sentence(said, slides, sentence) -> None:
    assert sentence in said(*slides)


def test_a_file_without_a_title_is_no_deck(tmp_path) -> None:
    path = tmp_path / "02_the_log.md"
    path.write_text(f"## A record is bytes.{NOTES}", "utf-8")
    with pytest.raises(DeckError, match="begins without a title"):
        deck.read(path)


def test_a_line_of_dashes_inside_a_block_parts_nothing(tmp_path) -> None:
    path = tmp_path / "02_the_log.md"
    path.write_text(f"# A?\n\n```code\none\n---\ntwo\n```{NOTES}", "utf-8")
    (slide,) = deck.read(path).slides
    assert slide.block == Block("code", (), "one\n---\ntwo")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("picture", "topic", "name=orders", "partitions=2", "without=2"), "broker 1; replicas"),
        (("picture", "path", "consumers=bank,shop"), "shop: reads every partition"),
        (("picture", "log", "0=0-2,4", "next=0:2"), "read next: offset 2"),
        (("picture", "readers", "end=6", "bank=3"), "its lag is 3"),
        (("picture", "reading", "topic=flights", "partitions=2"), "read by task 1"),
        (("recording", "04_kill"), "kill broker"),
    ],
)
def test_a_picture_has_its_words(words, told) -> None:
    kind, *more = words
    assert told in page.shown(Block(kind, tuple(more), "")).words


def test_bars_say_their_numbers_and_the_longest_is_the_largest() -> None:
    shown = page.shown(Block("bars", ("unit=s",), "stop: 0.5\nkill: 2.0"))
    assert shown.words == "stop: 0.5 s; kill: 2.0 s."
    assert "width:78.0%" in shown.html
    assert "width:19.5%" in shown.html


def test_rows_and_columns_of_an_output_are_chosen() -> None:
    words = ("04", "silences(four_ways,", "sensor)", "columns=1,3", "lines=2-3")
    html = page.shown(Block("output", words, "")).html
    assert "kill" in html
    assert "stop" not in html
    assert html.count("<th ") == 2
    with pytest.raises(DeckError, match="4 rows and 4 columns"):
        page.shown(Block("output", (*words[:3], "columns=9"), ""))


def test_a_column_of_numbers_stands_at_the_right() -> None:
    assert table(["a", "b"], [["x", "✗ 1"], ["y", "0"]]).count('class="number"') == 3


def test_text_of_an_author_is_escaped() -> None:
    assert inline("<b> `a<b` **c**") == "&lt;b&gt; <code>a&lt;b</code> <strong>c</strong>"
    assert numbers("1,3-5") == [1, 3, 4, 5]
