"""Decks in Chromium: printed as PDF, and every slide looked at in the sizes of projectors."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, ViewportSize

from tools.browser.chromium import NoBrowserError, chromium

SIZES: tuple[ViewportSize, ...] = ({"width": 1280, "height": 720}, {"width": 1920, "height": 1080})
SMALLEST = 24
READY = "() => window.Reveal && Reveal.isReady()"
# What a projector shows of each slide: what is cut off, and letters that are too small.
MEASURE = (Path(__file__).parent / "assets" / "measure.js").read_text("utf-8")
UNHIDE = "() => document.querySelectorAll('section').forEach((s) => s.removeAttribute('aria-hidden'))"
AXE = {"resultTypes": ["violations"], "preload": False}  # a file may not be asked for a second time
# reveal.js makes a sheet of each slide.
LAID_OUT = """() => {
  const count = (what) => document.querySelectorAll(what).length;
  return count(".pdf-page") > 0 && count(".pdf-page") >= count(".slides section");
}"""


def print_pdf(pages: Iterable[Path]) -> list[str]:
    """Print each page beside itself, one slide a sheet. Returns what could not be done."""
    try:
        with chromium() as browser:
            for path in pages:
                print_one(browser, path)
    except NoBrowserError as fault:
        return [str(fault)]
    return []


def print_one(browser: Browser, path: Path) -> Path:
    """Print a page beside itself, one slide a sheet; return the PDF's path."""
    page = browser.new_page(viewport=SIZES[0])
    _open_sheets(page, path)
    page.pdf(path=path.with_suffix(".pdf"), prefer_css_page_size=True, print_background=True)
    page.close()
    return path.with_suffix(".pdf")


def check(pages: Iterable[Path]) -> list[str]:
    """Look at every slide of these pages in a browser; return what is wrong, sentence by sentence."""
    try:
        with chromium() as browser:
            return [fault for path in pages for fault in faults(browser, path)]
    except NoBrowserError as fault:
        return [str(fault)]


def faults(browser: Browser, path: Path) -> list[str]:
    """Look at one deck in both sizes, and once with axe; return what is wrong, sentence by sentence."""
    found: list[str] = []
    for size in SIZES:
        with _watched(browser, size, found, path) as page:
            _open(page, path)
            where = f"{path.stem}, {size['width']}x{size['height']}"
            found += [f"{where}, {fault}" for fault in page.evaluate(MEASURE, SMALLEST)]
    with _watched(browser, SIZES[0], found, path) as page:
        _open_sheets(page, path)  # all slides are there at once, so axe looks once
        found += [f"{path.stem}: {barrier}" for barrier in barriers(page)]
    return found


def barriers(page: Page) -> list[str]:
    """Return what axe finds serious or critical."""
    # On paper all slides are seen, but reveal.js hides all but one from a screen reader, and so from axe.
    page.evaluate(UNHIDE)
    response: Any = Axe().run(page, context=".reveal", options=AXE).response
    return [
        f"{rule['id']}: {node['html'][:120]} {node.get('failureSummary', '')}"
        for rule in response["violations"]
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"]
    ]


@contextmanager
def _watched(browser: Browser, size: ViewportSize, found: list[str], path: Path) -> Iterator[Page]:
    """Open a page, and add to `found` what it asks for elsewhere and what its console says."""
    page = browser.new_page(viewport=size, reduced_motion="reduce")
    inside = path.parent.as_uri()
    page.on("request", lambda asked: found.append(f"{path.stem} asks for {asked.url}.")
            if not asked.url.startswith((inside, "data:", "blob:")) else None)  # fmt: skip
    page.on("pageerror", lambda fault: found.append(f"{path.stem}: {fault}"))
    page.on(
        "console", lambda line: found.append(f"{path.stem}: {line.text}") if line.type == "error" else None
    )
    yield page
    page.close()


def _open(page: Page, path: Path, more: str = "") -> None:
    page.goto(path.as_uri() + more)
    page.wait_for_function(READY)


def _open_sheets(page: Page, path: Path) -> None:
    """Open a deck as it is printed; on a busy machine it is ready before all sheets are there."""
    _open(page, path, "?print-pdf")
    page.wait_for_function(LAID_OUT)
