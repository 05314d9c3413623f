"""The picture of why a consumer gets nothing: narrow and wide, light and dark, without a kernel."""

from dataclasses import replace

import pytest

from tests.browser.test_drawing import DARK
from tests.unit.why_empty.test_explain import FACTS, MINE, PLACE, answered, with_place

TIGHT = {"committed": 140, "position": 146, "stable": 160, "readable": 180, "end": 200}
LONG = {"committed": 999_980, "position": 999_985, "stable": 999_990, "readable": 999_995, "end": 1_000_000}
FULL = [replace(PLACE, id=number, committed=9 - (number == 5)) for number in range(9)]
FOUND = (
    with_place(start=100, **TIGHT),
    with_place(**LONG),
    with_place(end=0, readable=0, stable=0, committed=None),
    with_place(start=50, end=90, readable=90, stable=90, committed=7),
    with_place(leader=None, start=None),
    replace(FACTS, places=tuple(FULL), client=replace(MINE, assigned=frozenset(range(9)))),
)
# The labels of each bar that touch each other, or leave it.
MET = """
(bars) => bars.flatMap((bar) => {
  const room = bar.getBoundingClientRect();
  const words = [...bar.querySelectorAll(".tb-mark span")]
    .map((one) => [one.textContent, one.getBoundingClientRect()]);
  const out = words.filter(([, b]) => b.left < room.left - 8 || b.right > room.right + 8);
  const met = words.filter(([, a], at) => words.slice(at + 1).some(([, b]) =>
    a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3));
  return [...out, ...met].map(([text]) => text);
})
"""

SMALL = """
(all) => all.filter((one) => parseFloat(getComputedStyle(one).fontSize) < 12 && one.textContent)
  .map((one) => one.outerHTML)
"""


@pytest.mark.parametrize("width", [320, 700, 1280])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_everything_can_be_read(watched, width, dark):
    page = watched.page
    page.set_viewport_size({"width": width, "height": 900})
    shown = "".join(answered(facts)._repr_html_() for facts in FOUND)
    ink = "--jp-content-font-color1: rgba(255, 255, 255, 1);" if dark else ""
    page.set_content(
        f'<!doctype html><html lang="en"><title>Why</title><body style="margin: 8px; {DARK if dark else ""}; '
        f'{ink}"><main>{shown}</main>'
    )
    watched.keep(f"why-empty-{'dark' if dark else 'light'}-{width}")
    assert page.locator(".tb-scale").evaluate_all(MET) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator(".tb-why *").evaluate_all(SMALL) == []
    page.locator("summary").last.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert watched.barriers(".tb-why") == []
