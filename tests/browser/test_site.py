"""Pages of the site open from files, can be read in both themes and searched, and play recordings."""

import re
from datetime import datetime, timedelta

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tools import ROOT
from tools.site import build
from tools.slides.look import AXE

MS = 1000
PARTS = ("index", "solutions", "slides", "recordings", "terms", "glossary")
TEXTS = ("facts", "guarantees", "reliability", "scaling", "teaching")
DEEP = ("solutions/04_broker_failover", "recordings/04_kill", "recordings/demo04")
PAGES = tuple(f"{name}.html" for name in (*PARTS, *TEXTS, *DEEP))  # decks: test_slides.py
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    build.written(ROOT, folder, ["03", "04"])
    return folder


def opened(watched, site, name):
    watched.page.set_default_timeout(120 * MS)
    watched.page.goto((site / name).as_uri())
    return watched.page


def barriers(page):
    response = Axe().run(page, context="body", options=AXE).response
    return [rule["id"] for rule in response["violations"] if rule["impact"] in ("serious", "critical")]


def only_files(watched):
    return [address for address in watched.outside if not address.startswith("file:")] == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_can_be_read_in_both_themes(watched, site, name):
    for theme in ("light", "dark"):
        watched.page.emulate_media(color_scheme=theme)
        page = opened(watched, site, name)
        assert page.evaluate("document.documentElement.dataset.theme") == theme
        assert barriers(page) == []
        for width in (1280, 700):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate(WIDER) == 0
        page.screenshot(path=watched.place(f"site-{name.partition('/')[2] or name}-{theme}"))
    assert watched.errors == []
    assert only_files(watched)


def test_the_search_finds_a_term_with_the_keyboard_alone(watched, site):
    page = opened(watched, site, "facts.html")
    page.keyboard.press("/")
    page.keyboard.type("high watermark")
    found = page.get_by_role("option")
    expect(found.first).to_contain_text("high watermark", timeout=60 * MS)
    expect(page.locator("#count")).to_have_text(re.compile(r"\d+ sections"))
    assert barriers(page) == []
    page.screenshot(path=watched.place("site-search"))
    page.keyboard.press("ArrowDown")
    expect(found.nth(1)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"solutions/03_replication\.html#"), timeout=60 * MS)
    page.keyboard.press("/")
    page.keyboard.type("nosuchword")
    expect(page.locator("#count")).to_have_text("nothing was found")
    expect(page.locator("#found")).to_be_hidden()
    assert only_files(watched)


def test_a_recording_plays(watched, site):
    watched.page.clock.install()
    page = opened(watched, site, "recordings/04_kill.html")
    player = page.locator(".player").first
    expect(player.locator(".tb-broker")).to_have_count(3)
    expect(player.locator(".tb-down")).to_have_count(0)
    # From here on the page's time goes on only when the test says so: the broker is down for two seconds.
    page.clock.pause_at(datetime.now() + timedelta(hours=1))
    player.get_by_role("button", name="play").click()
    page.clock.run_for(1000)
    expect(player.locator(".tb-down")).to_have_count(1)
    player.get_by_role("button", name="pause").click()
    slider = player.get_by_role("slider")
    slider.fill("0")
    expect(player.locator(".tb-down")).to_have_count(0)
    player.get_by_role("button", name=re.compile("go to .*killed")).click()
    expect(player.locator(".tb-events")).to_contain_text("killed broker")
    player.locator(".tb-fold").first.click()
    expect(player.locator(".tb-topic table")).to_have_count(0)
    assert watched.errors == []


def test_a_reader_chooses_light_or_dark(watched, site):
    page = opened(watched, site, "index.html")
    page.get_by_role("button", name="light, dark").click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
