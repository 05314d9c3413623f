"""The progress as a page, and the button that puts an exercise back: light and dark, by the keyboard."""

import json

import pytest
from playwright.sync_api import expect

from tests.browser.test_buttons import DARK, MODEL
from threebrokers import progress
from threebrokers.predictions import question as predictions
from threebrokers.quiz import question as quizzes
from threebrokers.report import collect, page
from threebrokers.report.shown import HERE, KEPT

# In how many lines the signs of a lab's exercises stand.
LINES = """(rows) => rows.map((row) =>
  new Set([...row.querySelectorAll("[role=img]")].map((sign) => sign.getBoundingClientRect().top)).size)"""


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    progress.record("3.1", solved=True)
    progress.record("3.2", solved=False)
    for name, asked in predictions.of_lab("03").items():
        progress.record_guess(name, progress.Guess(asked.answers[0].answer, asked.answers[1].answer))
    for name, quiz in quizzes.of_lab("03").items():
        progress.record_answer(name, quiz.answers[0].answer, right=quiz.answers[0].right)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [320, 700, 1280])
def test_the_page_is_read_by_everybody_and_fits(watched, width, dark):
    shown = watched.page
    shown.emulate_media(color_scheme="dark" if dark else "light")
    shown.set_viewport_size({"width": width, "height": 900})
    shown.set_content(page(collect()))
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    watched.keep(f"progress-{width}{'-dark' if dark else ''}")
    assert [lines for lines in shown.locator("tbody tr").evaluate_all(LINES) if lines != 1] == []
    assert watched.barriers("main") == []
    assert (watched.errors, watched.outside) == ([], [])


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_an_exercise_is_put_back_by_the_keyboard_alone(watched, dark):
    state = {"lab": "03", "exercises": [["3.1", "Survive one"], ["3.2", "Count"]], "note": KEPT}
    script = (HERE / "reset.js").read_text().replace("export default", "const widget =")
    shown = watched.page
    shown.set_content(
        '<!doctype html><html lang="en"><title>Reset</title>'
        f"<style>{(HERE / 'reset.css').read_text()}</style>"
        f'<body style="margin: 8px; {DARK if dark else ""}"><main></main><script type="module">'
        f"{script}{MODEL.replace('STATE', json.dumps(state))}</script>"
    )
    expect(shown.get_by_role("status")).to_have_text(KEPT)
    shown.keyboard.press("Tab")
    expect(shown.get_by_role("combobox", name="Exercise")).to_be_focused()
    shown.keyboard.press("ArrowDown")
    shown.keyboard.press("Tab")
    shown.keyboard.press("Enter")
    shown.wait_for_function("sent.length")
    assert shown.evaluate("sent") == [{"exercise": "3.2"}]
    shown.evaluate("put('note', 'It is as it was.')")
    expect(shown.get_by_role("status")).to_have_text("It is as it was.")
    assert watched.barriers(".tb-reset") == []
    assert watched.errors == []
