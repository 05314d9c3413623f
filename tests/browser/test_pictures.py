"""Still pictures on pages without a kernel: light and dark, narrow and wide, and without style sheets."""

import json
import subprocess
import sys
from functools import cache
from html import escape
from html.parser import HTMLParser

import pytest

from tests.browser import test_drawing
from tests.browser.test_drawing import CALM, KILLED, TROUBLE
from tests.recordings import four_topics
from tests.states import failsafe
from tests.unit.diagrams.test_segments import AFTER, BEFORE
from tests.unit.diagrams.test_topics import TOPIC, record
from threebrokers.diagrams import (
    log_picture,
    message_path,
    readers_picture,
    reading_picture,
    segments_picture,
    topic_picture,
    watermark_picture,
)
from threebrokers.panel.static import still

PICTURES = (
    message_path(producers=("web pages", "phone app"), consumers=("reports", "search")),
    topic_picture(TOPIC),
    topic_picture(failsafe()),
    log_picture([record(1, 0), record(0, 1), record(0, 0)], text=lambda r: f"record {r.offset}"),
    log_picture({0: [0, 1, 5, 7], 1: []}, reads_next={0: 5}),
    log_picture({0: range(100)}, reads_next={0: 50}),
    segments_picture(BEFORE, AFTER),
    watermark_picture(),
    readers_picture(6, {"report A": 2, "report B": 6}),
    reading_picture("january", 3),
    still(CALM),
    still(KILLED),
    still(TROUBLE),
)
panel = test_drawing.show  # a fixture: the live panel without a kernel
PARTS = ".tb-picture, .tb-still"
# Each text with its contrast to what lies behind it, and each edge with its contrast to the page.
CONTRASTS = """
(parts) => {
  const pen = Object.assign(document.createElement("canvas"), { width: 1, height: 1 })
    .getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    pen.clearRect(0, 0, 1, 1); pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data].map((part) => part / 255);
  };
  const over = (top, ground) => [0, 1, 2].map((n) => top[n] * top[3] + ground[n] * (1 - top[3]));
  const linear = (part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b) + 0.05;
  const contrast = (a, b) => Math.max(light(a) / light(b), light(b) / light(a));
  const ground = (node) => {
    if (!node) return [1, 1, 1];
    const own = rgba(getComputedStyle(node).backgroundColor);
    return own[3] === 1 ? own : over(own, ground(node.parentElement));
  };
  const found = { words: [], edges: [] };
  const pairs = [...document.querySelectorAll(parts)]
    .flatMap((node) => [node, ...node.querySelectorAll("*")].map((one) => [node, one]));
  for (const [node, one] of pairs) {
    const style = getComputedStyle(one), behind = ground(one);
    const texts = [...one.childNodes].filter((child) => child.nodeType === 3);
    const said = texts.map((text) => text.data.trim()).join(" ").trim();
    if (said) found.words.push([said, contrast(over(rgba(style.color), behind), behind)]);
    const edge = rgba(style.borderTopColor), page = ground(node.parentElement);
    if (one.matches(".tb-box, .tb-copy, .tb-broker") && style.borderTopStyle !== "none" && edge[3] > 0)
      found.edges.push([one.textContent, contrast(over(edge, page), page)]);
  }
  return found;
}
"""
# How far the words of a box are from its middle, in px.
OFF_CENTRE = """
(boxes) => boxes.map((box) => {
  const range = document.createRange(); range.selectNodeContents(box);
  const a = box.getBoundingClientRect(), b = range.getBoundingClientRect();
  const across = a.left + a.right - b.left - b.right, down = a.top + a.bottom - b.top - b.bottom;
  return Math.max(Math.abs(across), Math.abs(down)) / 2;
})
"""
# What an attribute of a style sheet makes of the same cell, drawn by the panel and by its still.
LOOKS = """
(cells) => cells.map((cell) => {
  const style = getComputedStyle(cell);
  return [cell.innerText.trim(), style.borderTopStyle, style.borderTopWidth, style.borderTopColor,
    style.backgroundColor, style.color, style.fontWeight, style.fontSize, style.textAlign];
})
"""
# Draws a frame anew and holds what moves in it at its beginning, in one go: it is over in a second.
HELD = """
(frame) => {
  document.querySelector(".tb").replaceChildren();
  put("frame", frame);
  return document.getAnimations().map((one) => { one.pause(); one.currentTime = 0; }).length;
}
"""


