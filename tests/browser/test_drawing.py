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
    known = [KILL, *actions]
    told = events(state(12.6), look, known)
    return frame(look, Scene(begun=0.0, events=told, actions=known, topics=["failsafe"], **more))


CALM = drawn(replace(state(10.0), groups=(READERS,)))
KILLED = drawn(replace(after_a_kill(14.3), groups=(READERS,)), costs={1: "This takes the quorum away", 3: ""})
CUT = Action(19.0, "cut", 1, "from the other brokers and the quorum")
QUORUM = "This takes the quorum away: of 3 voters only broker 2 would be left"
CUT_OFF = drawn(replace(state(20.0), groups=(READERS,)), CUT, costs={3: QUORUM})
HEALED = drawn(replace(state(22.0), groups=(READERS,)), CUT, Action(21.0, "heal", 1))
AGAIN = (broker(1), broker(2, "unknown", since=18.0), broker(3))
STARTING = drawn(state(20.0, brokers=AGAIN, groups=(READERS,)), Action(18.0, "start", 2))


def many(**more):
    """Draw 51 topics; in one of seven not all replicas are in sync."""
    topics = [topic(partition(0, 1, (1,) if n % 7 == 0 else (1, 2, 3)), name=f"topic-{n}") for n in range(51)]
    return drawn(state(20.0, topics=tuple(topics)), **more)


