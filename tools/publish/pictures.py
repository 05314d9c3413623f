"""Take the README's pictures anew, light and dark, from a lab that runs: `make pictures`."""

import re
import shutil
import sys
import tempfile
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell
from playwright.sync_api import Browser, Locator, Page, ViewportSize, expect

from threebrokers.cluster import Cluster
from tools import ROOT
from tools.browser import jupyter
from tools.browser.chromium import NoBrowserError, chromium
from tools.proof import environment

FOLDER = ROOT / "docs" / "images"
LAB, SECTION, QUESTION = "04_broker_failover.ipynb", "Four ways to go silent", "guess_4a"
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
MS, WAIT = 1000, 120
# Wide enough for the panel and the time line, and high enough for all of them.
SIZES: dict[str, ViewportSize] = {
    "lab": {"width": 1180, "height": 1300},
    "panel": {"width": 1440, "height": 1100},
    "timeline": {"width": 1440, "height": 900},
}
# Neither stands in a lab, so they give nothing away: one kill, and not lab 04's four ways to go silent.
WATCH = """from threebrokers.lab.scenarios import Sensor, wait_for_new_leaders

shop = lab.fresh_topic("{topic}", partitions=13, replication_factor=3)
with lab.producer() as producer:
    for number in range(3_000):
        producer.produce(shop, key=str(number % 400), value=f"order {{number}}")
lab.watch(shop)"""
RECORD = """lab.cluster.recover()
sensor = Sensor(lab, 2.5)
with sensor, lab.record(sensor.topic) as recording:
    sensor.wait()
    lab.cluster.kill(sensor.leader)
    wait_for_new_leaders(lab, sensor.leader, sensor.topic)
    sensor.wait()
    lab.cluster.start(sensor.leader)
    lab.cluster.recover()
    sensor.wait()
recording.show()"""
TOPIC = "replicas-3"
# Only the notebook is scrolled: scrollIntoView would move the whole window, too.
TO_TOP = """(part) => {
  const sheet = part.closest(".jp-WindowedPanel-outer");
  sheet.scrollTop += part.getBoundingClientRect().top - sheet.getBoundingClientRect().top - 8;
}"""


def main() -> int:
    """Take all pictures; return 0 if that could be done."""
    try:
        with chromium() as browser:
            _open(browser)
    except NoBrowserError as fault:
        print(fault, file=sys.stderr)
        return 1
    for picture in sorted(FOLDER.glob("*.png")):
        print(f"{picture.relative_to(ROOT)}: {picture.stat().st_size // 1024} kB")
    return 0


def _open(browser: Browser) -> None:
    """Open the lab in a browser and take all of it."""
    with environment.bench(), tempfile.TemporaryDirectory() as folder:
        Cluster().up()
        notebook = _notebook(Path(folder) / "work" / LAB)
        with jupyter.running(Path(folder), notebook) as server:
            page = browser.new_page(
                viewport=SIZES["lab"],
                device_scale_factor=1.8,  # twice as wide as the text on GitHub: more makes larger files
                reduced_motion="reduce",
            )
            page.goto(server.address)
            _take_all(page)


def _notebook(path: Path) -> Path:
    """Write the lab's head and the part with its first question, and the two cells of the other pictures."""
    notebook = nbformat.read(ROOT / "labs" / LAB, as_version=4)  # type: ignore[no-untyped-call]
    part = next(place for place, cell in enumerate(notebook.cells) if f"# {SECTION}" in cell.source)
    asks = next(place for place, cell in enumerate(notebook.cells) if cell.source.startswith(QUESTION))
    own = [
        new_code_cell(text, id=name)  # type: ignore[no-untyped-call]
        for name, text in (("watch", WATCH.format(topic=TOPIC)), ("record", RECORD))
    ]
    head = notebook.cells[:2]  # where the course and the lab say their names, and the set-up
    notebook.cells = [*head, *notebook.cells[part : asks + 2], *own]
    path.parent.mkdir()
    nbformat.write(notebook, path)  # type: ignore[no-untyped-call]
    # The file browser shows the labs, as it does for learners.
    for other in (ROOT / "labs").glob("*.ipynb"):
        if other.name != path.name:
            shutil.copy(other, path.parent)
    return path


