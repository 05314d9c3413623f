"""What a prediction draws, without a kernel: code as code, and what is pressed, chosen and true."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from threebrokers.choices.buttons import HERE
from threebrokers.predictions.prediction import WORDS
from threebrokers.text import as_html

DARK = "--jp-content-font-color1: #eee; --jp-layout-color0: #111; background: #111"
QUESTION = "What does `acks=1` promise, if <b>all</b> die?"
ANSWERS = ["`nothing`", "one replica", "a & b"]
# Stands in for anywidget's model: it holds the state, tells of changes, and notes what is sent.
MODEL = """
const state = STATE, hear = {};
window.sent = [];
window.put = (name, value) => { state[name] = value; hear[`change:${name}`]?.(); };
const model = {
  get: (name) => state[name], send: (message) => sent.push(message),
  on: (name, hearer) => { hear[name] = hearer; }, off: () => {},
};
widget.render({ model, el: document.querySelector("main") });
"""


@pytest.fixture
def show(watched) -> Callable[..., Page]:
    def show(width=960, dark=False, again=""):
        page = watched.page
        page.set_viewport_size({"width": width, "height": 500})
        state = {"question": QUESTION, "question_html": as_html(QUESTION), "note_html": "Choose."}
        state |= {"answers": ANSWERS, "answers_html": [as_html(answer) for answer in ANSWERS]}
        state |= {"words": WORDS, "again": again, "chosen": None, "truth": None}
        script = (HERE / "buttons.js").read_text().replace("export default", "const widget =")
        page.set_content(
            '<!doctype html><html lang="en"><title>Question</title>'
            f"<style>{(HERE / 'buttons.css').read_text()}</style>"
            f'<body style="margin: 8px; {DARK if dark else ""}"><main></main><script type="module">'
            f"{script}{MODEL.replace('STATE', json.dumps(state))}</script>"
        )
        page.get_by_role("group").wait_for()
        return page

    return show


def test_code_is_shown_as_code_and_nothing_else_is_read_as_html(show) -> None:
    page = show()
    assert page.locator("code").all_inner_texts() == ["acks=1", "nothing"]
    expect(page.locator(".tb-question")).to_have_text("What does acks=1 promise, if <b>all</b> die?")
    expect(page.get_by_role("button", name="a & b")).to_be_visible()
    assert page.locator("b").count() == 0


def test_a_press_asks_python_for_the_answer_as_it_is_written(show) -> None:
    page = show()
    page.get_by_role("button", name="nothing").click()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("sent") == [{"answer": "`nothing`"}, {"answer": "one replica"}]


def test_what_is_chosen_and_what_is_true_is_told_by_a_sign_and_a_word(show, watched) -> None:
    page = show()
    page.evaluate("put('chosen', '`nothing`'); put('note_html', 'You predict: <code>nothing</code>.')")
    chosen, other = page.get_by_role("button", name="nothing"), page.get_by_role("button", name="one replica")
    expect(chosen).to_have_attribute("aria-pressed", "true")
    expect(chosen).to_have_attribute("aria-description", "your answer")
    expect(page.get_by_role("status").locator("code")).to_have_text("nothing")
    page.evaluate("put('truth', 'one replica')")
    expect(chosen).to_have_attribute("aria-description", "your answer, not what happened")
    expect(other).to_have_attribute("aria-description", "this is what happened")
    assert page.locator(".tb-sign").all_inner_texts() == ["✗", "✓", ""]
    assert watched.errors == []


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [320, 960])
def test_it_is_read_by_everybody_and_fits(show, watched, width, dark) -> None:
    page = show(width, dark)
    page.evaluate("put('chosen', '`nothing`')")
    assert watched.barriers(".tb-predict") == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    watched.keep(f"prediction-{width}{'-dark' if dark else ''}")