@cache
def page(theme):
    """Return all pictures as nbconvert makes a page of a saved notebook."""
    shown = [one._repr_mimebundle_() for one in (*PICTURES, four_topics().show())]
    outputs = [{"output_type": "display_data", "data": data, "metadata": {}} for data in shown]
    cell = {"cell_type": "code", "id": "a", "metadata": {}, "source": "", "execution_count": 1}
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell | {"outputs": outputs}]}
    words = ["--to", "html", "--theme", theme, "--no-input", "--stdin", "--stdout"]
    command = [sys.executable, "-m", "nbconvert", *words]
    given = json.dumps(notebook).encode()
    return subprocess.run(command, input=given, capture_output=True, check=True).stdout.decode()


@pytest.mark.parametrize("width", [700, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_words_and_lines_can_be_seen_in_a_saved_notebook(watched, theme, width):
    sheet = watched.page
    sheet.set_viewport_size({"width": width, "height": 900})
    sheet.set_content(page(theme))
    watched.keep(f"pictures-{theme}-{width}")
    found = sheet.evaluate(CONTRASTS, PARTS)
    assert len(found["words"]) > 300
    assert len(found["edges"]) > 100
    assert [pair for pair in found["words"] if pair[1] < 4.5] == []
    assert [pair for pair in found["edges"] if pair[1] < 3] == []
    assert watched.barriers(PARTS) == []
    assert watched.barriers(".tb-time") == []
    wider = "(all) => all.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.innerText)"
    assert sheet.locator(".tb-wide").evaluate_all(wider) == []
    assert sheet.evaluate("document.documentElement.scrollWidth") <= width


def test_pictures_sit_straight(watched):
    watched.page.set_content(page("light"))
    off = watched.page.locator(".tb-picture .tb-box").evaluate_all(OFF_CENTRE)
    assert max(off) <= 1
    widths = "(all) => all.map((one) => Math.round(one.getBoundingClientRect().width))"
    for columns in (".tb-picture:has(th.tb-b3)", ".tb-still .tb-brokers"):
        for part in watched.page.locator(columns).all():
            found = part.locator("th[class*='tb-b'], .tb-broker").evaluate_all(widths)
            assert max(found) - min(found) <= 1, found
    line = "parseFloat(getComputedStyle(one).lineHeight)"
    lines = f"(all) => all.map((one) => Math.round(one.offsetHeight / {line}))"
    assert set(watched.page.locator(".tb-still > :first-child b").evaluate_all(lines)) == {1}


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_large_words_of_the_page_make_large_pictures(watched, dark):
    sheet = watched.page
    sheet.set_content(page("dark" if dark else "light"))
    size = "parseFloat(getComputedStyle(document.querySelector('.tb-picture')).fontSize)"
    before = sheet.evaluate(size)
    sheet.add_style_tag(content="body { --jp-content-font-size1: 21px !important }")
    assert sheet.evaluate(size) > 1.4 * before
    watched.keep(f"pictures-{'dark' if dark else 'light'}-150")


def test_a_still_looks_as_the_panel_looks(panel, watched):
    for number, frame in enumerate((KILLED, TROUBLE)):
        sheet = panel({**frame, "buttons": False}, 1280)  # nobody can press anything in a still
        live = sheet.locator(".tb-topic .tb-copy").evaluate_all(LOOKS)
        cards = sheet.locator(".tb-broker").evaluate_all(LOOKS)
        words = sheet.locator(".tb-broker .tb-note").all_inner_texts()
        events = sheet.locator(".tb-events li > span:last-child").all_inner_texts()
        watched.keep(f"still-panel-{number}")
        body = still(frame)._repr_mimebundle_()["text/html"]
        sheet.set_content(
            f'<!doctype html><html lang="en"><title>Still</title><body style="margin:8px">{body}'
        )
        watched.keep(f"still-saved-{number}")
        assert [one[1:] for one in live] == [one[1:] for one in sheet.locator(".tb-copy").evaluate_all(LOOKS)]
        assert [one[1:] for one in cards] == [
            one[1:] for one in sheet.locator(".tb-broker").evaluate_all(LOOKS)
        ]
        assert sheet.locator(".tb-broker .tb-note").all_inner_texts() == words
        assert sheet.locator(".tb-events li > span:last-child").all_inner_texts() == events[-5:]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_what_has_just_changed_can_be_read_at_once(panel, watched, dark):
    watched.page.emulate_media(reduced_motion="no-preference")
    sheet = panel(KILLED, 1280, dark)
    assert sheet.evaluate(HELD, KILLED) > 20, "signs, words and bars of what the kill has changed"
    watched.keep(f"panel-flash-{'dark' if dark else 'light'}")
    found = sheet.evaluate(CONTRASTS, ".tb-brokers, .tb-topic")
    assert [pair for pair in found["words"] if pair[1] < 4.5] == []


class Bare(HTMLParser):
    """What GitHub leaves of a page: no style sheets, styles, classes, scripts, forms and coded images."""

    tags = frozenset(
        {"a", "b", "br", "code", "details", "div", "em", "figcaption", "figure", "i", "li", "ol", "p", "pre"}
        | {"span", "strong", "summary", "table", "tbody", "td", "th", "thead", "tr", "ul"}
    )
    kept = frozenset({"colspan", "rowspan", "scope"})

    def __init__(self):
        super().__init__()
        self.left, self.inside = [], 0

    def handle_starttag(self, tag, given):
        self.inside += tag in ("style", "script")
        if tag in self.tags:
            told = "".join(f' {name}="{value}"' for name, value in given if name in self.kept)
            self.left.append(f"<{tag}{told}>")

    def handle_endtag(self, tag):
        self.inside -= tag in ("style", "script")
        if tag in self.tags:
            self.left.append(f"</{tag}>")

    def handle_data(self, words):
        if not self.inside:
            self.left.append(escape(words))


def bare(one):
    parser = Bare()
    parser.feed(one._repr_mimebundle_()["text/html"])
    return "".join(parser.left)


@pytest.mark.parametrize("one", PICTURES, ids=lambda one: getattr(one, "title", "still"))
def test_a_picture_lives_where_styles_and_images_are_taken_away(watched, one):
    html = bare(one)
    assert "style=" not in html
    watched.page.set_content(f'<!doctype html><html lang="en"><title>Bare</title><main>{html}</main>')
    watched.keep(f"bare-{PICTURES.index(one)}")
    shown = watched.page.locator("main").inner_text()
    assert shown.index("The same in words") > 40, "the picture itself says something"
    watched.page.set_content(one._repr_mimebundle_()["text/html"])
    words = watched.page.locator(PARTS).inner_text().split()
    assert sorted(words) == sorted(shown.partition("The same in words")[0].split()), "no word more, none less"


def test_a_time_line_leaves_words_and_nothing_else_where_images_are_taken_away(watched):
    html = bare(four_topics().show())
    assert "data:" not in html
    watched.page.set_content(f'<html lang="en"><title>Bare</title><main>{html}</main>')
    assert watched.page.locator("input").count() == 0
    watched.page.get_by_text("The same in words").click()
    assert "kill broker 1: new leaders" in watched.page.locator("main").inner_text()
