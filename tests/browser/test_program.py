"""The box of a program, without a kernel: its buttons by keyboard and by pointer, its look in each state."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from threebrokers.program.display import Box
from threebrokers.program.widget import HERE, LiveBox

DARK = "--jp-content-font-color1: #eee; --jp-layout-color0: #111; color: #eee; background: #111"
# Stands in for anywidget's model: it holds the state, tells of changes, and notes what is sent.
MODEL = """
const state = STATE, hear = {};
window.sent = [];
window.put = (some) => { Object.assign(state, some); for (const name in some) hear[`change:${name}`]?.(); };
window.hear = hear;
const model = {
  get: (name) => state[name], send: (message) => sent.push(message),
  on: (name, hearer) => { hear[name] = hearer; }, off: () => {},
};
widget.render({ model, el: document.querySelector("main") });
"""
RUNS = Box("worker_a", 17, None, "order 1 is booked\norder 2 is booked\n")
ENDED = Box("worker_a", 17, -9, RUNS.output, killed=True)
TRAITS = ("name", "state", "output", "colour", "runs", "doing", "note")


def traits(box: Box) -> dict[str, object]:
    live = LiveBox(box, print)
    return {name: getattr(live, name) for name in TRAITS}


@pytest.fixture
def show(watched) -> Callable[..., Page]:
    def show(box=RUNS, width=960, dark=False):
        page = watched.page
        page.set_viewport_size({"width": width, "height": 300})
        script = (HERE / "widget.js").read_text().replace("export default", "const widget =")
        page.set_content(
            '<!doctype html><html lang="en"><title>Program</title>'
            f"<style>{(HERE / 'widget.css').read_text()}</style>"
            f'<body style="margin: 8px; {DARK if dark else ""}"><main class="jp-Cell" tabindex="0"></main>'
            f'<script type="module">{script}{MODEL.replace("STATE", json.dumps(traits(box)))}</script>'
        )
        page.get_by_role("region", name="Program worker_a").wait_for()
        return page

    return show


def test_it_is_stopped_and_killed_with_the_keyboard_alone(show, watched) -> None:
    page = show()
    page.locator("main").focus()
    for kind in ("stop", "kill"):
        page.keyboard.press("Tab")
        expect(page.get_by_role("button", name=f"{kind} the program worker_a")).to_be_focused()
        page.keyboard.press("Enter")
    assert page.evaluate("sent") == [{"kind": "stop"}, {"kind": "kill"}]
    assert watched.errors == []


def test_what_is_done_is_said_and_not_asked_for_twice(show) -> None:
    page = show()
    stop, kill = (page.get_by_role("button", name=name) for name in ("stop", "kill"))
    page.evaluate("put({ doing: 'stop', note: 'stopping …' })")
    expect(page.get_by_role("status").nth(1)).to_have_text("stopping …")
    expect(stop).to_have_attribute("aria-disabled", "true")
    stop.dispatch_event("click")
    kill.click()  # what does not end when it is asked to
    assert page.evaluate("sent") == [{"kind": "kill"}]
    page.evaluate("put({ doing: 'kill', note: 'killing …' })")
    kill.dispatch_event("click")
    assert page.evaluate("sent.length") == 1


def test_when_it_has_ended_the_keyboard_is_in_its_cell(show) -> None:
    page = show()
    page.get_by_role("button", name="kill").focus()
    page.evaluate("(traits) => put(traits)", traits(ENDED))
    expect(page.locator("main")).to_be_focused()
    expect(page.get_by_role("button")).to_have_count(0)
    page.evaluate("(traits) => put(traits)", traits(RUNS))
    expect(page.get_by_role("button")).to_have_count(2)


def test_a_kernel_that_has_ended_is_said(show) -> None:
    page = show()
    page.evaluate("hear.comm_live_update()")
    expect(page.get_by_role("status").nth(1)).to_contain_text("ended with its kernel")
    expect(page.get_by_role("button")).to_have_count(0)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [320, 960])
def test_it_is_read_by_everybody_and_fits(show, watched, width, dark) -> None:
    page = show(RUNS, width, dark)
    page.evaluate("put({ doing: 'stop', note: 'stopping …' })")
    assert watched.measured_barriers(".tb-program") == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    watched.keep(f"program-{width}{'-dark' if dark else ''}")


def test_nothing_moves_when_the_saved_box_takes_its_place(show) -> None:
    page = show()
    runs = page.locator(".tb-program").bounding_box()
    page.evaluate("(traits) => put(traits)", traits(ENDED))
    ended, words = page.locator(".tb-program").bounding_box(), page.locator(".tb-program b").bounding_box()
    assert ended == runs
    style = "font: 14px sans-serif; --jp-content-font-family: sans-serif"
    page.evaluate(
        """([html, style]) => {
            const main = document.querySelector("main");
            main.style = style;
            main.innerHTML = html;
        }""",
        [ENDED._repr_html_(), style],
    )
    saved, same = page.locator("main > div").bounding_box(), page.locator("b").bounding_box()
    assert saved["height"] == pytest.approx(ended["height"], abs=2)
    assert same["x"] == pytest.approx(words["x"], abs=3)
    assert same["y"] == pytest.approx(words["y"], abs=2)
