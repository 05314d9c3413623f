"""A demo is played with one key, from a recording and on real brokers, and the whole room can read it."""

import re
import urllib.request

import pytest
from playwright.sync_api import expect

from threebrokers.cluster import Cluster
from threebrokers.demo.play import playing
from threebrokers.demo.script import numbers
from threebrokers.waiting import quiet_wait
from tools.proof import environment

MS = 1000
WITHIN = 120 * MS  # a busy machine
SIZES = ({"width": 1280, "height": 720}, {"width": 1920, "height": 1080})
OVERFLOW = """() => [...document.querySelectorAll("html, body, #panel, #step, header, footer, #notes")]
  .filter((part) => part.scrollWidth > part.clientWidth + 1 || part.scrollHeight > part.clientHeight + 1)
  .map((part) => part.id || part.localName)"""
# Letters of the step and of the panel, in px.
LETTERS = """() => ["#step", "#panel .tb"].map((part) =>
  parseFloat(getComputedStyle(document.querySelector(part)).fontSize))"""


@pytest.fixture
def recorded():
    with playing("04", print, recorded=True, speed=30) as running:
        yield running


def opened(watched, running):
    watched.page.goto(running.address)
    expect(watched.page.locator("#panel .tb-broker")).to_have_count(3, timeout=WITHIN)


def heading(watched, words):
    expect(watched.page.locator("#step h2")).to_have_text(re.compile(words), timeout=WITHIN)


def key(watched, name):
    watched.page.keyboard.press(name)


def act(watched):
    """Do the act of this step, and wait for its end."""
    key(watched, "Space")
    expect(watched.page.locator("#next")).to_have_text(re.compile("next step"), timeout=WITHIN)


def fits(page, where):
    """Letters are made to fit when the page is drawn next: wait for that."""
    assert quiet_wait(lambda: page.evaluate(OVERFLOW) == [], 20), (where, page.evaluate(OVERFLOW))


def test_a_recorded_demo_is_played_with_one_key(watched, recorded):
    page = watched.page
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        for size in SIZES:
            page.set_viewport_size(size)
            opened(watched, recorded)
            heading(watched, "What happens in the two seconds")
            key(watched, "s")
            for step in recorded.performance.script.steps:
                key(watched, "Space")
                heading(watched, re.escape(step.title))
                if step.act and (theme, size) == ("light", SIZES[0]):
                    act(watched)
                    expect(page.locator(".facts dd").first).to_be_visible()
                elif step.act:
                    recorded.performance.press("next")
                    recorded.performance.wait(60)
                expect(page.locator("#notes")).to_contain_text(step.note[:20].replace("`", ""))
                fits(page, f"{step.title} at {size}")
                room, panel = page.evaluate(LETTERS)
                assert room >= 13 * size["height"] / 720
                assert panel >= 10
            watched.keep(f"demo-{theme}-{size['width']}")
            recorded.performance.press("rest")
            recorded.performance.wait(60)
    assert (watched.errors, watched.outside) == ([], [])


@pytest.mark.parametrize("number", numbers())
def test_each_recorded_demo_goes_to_its_end(watched, number):
    page = watched.page
    page.set_viewport_size(SIZES[0])
    with playing(number, print, recorded=True, speed=300) as running:
        opened(watched, running)
        for step in running.performance.script.steps:
            key(watched, "Space")
            heading(watched, re.escape(step.title))
            if step.act:
                act(watched)
                assert running.performance.scene()["state"] == "done"
            if step.timeline:
                expect(page.locator("#step img")).to_be_visible(timeout=WITHIN)
            fits(page, step.title)
        expect(page.locator("#step li.right")).to_have_count(1)
        expect(page.locator("#next")).to_contain_text("the end")
        watched.keep(f"demo-{number}-end-light")
        key(watched, "t")
        watched.keep(f"demo-{number}-end-dark")
    assert (watched.errors, watched.outside) == ([], [])


def test_the_vote_is_answered_and_drawn(watched, recorded):
    page = watched.page
    opened(watched, recorded)
    key(watched, "Space")
    act(watched)
    key(watched, "Space")
    expect(page.locator(".answers li")).to_have_count(4)
    expect(page.locator(".answers .right")).to_have_count(0)
    assert watched.measured_barriers("body") == []
    while recorded.performance.scene()["next"]:
        recorded.performance.press("next")
        recorded.performance.wait(60)
    expect(page.locator(".answers .right")).to_contain_text("until the network is mended", timeout=WITHIN)
    assert watched.measured_barriers("body") == []
    key(watched, "ArrowLeft")
    expect(page.locator(".timeline img")).to_have_attribute("alt", re.compile("Time line"), timeout=WITHIN)
    key(watched, "t")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert watched.measured_barriers("body") == []
    page.screenshot(path=watched.place("demo-timeline-dark"))


def test_keys_show_the_panel_alone_and_go_back_to_rest(watched, recorded):
    page = watched.page
    opened(watched, recorded)
    expect(page.locator("#panel")).to_contain_text("A recording of the cluster")
    key(watched, "Space")
    heading(watched, "A sensor writes")
    expect(page.locator("#step")).to_have_attribute("aria-live", "polite")
    key(watched, "p")
    expect(page.locator("#step")).to_be_hidden()
    page.screenshot(path=watched.place("demo-panel"))
    key(watched, "p")
    page.locator("#panel summary").click()
    expect(page.locator("#panel .tb-words pre")).to_contain_text("Broker 1: up")
    page.evaluate("document.activeElement.blur()")
    key(watched, "Escape")
    heading(watched, "What happens in the two seconds")
    expect(page.locator("#place")).to_contain_text("at rest")
    page.get_by_role("button", name="begin").click()
    heading(watched, "A sensor writes")


def test_a_leader_is_killed_on_real_brokers_and_all_is_as_before_at_the_end(watched):
    with environment.bench():
        with playing("04", print) as running:
            opened(watched, running)
            expect(watched.page.locator("#panel")).to_contain_text("The cluster, live")
            key(watched, "Space")
            act(watched)
            for title in ("goes silent, in four ways", "Stop: ", "Kill: "):
                if running.performance.scene()["heading"].startswith("Stop"):
                    act(watched)
                key(watched, "Space")
                heading(watched, title)
            key(watched, "Space")
            expect(watched.page.locator("#panel .tb-events")).to_contain_text("killed broker", timeout=WITHIN)
            expect(watched.page.locator("#next")).to_have_text(re.compile("next step"), timeout=WITHIN)
            facts = watched.page.locator(".facts").inner_text()
            assert re.search(r"the leader moved\s+broker \d → \d", facts)
            assert "the monitor got no delivery for" in facts
            watched.page.screenshot(path=watched.place("demo-live"))
            Cluster().kill(Cluster().state(["sensor"]).topic("sensor").partitions[0].leader)
            key(watched, "b")
            expect(watched.page.locator("#place")).to_contain_text("at rest", timeout=WITHIN)
            assert {process.state for process in Cluster().processes().values()} == {"up"}
        assert {process.state for process in Cluster().processes().values()} == {"down"}
        expect(watched.page.locator("#place")).to_contain_text("the demo has ended", timeout=WITHIN)
    assert watched.outside == []


def test_without_the_token_nobody_sees_it(recorded):
    address = recorded.address.partition("?")[0]
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.build_opener(urllib.request.ProxyHandler({})).open(address)