MANY = many()
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
  ...document.querySelectorAll(
    ".tb-links, .tb-broker, .tb-buttons, .tb-buttons button, .tb-events, .tb-topic tr, .tb-copy",
  ),
].map((node) => {
  const { x, y, width, height } = node.getBoundingClientRect();
  return [x, y, width, height];
})
"""


def put(page, name, value):
    page.evaluate("([name, value]) => put(name, value)", [name, value])


@pytest.mark.parametrize("width", [320, 560, 700, 1440])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_everything_can_be_read(show, watched, width, dark):
    pictures = {"killed": KILLED, "trouble": TROUBLE, "cut": CUT_OFF, "many": MANY}
    for name, picture in pictures.items():
        page = show(picture, width, dark)
        put(page, "frame", picture)  # news: else, on a busy machine, the page says that there were none
        watched.keep(f"panel-{name}-{'dark' if dark else 'light'}-{width}")
        if width == 1440:
            watched.keep_as_others_see_it(f"panel-{name}-{'dark' if dark else 'light'}")
        assert watched.measured_barriers() == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width, "it is wider than its window"
    assert watched.errors == []
    assert watched.outside == []


SENTENCES = """
.tb-line, .tb-broker .tb-note, .tb-fold, .tb-sums b, .tb-legend span, .tb-events li, .tb-group li
"""


@pytest.mark.parametrize("width", [320, 560, 700, 960])
def test_no_sentence_is_cut_off(show, watched, width):
    unnoticed = state(14.3, brokers=(broker(1), broker(2, "down", registered=True), broker(3)))
    for picture in (drawn(unnoticed), MANY, TROUBLE):
        page = show(picture, width)
        watched.keep(f"panel-notes-{width}")
        told = page.locator(SENTENCES).evaluate_all(
            "(all) => all.map((one) => [one.scrollWidth - one.clientWidth, one.textContent])"
        )
        assert [words for over, words in told if over > 1] == []
        notes = page.locator(".tb-broker .tb-note").all_text_contents()
    assert notes[0] == "from the other brokers and the quorum; ♛ active controller"


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


@pytest.mark.parametrize("width", [320, 560, 700, 960, 1280])
def test_nothing_jumps(show, width):
    page = show(CALM, width)
    put(page, "frame", CALM)
    before = page.evaluate(PLACES)
    assert len(before) > 50
    stays = [(KILLED, 2, "down"), (CUT_OFF, 1, "cut off"), (STARTING, 2, "starting"), (HEALED, 1, "up")]
    for picture, number, word in stays:
        put(page, "frame", picture)
        expect(page.locator(f".tb-broker.tb-b{number} .tb-state")).to_contain_text(word)
        assert page.evaluate(PLACES) == before, word
    lost = drawn(replace(state(30.0, down=(2, 3)), groups=(READERS,)))
    put(page, "frame", lost)
    expect(page.locator(".tb-notice")).to_contain_text("The quorum is lost")
    if width >= 960:  # else the sentence has a line of its own
        assert page.evaluate(PLACES) == before
    for picture, press in ((KILLED, "kill 1"), (CUT_OFF, "cut 3")):
        put(page, "frame", picture)
        page.locator(f'[data-press="{press}"]').click()
        expect(page.get_by_role("alertdialog")).to_be_visible()
        assert page.evaluate(PLACES) == before
        page.keyboard.press("Escape")


LINES = """
(box) => {
  const { top, bottom } = box.getBoundingClientRect();
  const edges = [...box.querySelectorAll("li")].flatMap((one) => {
    const height = parseFloat(getComputedStyle(one).lineHeight), from = one.getBoundingClientRect().top;
    return Array.from({ length: Math.round(one.offsetHeight / height) }, (_, line) => from + line * height);
  });
  const line = parseFloat(getComputedStyle(box.querySelector("li")).lineHeight);
  const cutBy = (edge, from) => from < edge - 2 && from + line > edge + 2;
  return edges.filter((from) => cutBy(top, from) || cutBy(bottom, from));
}
"""


@pytest.mark.parametrize("width", [320, 700, 960])
def test_of_what_happened_only_whole_lines_are_shown(show, width):
    told = KILLED | {"events": KILLED["events"] * 5}
    page = show(told, width)
    put(page, "frame", told)
    assert page.locator(".tb-events").evaluate("(box) => box.scrollTop") > 0
    assert page.locator(".tb-events").evaluate(LINES) == []


def test_a_cut_is_drawn_and_said(show):
    page = show(CALM)
    links = page.locator(".tb-links")
    expect(links).to_have_attribute("aria-label", "links: all whole")
    put(page, "frame", CUT_OFF)
    expect(links).to_have_attribute("aria-label", "links: 1–2 cut, 1–3 cut, 2–3 whole")
    expect(links.locator(".tb-side-cut")).to_have_count(2)
    expect(links.locator(".tb-broken")).to_have_text(["✕", "✕"])
    dashes = links.locator("line").evaluate_all(
        "(all) => all.map((one) => getComputedStyle(one).strokeDasharray)"
    )
    assert [dash == "none" for dash in dashes] == [False, False, True]
    card = page.locator(".tb-broker.tb-b1")
    expect(card.locator(".tb-state")).to_have_text("✂ cut off")
    assert card.evaluate("(one) => getComputedStyle(one).borderTopStyle") == "dashed"


def test_links_are_cut_and_mended_by_keyboard(show):
    page = show(CALM)
    cut = page.get_by_role("button", name="cut the links of broker 1")
    cut.focus()
    page.keyboard.press("Enter")
    assert page.evaluate("sent") == [{"kind": "cut", "broker": 1, "force": False}]
    put(page, "frame", CUT_OFF)
    expect(page.get_by_role("button", name="heal the links of broker 1")).to_be_focused()
    page.keyboard.press("Enter")
    assert page.evaluate("sent.at(-1)") == {"kind": "heal", "broker": 1, "force": False}
    page.get_by_role("button", name="cut the links of broker 3").focus()
    page.keyboard.press("Enter")
    question = page.get_by_role("alertdialog", name="cut broker 3?")
    expect(question).to_contain_text(QUORUM)
    page.keyboard.press("Enter")
    assert page.evaluate("sent.at(-1)") == {"kind": "cut", "broker": 3, "force": True}


@pytest.mark.parametrize("width", [320, 700, 960])
def test_a_question_stands_under_the_card_that_was_pressed(show, width):
    page = show(KILLED | {"brokers": [b | {"cost": QUORUM} for b in KILLED["brokers"]]}, width)
    for number in (1, 3):
        page.locator(f'[data-press="kill {number}"]').click()
        card, asked = (
            page.locator(place).bounding_box() for place in (f".tb-broker.tb-b{number}", ".tb-question")
        )
        assert 0 <= asked["y"] - (card["y"] + card["height"]) < 10
        assert card["x"] - 10 <= asked["x"] or card["x"] + card["width"] <= asked["x"] + asked["width"]
        assert asked["x"] >= 0
        assert asked["x"] + asked["width"] <= width
        page.keyboard.press("Escape")


def test_a_start_is_drawn_calmly(show):
    page = show(STARTING)
    colour = "(one) => getComputedStyle(one).color"
    alarm = show(KILLED).locator(".tb-b2 .tb-state").evaluate(colour)
    put(page, "frame", STARTING)
    expect(page.locator(".tb-broker.tb-b2 .tb-state")).to_have_text("◔ starting")
    assert page.locator(".tb-broker.tb-b2 .tb-state").evaluate(colour) != alarm
    assert page.locator(".tb-copy.tb-start").first.evaluate(colour) != alarm
    expect(page.locator(".tb-legend")).to_contain_text("◔ starting")


def test_many_topics_are_one_line_and_those_in_trouble(show):
    page = show(MANY)
    put(page, "frame", MANY)
    expect(page.locator(".tb-sums b")).to_have_text("✕ 51 topics, 51 partitions: 8 with replicas out of sync")
    folds = page.locator(".tb-fold")
    assert folds.nth(0).inner_text() == "▸ topic-0 ✕ 1 partition; 1 with fewer than 3 replicas in sync"
    expect(folds).to_have_count(10)
    fine = page.get_by_role("button", name="43 topics, all in sync")
    fine.focus()
    page.keyboard.press("Enter")
    expect(fine).to_have_attribute("aria-expanded", "true")
    expect(folds).to_have_count(53)
    page.keyboard.press("Enter")
    expect(folds).to_have_count(10)
    worse = many()
    for one in worse["topics"]:
        one["trouble"] = one["there"]
    put(page, "frame", worse)
    expect(page.get_by_role("button", name="43 topics more with trouble")).to_be_visible()


def test_topics_are_found_by_a_part_of_their_name(show):
    page = show(MANY)
    page.get_by_label("filter").focus()
    page.keyboard.type("C-4")
    expect(page.locator(".tb-found")).to_have_text('11 of 52 topics have "C-4" in their name')
    expect(page.locator(".tb-fold b")).to_have_text([f"topic-{n}" for n in (4, *range(40, 50))])
    put(page, "frame", many(opened={"topic-44": True}))
    expect(page.get_by_label("filter")).to_be_focused()
    expect(page.get_by_role("region", name="Topic topic-44").locator("tbody tr")).to_have_count(1)
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    expect(page.locator(".tb-found")).to_have_count(0)
    expect(page.locator(".tb-fold b").last).to_have_text("topic-44"), "it is open, so it stays in sight"


SMALLEST = """
() => Math.min(...[...document.querySelectorAll(".tb *")].filter((one) => {
  const said = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  return said && one.getBoundingClientRect().width > 1;
}).map((one) => parseFloat(getComputedStyle(one).fontSize) * (one.ownerSVGElement?.getScreenCTM().a ?? 1)))
"""


def test_letters_follow_the_page_and_the_room(show):
    page = show(CUT_OFF)
    assert page.evaluate(SMALLEST) >= 12
    page.evaluate("document.body.style.setProperty('--jp-content-font-size1', '28px')")
    assert page.evaluate(SMALLEST) >= 24
    page = show(CUT_OFF, 1280, big=True)
    assert page.evaluate(SMALLEST) >= 18
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


@pytest.mark.parametrize("width", [560, 740, 780])
def test_a_broker_and_its_state_have_a_line_each_where_one_is_too_short(show, width):
    frozen = state(14.3, brokers=(broker(1), broker(2, "paused"), broker(3)))
    heads = show(drawn(frozen), width, big=True).locator(".tb-head b")
    assert heads.nth(3).inner_text() == "❚❚ paused"
    # Words that were broken would have the height of two lines.
    lines = "(all) => all.map((one) => one.offsetHeight / parseFloat(getComputedStyle(one).fontSize))"
    assert max(heads.evaluate_all(lines)) < 2


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


REACHED = "document.activeElement.dataset.press ?? document.activeElement.className"


def test_a_card_is_one_stop_of_the_tab_key_and_arrows_go_along_its_buttons(show):
    page = show(CALM)
    keys = {"Tab": ["tb-events", "stop 1", "stop 2"], "End": ["start 2"], "ArrowRight": ["stop 2", "kill 2"]}
    keys |= {"Shift+Tab": ["stop 1"], "ArrowLeft": ["start 1", "cut 1"], "Home": ["stop 1"]}
    for key, places in keys.items():
        for place in places:
            page.keyboard.press(key)
            assert page.evaluate(REACHED) == place
    put(page, "frame", KILLED)
    for place in ("kill 2", "stop 3", "tb-fold tb-trouble"):  # the one that was reached last, then the topic
        page.keyboard.press("Tab")
        assert page.evaluate(REACHED) == place
    expect(page.get_by_role("toolbar", name="Broker 2").get_by_role("button")).to_have_count(5)


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
    expect(slider).to_have_js_property("value", "3")
    expect(page.get_by_role("button", name="play")).to_be_visible()
    page.get_by_role("button", name="go to 0.3 s: you killed broker 2").click()
    expect(slider).to_have_js_property("value", "2")
    slider.press("ArrowLeft")
    expect(slider).to_have_attribute("aria-valuetext", "0.2 s")
