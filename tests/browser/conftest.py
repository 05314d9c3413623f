"""A browser, and what every page in it must keep to."""

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

BUILD = Path(__file__).parents[2] / "build" / "browser"
# What a page shows waits for kernels and brokers, on a busy machine for longer than Playwright's 5 s.
SEEN_SECONDS = 30
VISIONS = ("deuteranopia", "protanopia")
FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "browser: drives Chromium, which must be installed")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    if program is None:
        pytest.fail("There is no Chromium here: install it, for example with `apt-get install chromium`.")
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium refuses root otherwise
    expect.set_options(timeout=SEEN_SECONDS * 1000)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=FLAGS + sandbox)
        yield started
        started.close()


class Watched:
    """A page, and what went wrong in it: lines on its console, requests to other machines."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.errors: list[str] = []
        self.outside: list[str] = []
        page.on("console", lambda line: self.errors.append(line.text) if line.type == "error" else None)
        page.on("pageerror", lambda fault: self.errors.append(str(fault)))
        page.on("request", lambda request: self._asked(request.url))

    def keep(self, name: str) -> None:
        """Keep a picture of the page as build/browser/<name>.png."""
        self.page.screenshot(path=self.place(name), full_page=True)

    def keep_as_others_see_it(self, name: str) -> None:
        """Keep the page also as people see it who cannot tell red from green, for somebody to look at."""
        usual = self.page.screenshot(full_page=True)
        emulator = self.page.context.new_cdp_session(self.page)
        for vision in VISIONS:
            emulator.send("Emulation.setEmulatedVisionDeficiency", {"type": vision})
            seen = self.page.screenshot(path=self.place(f"{name}-{vision}"), full_page=True)
            assert seen != usual, f"Chromium shows no {vision}"
        emulator.send("Emulation.setEmulatedVisionDeficiency", {"type": "none"})
        emulator.detach()

    @staticmethod
    def place(name: str) -> Path:
        """Return where the picture of this name is kept."""
        BUILD.mkdir(parents=True, exist_ok=True)
        return BUILD / f"{name}.png"

    def barriers(self, context: str = ".tb") -> list[str]:
        """Return what axe finds serious or critical in a part of the page, unless told in the panel."""
        return _serious(Axe().run(self.page, context=context).response)

    def measured_barriers(self, context: str = ".tb") -> list[str]:
        """Return the same, and whatever words there are whose contrast axe could not measure.

        It never can for a single letter, as a sign is, nor for the letters of an SVG: their colours are
        measured in tests/unit/test_theme.py. In a cell of a notebook it measures no contrast at all.
        """
        # Of lines that are scrolled out of sight axe cannot tell.
        self.page.add_style_tag(content=".tb .tb-events { height: auto !important; }")
        # Without options: else it names only one of those that pass.
        found = Axe().run(self.page, context=context, options={}).response
        assert _contrasts(found["passes"]), "the contrast of no word was measured"
        unknown = [html for html in _contrasts(found["incomplete"]) if not _is_sign(html)]
        return _serious(found) + [f"contrast unknown: {html}" for html in unknown]

    def _asked(self, address: str) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("data", "blob", "about") and parts.hostname != "127.0.0.1":
            self.outside.append(address)


def _serious(found: Any) -> list[str]:
    return [
        f"{v['id']}: {node['html']} {node.get('failureSummary', '')}"
        for v in found["violations"]
        if v["impact"] in ("serious", "critical")
        for node in v["nodes"]
    ]


def _contrasts(rules: Any) -> list[str]:
    return [node["html"] for rule in rules if rule["id"] == "color-contrast" for node in rule["nodes"]]


def _is_sign(html: str) -> bool:
    return html.startswith("<text") or len(re.sub("<[^>]*>|[^\\S\u202f]", "", html)) <= 2


@pytest.fixture
def watched(browser: Browser) -> Iterator[Watched]:
    page = browser.new_page(viewport={"width": 1280, "height": 1400}, reduced_motion="reduce")
    yield Watched(page)
    page.close()
