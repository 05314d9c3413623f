"""An open notebook in JupyterLab: what a learner does in it, and what its cells hold."""

from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tools.browser.jupyter import MS, idle

CELL_SECONDS = 300  # more than any wait in a cell, on a busy machine too
# JupyterLab's own objects: its app is exposed to the page, because a panel asks it for views.
CELLS = "window.jupyterapp.shell.currentWidget.content.widgets"
SOURCE = f"(place) => {CELLS}[place].model.sharedModel.getSource()"
OUTPUTS = f"(place) => {CELLS}[place].model.outputs?.toJSON() ?? []"
COUNT = f"() => Math.max(0, ...{CELLS}.map((cell) => cell.model.executionCount ?? 0))"
RAN = f"([place, before]) => ({CELLS}[place].model.executionCount ?? 0) > before"
PUT = f"""([place, source, outputs]) => {{
  const cell = {CELLS}[place];
  if (source !== null) cell.model.sharedModel.setSource(source);
  cell.model.outputs.fromJSON(outputs);
}}"""
THEME = "(theme) => window.jupyterapp.commands.execute('apputils:change-theme', { theme })"
# Only the notebook is scrolled: scrollIntoView would move the whole window, too.
TO_TOP = """(part) => {
  const sheet = part.closest(".jp-WindowedPanel-outer");
  sheet.scrollTop += part.getBoundingClientRect().top - sheet.getBoundingClientRect().top - 8;
}"""
WIDER = """(cell) => {
  const cut = (part) => part.scrollWidth > part.clientWidth + 1;
  const found = {
    "a line of code": ".cm-scroller", "an output": ".jp-OutputArea-output", "a picture": ".tb-wide",
  };
  return Object.keys(found).filter((name) => [...cell.querySelectorAll(found[name])].some(cut)).join(" and ");
}"""


class Notebook:
    """The notebook of a page; cells are counted from 0, Markdown too."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def cell(self, place: int) -> Locator:
        """Return a cell."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(place)

    def type(self, place: int, text: str) -> None:
        """Write over a cell, as a learner does. Raises AssertionError if it holds another text then."""
        self._focus(place)
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(text)
        found = self.page.evaluate(SOURCE, place)
        assert found == text, f"cell {place} holds {found!r} after {text!r} was typed"

    def run(self, place: int) -> list[dict[str, Any]]:
        """Run a cell, wait until it ended, and return its outputs."""
        before = self.page.evaluate(COUNT)
        self._focus(place)
        self.page.keyboard.press("Control+Enter")
        self.page.wait_for_function(RAN, arg=[place, before], timeout=CELL_SECONDS * MS)
        idle(self.page, CELL_SECONDS)
        return list(self.page.evaluate(OUTPUTS, place))

    def press(self, place: int, answer: int) -> None:
        """Press the answer at this place of each question in a cell, with the mouse."""
        for question in self.cell(place).locator(".tb-predict").all():
            question.locator(".tb-answer").nth(answer).click()
            expect(question.locator('[data-state]:not([data-state=""])').first).to_be_attached(
                timeout=60 * MS
            )

    def put(self, place: int, source: str | None, outputs: list[dict[str, Any]]) -> None:
        """Show a cell as it was at an earlier moment, without running anything."""
        self.page.evaluate(PUT, [place, source, outputs])

    def dress(self, theme: str) -> None:
        """Choose JupyterLab's theme, and wait until the page has it."""
        self.page.evaluate(THEME, theme)
        light = str("Light" in theme).lower()
        expect(self.page.locator(f'body[data-jp-theme-light="{light}"]')).to_be_attached(timeout=60 * MS)

    def wider(self, place: int) -> str:
        """Return which parts of a cell are wider than their place, or an empty text."""
        return str(self.cell(place).evaluate(WIDER))

    def take(self, place: int, path: Path) -> None:
        """Take a picture of a cell, with neither focus nor pointer in it."""
        self.page.mouse.move(0, 0)
        self.page.evaluate("document.activeElement.blur()")
        cell = self.cell(place)
        cell.evaluate(TO_TOP)
        cell.screenshot(path=path)

    def _focus(self, place: int) -> None:
        cell = self.cell(place)
        cell.evaluate(TO_TOP)
        cell.locator(".cm-content").click(position={"x": 2, "y": 5})
