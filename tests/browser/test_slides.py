"""Every slide can be read from the last row, in the sizes of two projectors, and without a network."""

import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tools import ROOT
from tools.slides import build, look


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> list[Path]:
    pages, left = build.build(ROOT, tmp_path_factory.mktemp("slides"))
    assert not left
    return pages


def page_of(pages: list[Path], number: str) -> Path:
    return next(path for path in pages if path.stem.startswith(number))


@pytest.mark.parametrize("number", [path.stem[:2] for path in build.decks(ROOT)])
def test_every_slide_of_a_deck(browser: Browser, pages: list[Path], number: str) -> None:
    assert look.faults(browser, page_of(pages, number)) == []


FAULTS = {
    '<p style="font-size:23px">small</p>': "has letters of 23.0 px",
    '<p style="white-space:nowrap">' + "wide " * 60 + "</p>": "goes beyond the side",
    "<p>high</p>" * 30: "goes beyond the bottom",
    '<p style="color:#bbb">pale</p>': "color-contrast",
    '<figure style="flex:none;height:9px"><p>high</p></figure>': "a picture lies over what is above it",
    '<figure><div class="tb-picture">mute</div></figure>': "a picture has no words",
    '<img src="x.png" alt="x">': "letters that cannot be measured",
    '<img src="https://127.0.0.1:9/x.png" alt="x">': "asks for https://127.0.0.1:9/x.png",
    '<button type="button"></button>': "button-name",
}


def test_the_look_finds_each_fault_and_says_in_which_slide(browser: Browser, pages: list[Path]) -> None:
    good = page_of(pages, "00")
    text = good.read_text("utf-8")
    for number, fault in enumerate(FAULTS, 1):
        foot = f'<p class="foot">Three Brokers · Lab 00 · {number} of'
        assert foot in text
        text = text.replace(foot, fault + foot)
    bad = good.with_name("bad.html")
    bad.write_text(text, "utf-8")
    found = look.faults(browser, bad)
    for number, said in enumerate(FAULTS.values(), 1):
        assert any(said in sentence for sentence in found), said
        measured = [sentence for sentence in found if said in sentence and "slide " in sentence]
        assert all(f"slide {number}:" in sentence for sentence in measured if number < 4)


def test_a_recording_plays_inside_its_slide(browser: Browser, pages: list[Path]) -> None:
    page = browser.new_page(viewport=look.SIZES[0])
    page.clock.install()
    page.goto(page_of(pages, "04").as_uri() + "#/2")
    player = page.locator(".player")
    expect(player.locator(".card")).to_have_count(3)
    expect(player.locator(".card:not(.up)")).to_have_count(0)
    # From here on the page's time goes on only when the test says so: the broker is down for two seconds.
    page.clock.pause_at(datetime.now() + timedelta(hours=1))
    player.get_by_role("button", name="play").click()
    page.clock.run_for(1000)
    expect(player.locator(".card:not(.up)")).to_have_count(1)
    expect(player.locator(".events")).to_contain_text(re.compile("killed broker"))
    player.get_by_role("button", name="pause").click()
    player.get_by_role("slider").fill("5")
    expect(player.locator("output")).to_have_text("5.0 s")
    page.close()


def test_after_a_recording_the_keys_turn_slides_again(browser: Browser, pages: list[Path]) -> None:
    page = browser.new_page(viewport=look.SIZES[0])
    page.goto(page_of(pages, "04").as_uri() + "#/2")
    player = page.locator(".player")
    button = player.get_by_role("button")
    button.focus()
    page.keyboard.press("Space")  # by the keyboard: the button is pressed, and no slide is turned
    expect(button).to_have_text(re.compile("pause"))
    assert page.evaluate("Reveal.getIndices().h") == 2
    button.click()
    player.get_by_role("slider").click()
    moment = player.locator("output").inner_text()
    page.keyboard.press("ArrowRight")  # by hand: the next key is the slides' own
    assert page.evaluate("Reveal.getIndices().h") == 3
    assert player.locator("output").text_content() == moment
    page.close()


def test_no_line_of_a_recording_is_cut(browser: Browser, pages: list[Path]) -> None:
    page = browser.new_page(viewport=look.SIZES[0])
    page.goto(page_of(pages, "04").as_uri() + "#/2")
    slider, lines = page.get_by_role("slider"), page.locator(".player .events")
    for moment in range(0, 56, 5):
        slider.fill(str(moment / 10))
        assert lines.evaluate("(list) => list.scrollHeight <= list.clientHeight")
        assert lines.evaluate("(l) => [...l.children].every((one) => one.scrollWidth <= one.clientWidth)")
    page.close()


def test_a_reveal_keeps_the_letters_of_its_vote(pages: list[Path]) -> None:
    slides = page_of(pages, "04").read_text("utf-8").split("<section>")
    letters = [re.findall(r'class="letter">(\w)<', one) for one in slides if 'class="answers"' in one]
    assert letters[::2] == letters[1::2]


def test_a_deck_is_printed_one_slide_a_sheet(browser: Browser, pages: list[Path]) -> None:
    path = page_of(pages, "00")
    pdf = look.print_one(browser, path).read_bytes()
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == path.read_text("utf-8").count("<section>")
