"""The time line of a recording, as a browser draws it."""

import pytest
from playwright.sync_api import expect

from tests.recordings import a_kill_and_a_pause, four_topics

OVERLAPS = """() => {
  const all = [...document.querySelectorAll('text')].map((e) => [e.textContent, e.getBBox()]);
  const meet = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width
    && a.y + 2 < b.y + b.height - 2 && b.y + 2 < a.y + a.height - 2;
  return all.flatMap(([words, a], n) => all.slice(n + 1).filter(([, b]) => meet(a, b))
    .map(([other]) => [words, other]));
}"""


@pytest.mark.parametrize("make", [a_kill_and_a_pause, four_topics])
def test_no_words_lie_on_others_in_the_fonts_of_this_machine(watched, make):
    watched.page.set_content(make().show().svg)
    assert watched.page.locator("text").count() > 10
    assert watched.page.evaluate(OVERLAPS) == []


@pytest.mark.parametrize("ground", ["#ffffff", "#111111"])
def test_what_happened_can_be_asked_with_the_keyboard(watched, ground):
    html = four_topics().show()._repr_mimebundle_()["text/html"]
    watched.page.set_content(f'<body style="width:700px;background:{ground}">{html}</body>')
    picture = watched.page.locator(".tb-time > img").bounding_box()
    assert picture["width"] == 700
    watched.page.keyboard.press("Tab")
    words = "getComputedStyle(document.activeElement, '::after').content"
    assert watched.page.evaluate(words).startswith('"At 2.0 s: kill broker 1: new leaders ')
    watched.page.keyboard.press("ArrowRight")
    assert watched.page.evaluate(words).startswith('"At ')
    spots = watched.page.locator(".tb-time > input")
    assert (
        watched.page.evaluate("[...document.querySelectorAll('input')].indexOf(document.activeElement)") == 1
    )
    watched.page.keyboard.press("Tab")
    expect(watched.page.locator("summary").first).to_be_focused()  # all boxes together are one stop
    watched.page.keyboard.press("Shift+Tab")
    expect(spots.nth(1)).to_be_focused()
    spots.nth(9).hover()
    other = "getComputedStyle(document.activeElement, '::after').display"
    assert watched.page.evaluate(other) == "none", "one at a time"
    assert watched.barriers(".tb-time") == []
    watched.keep(f"timeline_{ground[1:]}")
    watched.keep_as_others_see_it(f"timeline_{ground[1:]}")