def _take_all(page: Page) -> None:
    cells = page.locator(".jp-CodeCell")
    jupyter.idle(page, WAIT)
    for number in range(cells.count() - 2):
        _run(cells.nth(number))
    question = cells.filter(has_text=QUESTION)
    expect(question.locator(".tb-answer").first).to_be_visible(timeout=WAIT * MS)
    jupyter.idle(page, WAIT)
    page.keyboard.press("Control+s")
    expect(page.locator(".jp-mod-dirty")).to_have_count(0, timeout=WAIT * MS)
    for theme in THEMES:
        _dress(page, theme)
        _unfocus(page)
        page.locator(".jp-MarkdownCell").first.evaluate(TO_TOP)
        # Without what comes after the question, and without the bar at the right.
        dock, asked = page.locator("#jp-main-dock-panel").bounding_box(), question.bounding_box()
        assert dock is not None
        assert asked is not None
        right, foot = dock["x"] + dock["width"], asked["y"] + asked["height"]
        page.screenshot(
            path=FOLDER / f"lab-{theme}.png", clip={"x": 0, "y": 0, "width": right, "height": foot}
        )
    page.keyboard.press("Control+b")  # room for the panel
    expect(page.locator("#jp-left-stack")).to_be_hidden(timeout=WAIT * MS)
    watch, record = (cells.nth(cells.count() - place) for place in (2, 1))  # to run the last one adds another
    _take_panel(page, watch)
    page.set_viewport_size(SIZES["timeline"])
    _run(record)
    line = record.locator(".tb-time > img")
    expect(line).to_be_visible(timeout=WAIT * MS)
    jupyter.idle(page, WAIT)
    for theme in THEMES:
        _dress(page, theme)
        _take(line, f"timeline-{theme}")


def _take_panel(page: Page, cell: Locator) -> None:
    """Kill broker 2 in the panel, and take it when all partitions have a leader again."""
    page.set_viewport_size(SIZES["panel"])
    _run(cell)
    panel = cell.locator(".tb")
    expect(panel.locator(".tb-copy")).to_have_count(39, timeout=WAIT * MS)
    expect(panel.locator(".tb-leader")).to_have_count(13, timeout=WAIT * MS)
    jupyter.idle(page, WAIT)
    panel.locator('[data-press="kill 2"]').click()
    expect(panel.locator(".tb-events")).to_contain_text("have a new leader", timeout=WAIT * MS)
    expect(panel.locator(".tb-leader")).to_have_count(13, timeout=WAIT * MS)
    for theme in THEMES:
        _dress(page, theme)
        _unfocus(page)
        _take(panel, f"panel-{theme}")


def _take(part: Locator, name: str) -> None:
    part.evaluate(TO_TOP)
    part.screenshot(path=FOLDER / f"{name}.png")


def _dress(page: Page, theme: str) -> None:
    """Choose a theme in JupyterLab's menu, and wait until the page has it and shows itself again."""
    body = page.locator(f'body[data-jp-theme-light="{str(theme == "light").lower()}"]')
    if body.count():
        return
    page.get_by_role("menuitem", name="Settings", exact=True).click()
    page.locator(".lm-Menu-item").filter(has_text=re.compile("^Theme$")).hover()
    page.locator('[data-command="apputils:change-theme"]').filter(has_text=THEMES[theme]).first.click()
    expect(body).to_be_attached(timeout=WAIT * MS)
    expect(page.locator("#jupyterlab-splash")).to_have_count(0, timeout=WAIT * MS)  # it lies over the page


def _run(cell: Locator) -> None:
    cell.locator(".cm-content").click()
    cell.page.keyboard.press("Shift+Enter")


def _unfocus(page: Page) -> None:
    """Take pointer and focus away: no cell stands out, and no tool bar."""
    page.mouse.move(0, 0)
    page.evaluate("document.activeElement.blur()")
