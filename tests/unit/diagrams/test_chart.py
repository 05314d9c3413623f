"""A chart follows the page's theme, keeps its words as words, and says the same in words."""

import re
from typing import Any
from xml.etree import ElementTree

import pytest

from threebrokers import theme
from threebrokers.diagrams.chart import chart

ATTRIBUTE = re.compile(r'(fill|stroke)(?:="|: )(#[0-9a-f]{6})')


def draw(axes: Any) -> None:
    axes.barh(["a", "b"], [1, 2], color=theme.PAPER, edgecolor=theme.INK, hatch="///")
    axes.plot([0, 1], [0, 1], color=theme.GREY, label="a line")
    axes.set(xlabel="seconds")
    axes.legend()


@pytest.fixture(scope="module")
def drawn() -> Any:
    return chart("Two bars", "a: 1 s.\nb: 2 s.", draw)


def test_its_words_stay_words_and_stand_below_it(drawn):
    bundle = drawn._repr_mimebundle_()
    assert bundle["text/plain"] == str(drawn) == repr(drawn) == "Two bars\na: 1 s.\nb: 2 s."
    assert "<li>b: 2 s.</li>" in bundle["text/html"]
    for word in ("Two bars", "seconds", "a line"):
        assert f">{word}<" in drawn.svg


def test_it_is_a_drawing_without_the_moment_in_which_it_was_made(drawn):
    assert ElementTree.fromstring(drawn.svg).tag.endswith("svg")
    assert chart("Two bars", "a: 1 s.\nb: 2 s.", draw).svg == drawn.svg


def test_each_colour_has_one_for_a_dark_page_or_is_seen_on_both(drawn):
    sheets = "".join(re.findall("<style>(.*?)</style>", drawn.svg))
    used = set(ATTRIBUTE.findall(drawn.svg.replace(sheets, "")))
    assert {colour for _, colour in used} <= {*theme.DARK, theme.GREY}
    for what, colour in used:
        if colour in theme.DARK:
            assert f'[style*="{what}: {colour}"]{{{what}:{theme.DARK[colour]}!important}}' in sheets
            assert f'[{what}="{colour}"]{{{what}:{theme.DARK[colour]}}}' in sheets
