"""A quiz, without a kernel: by the keyboard alone, on light and on dark pages, for everybody."""

import json

import pytest
from playwright.sync_api import expect

from tests.browser.test_buttons import DARK, MODEL
from threebrokers import progress
from threebrokers.choices.buttons import HERE
from threebrokers.quiz import Quiz, question, twin

TRAITS = (
    "question",
    "question_html",
    "answers",
    "answers_html",
    "words",
    "again",
    "chosen",
    "truth",
    "note_html",
)


class Page:
    """A page with one question of a quiz: what is pressed is told to the quiz, what that shows is drawn."""

    def __init__(self, watched, quiz, *, width=960, dark=False):
        self.page, self.buttons = watched.page, next(iter(quiz.asked.values())).buttons
        self.page.set_viewport_size({"width": width, "height": 700})
        state = json.dumps({name: getattr(self.buttons, name) for name in TRAITS})
        script = (HERE / "buttons.js").read_text().replace("export default", "const widget =")
        self.page.set_content(
            '<!doctype html><html lang="en"><title>Quiz</title>'
            f"<style>{(HERE / 'buttons.css').read_text()}</style>"
            f'<body style="margin: 8px; {DARK if dark else ""}"><main></main><script type="module">'
            f"{script}{MODEL.replace('STATE', state)}</script>"
        )
        self.page.get_by_role("group").wait_for()

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)
        for message in self.page.evaluate("sent.splice(0)"):
            self.buttons._handle_custom_msg(message, [])
        for name in ("chosen", "truth", "note_html"):
            self.page.evaluate("([name, value]) => put(name, value)", [name, getattr(self.buttons, name)])


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))


@pytest.fixture
def quiz():
    return Quiz(dict([next(iter(question.read("03").items()))]))


def test_it_is_answered_and_answered_again_by_the_keyboard_alone(watched, quiz):
    shown = Page(watched, quiz)
    page = shown.page
    shown.press("Tab")
    expect(page.get_by_role("button").first).to_be_focused()
    shown.press("Tab", "Space")
    answers = page.locator(".tb-answer")
    expect(answers.nth(1)).to_have_attribute("aria-description", "your answer, not right")
    expect(answers.nth(2)).to_have_attribute("aria-description", "the right answer")
    expect(page.get_by_role("status")).to_contain_text("No. The quorum elects the active controller.")
    assert not progress.answers()["3.q1"].right
    again = page.get_by_role("button", name="Answer again")
    expect(again).to_be_focused()
    assert "solid" in again.evaluate("one => getComputedStyle(one).outlineStyle")
    shown.press("Enter")
    expect(answers.first).to_be_focused()
    expect(again).to_be_hidden()
    shown.press("Tab", "Tab", "Enter")
    expect(page.get_by_role("status")).to_contain_text("Right. `all`".replace("`", ""))
    expect(answers.nth(2)).to_have_attribute("aria-description", "your answer, right")
    assert page.locator(".tb-sign").all_inner_texts() == ["", "", "✓"]
    assert not progress.answers()["3.q1"].right
    assert watched.errors == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [320, 960])
def test_it_is_read_by_everybody_and_fits(watched, quiz, width, dark):
    shown = Page(watched, quiz, width=width, dark=dark)
    assert watched.barriers(".tb-predict") == []
    shown.press("Tab", "Enter")
    assert watched.barriers(".tb-predict") == []
    assert shown.page.evaluate("document.documentElement.scrollWidth") <= width
    watched.keep(f"quiz-{width}{'-dark' if dark else ''}")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_its_twin_is_read_by_everybody(watched, dark):
    html = twin.page(question.read("02"))
    watched.page.set_content(
        f'<!doctype html><html lang="en"><title>Quiz</title><body style="{DARK if dark else ""}; '
        f'color: {"#eee" if dark else "#000"}"><main>{html}</main>'
    )
    watched.page.keyboard.press("Tab")
    watched.page.keyboard.press("Enter")
    expect(watched.page.get_by_text("(right)").first).to_be_visible()
    assert watched.barriers("main") == []
    watched.keep(f"quiz-twin{'-dark' if dark else ''}")
