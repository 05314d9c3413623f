"""What the panel draws of frames, without a kernel: narrow and wide, light and dark, by keyboard."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from tests.states import after_a_kill, broker, group, member, partition, state, topic
from threebrokers.cluster.actions import Action
from threebrokers.panel.events import events
from threebrokers.panel.frame import Scene, frame
from threebrokers.panel.widget import HERE

DARK = "--jp-ui-font-color1: rgba(255, 255, 255, 1); --jp-layout-color0: #111; background: #111"
# Stands in for anywidget's model: it holds the state, tells of changes, and notes what is sent.
MODEL = """
const state = STATE, hear = {};
window.sent = [];
window.put = (name, value) => { state[name] = value; hear[`change:${name}`]?.(); };
const model = {
  get: (name) => state[name], set: (name, value) => { state[name] = value; }, save_changes: () => {},
  send: (message) => sent.push(message), on: (name, hearer) => { hear[name] = hearer; }, off: () => {},
};
widget.render({ model, el: document.querySelector("main") });
"""
READERS = group(member("worker-a", *range(7)), member("worker-b", *range(7, 13)))
KILL = Action(12.4, "kill", 2)


def drawn(look, *actions, **more):
    told = events(state(12.6), look, [KILL])
    known = [KILL, *actions]
    return frame(look, Scene(begun=0.0, events=told, actions=known, topics=["failsafe"], **more))


CALM = drawn(replace(state(10.0), groups=(READERS,)))
KILLED = drawn(replace(after_a_kill(14.3), groups=(READERS,)), costs={1: "This takes the quorum away", 3: ""})
CUT = Action(19.0, "cut", 1, "from the other brokers and the quorum")
TROUBLE = drawn(
    state(
        20.0,
        brokers=(broker(1), broker(2, "paused"), broker(3, "unknown")),
        topics=(
            topic(
                partition(0, 1, (1, 2), stale_leaders=(2,)),
                partition(1, None),
                partition(2, 1, (1,), high_watermark=290, log_end_offsets=((1, 7340), (3, 300))),
            ),
        ),
    ),
    CUT,
)


@pytest.fixture
def show(watched) -> Callable[..., Page]:
    def show(first, width=960, dark=False, **state):
        page = watched.page
        page.set_viewport_size({"width": width, "height": 900})
        state = {"frame": first, "opened": {}, "times": [], "marks": [], "position": 0, "ended": "", **state}
        script = (HERE / "widget.js").read_text().replace("export default", "const widget =")
        page.set_content(
            f'<!doctype html><html lang="en"><title>Panel</title><style>{(HERE / "widget.css").read_text()}'
            f'</style><body style="margin: 8px; {DARK if dark else ""}"><main></main><script type="module">'
            f"{script}{MODEL.replace('STATE', json.dumps(state))}</script>"
        )
        page.locator(".tb-broker").first.wait_for()
        return page

    return show


PLACES = """
() => [
  ...document.querySelectorAll(".tb-broker, .tb-buttons, .tb-events, .tb-topic tr, .tb-copy"),
].map((node) => {
  const { x, y, width, height } = node.getBoundingClientRect();
  return [x, y, width, height];
})
"""


def put(page, name, value):
    page.evaluate("([name, value]) => put(name, value)", [name, value])


@pytest.mark.parametrize("width", [320, 700, 960])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_everything_can_be_read(show, watched, width, dark):
    for name, picture in (("killed", KILLED), ("trouble", TROUBLE)):
        page = show(picture, width, dark)
        watched.keep(f"panel-{name}-{'dark' if dark else 'light'}-{width}")
        assert watched.barriers() == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width, "it is wider than its window"
    assert watched.errors == []
    assert watched.outside == []


@pytest.mark.parametrize("width", [320, 700, 960])
def test_no_sentence_of_a_card_is_cut_off(show, watched, width):
    unnoticed = state(14.3, brokers=(broker(1), broker(2, "down", registered=True), broker(3)))
    for picture in (drawn(unnoticed), TROUBLE):
        page = show(picture, width)
        watched.keep(f"panel-notes-{width}")
        notes = page.locator(".tb-note").evaluate_all(
            "(notes) => notes.map((note) => [note.scrollWidth - note.clientWidth, note.textContent])"
        )
        assert [words for over, words in notes if over > 0] == []
    assert notes[0][1] == "from the other brokers and the quorum; ♛ active controller"


def test_what_was_seen_at_once_has_one_time(show):
    page = show(KILLED)
    times = page.locator(".tb-events li").evaluate_all("(all) => all.map((one) => one.firstChild.innerText)")
    assert [time.split("\n")[0] for time in times] == ["14.3 s", *["″"] * (len(times) - 1)]
    assert "no order" in page.locator(".tb-events").get_attribute("title")


def test_only_what_is_on_the_screen_is_explained(show):
    legend = show(CALM).locator(".tb-legend")
    expect(legend).to_contain_text("the high watermark")
    expect(legend).to_contain_text("the log end offset")
    expect(legend).not_to_contain_text("replaced")
    put(show(CALM), "frame", TROUBLE)
    expect(legend).to_contain_text("believes that it leads: it was replaced")
    expect(legend).to_contain_text("stored, and not readable")


def test_code_in_a_line_is_set_as_code(show):
    told = CALM | {
        "alarm": "Nobody answers: run `threebrokers doctor`.",
        "events": [
            {
                "at": "1.0 s",
                "kind": "fault",
                "words": "could not start broker 1: see `logs/broker-1.log`, and end",
            }
        ],
    }
    page = show(told)
    put(page, "frame", told)  # news: else, on a busy machine, the line says that there were none
    assert page.locator("code").all_inner_texts() == ["threebrokers doctor", "logs/broker-1.log"]
    assert "`" not in page.locator(".tb-events").inner_text()


@pytest.mark.parametrize("width", [320, 960])
def test_nothing_jumps(show, width):
    page = show(CALM, width)
    before = page.evaluate(PLACES)
    assert len(before) > 50
    put(page, "frame", KILLED)
    expect(page.locator(".tb-broker.tb-b2 .tb-state")).to_contain_text("down")
    assert page.evaluate(PLACES) == before
    page.locator('[data-press="kill 1"]').click()
    expect(page.get_by_role("alertdialog")).to_be_visible()
    assert page.evaluate(PLACES) == before


def test_a_button_that_costs_the_quorum_asks_first(show):
    page = show(KILLED)
    page.locator('[data-press="kill 3"]').click()
    assert page.evaluate("sent") == [{"kind": "kill", "broker": 3, "force": False}]
    kill = page.locator('[data-press="kill 1"]')
    kill.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("alertdialog")).to_contain_text("This takes the quorum away")
    expect(page.locator(".tb-yes")).to_be_focused()
    page.keyboard.press("Escape")
    expect(kill).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # leave it
    assert len(page.evaluate("sent")) == 1
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert page.evaluate("sent.at(-1)") == {"kind": "kill", "broker": 1, "force": True}


def test_a_button_that_does_not_fit_does_nothing(show):
    page = show(KILLED)
    off = page.locator('[data-press="kill 2"]')
    expect(off).to_have_attribute("aria-disabled", "true")
    off.dispatch_event("click")
    assert page.evaluate("sent") == []


def test_focus_stays_while_frames_come(show):
    page = show(CALM)
    page.locator('[data-press="kill 2"]').focus()
    for picture in (KILLED, TROUBLE, CALM):
        put(page, "frame", picture)
    expect(page.locator('[data-press="kill 2"]')).to_be_focused()


def test_a_topic_folds(show):
    page = show(CALM)
    fold = page.locator(".tb-fold")
    expect(fold).to_have_attribute("aria-expanded", "true")
    fold.click()
    folded = json.loads(json.dumps(CALM))
    folded["topics"][0] |= {"open": False, "rows": []}
    put(page, "frame", folded)
    expect(page.locator(".tb-topic table")).to_have_count(0)
    expect(fold).to_have_attribute("aria-expanded", "false")


def test_silence_of_the_kernel_and_the_end_are_said(show):
    page = show(CALM)
    notice = page.locator(".tb-notice")
    expect(notice).to_contain_text("No news for ", timeout=10_000)
    expect(notice).to_contain_text("the buttons rest", timeout=30_000)
    buttons = page.locator(".tb-buttons button")
    assert set(buttons.evaluate_all("(all) => all.map((one) => one.ariaDisabled)")) == {"true"}
    page.locator('[data-press="kill 3"]').dispatch_event("click")
    assert page.evaluate("sent") == []
    put(page, "frame", KILLED)
    expect(notice).not_to_contain_text("No news")
    put(page, "ended", "This panel has ended: run its cell again.")
    expect(notice).to_contain_text("This panel has ended")
    page.locator('[data-press="start 2"]').dispatch_event("click")
    assert page.evaluate("sent") == []


def test_a_recording_plays_and_stops_at_its_end(show):
    still = CALM | {"buttons": False}
    page = show(still, times=[0, 0.2, 0.4, 0.6], marks=[[0.3, "you killed broker 2"]])
    assert page.locator(".tb-buttons").count() == 0
    page.get_by_role("button", name="play").click()
    slider = page.get_by_role("slider")
    expect(slider).to_have_js_property("value", "3", timeout=5000)
    expect(page.get_by_role("button", name="play")).to_be_visible()
    page.get_by_role("button", name="go to 0.3 s: you killed broker 2").click()
    expect(slider).to_have_js_property("value", "2")
    slider.press("ArrowLeft")
    expect(slider).to_have_attribute("aria-valuetext", "0.2 s")
