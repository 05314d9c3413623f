"""A JupyterLab of `make lab` at small notebooks of a test, and what a learner does in its page."""

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Error, Page, expect

from tools.browser.jupyter import MS, idle, running

__all__ = ["MS", "idle", "numbered", "restart", "run", "running", "write"]
METADATA = {"kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}}


def write(path: Path, *cells: str) -> Path:
    """Write a notebook of these code cells."""
    path.parent.mkdir(parents=True, exist_ok=True)
    made = [new_code_cell(text, id=f"cell-{place}") for place, text in enumerate(cells)]
    nbformat.write(new_notebook(cells=made, metadata=METADATA), path)
    return path


def run(page: Page, *cells: int) -> None:
    """Run these cells, one after the other, as Shift+Enter does."""
    for place in cells:
        try:
            page.locator(".jp-CodeCell").nth(place).locator(".cm-content").click()
        except Error as problem:
            cells_there = page.locator(".jp-CodeCell").all_inner_texts()
            dialogs = page.locator(".jp-Dialog, .Toastify__toast").all_inner_texts()
            pytest.fail(f"cell {place}: {problem.message!r}; dialogs: {dialogs}; cells: {cells_there}")
        page.keyboard.press("Shift+Enter")


def numbered(page: Page, cell: int, number: str) -> None:
    """Wait until a cell's last run has this number; `*` is one that runs.

    The status bar proves less: it shows what the kernel's last message said, of a widget's too.
    """
    prompt = page.locator(".jp-CodeCell").nth(cell).locator(".jp-InputPrompt")
    expect(prompt).to_have_text(f"[{number}]:", timeout=60 * MS)


def restart(page: Page) -> None:
    """Restart the kernel from the menu, and wait until it is there again."""
    page.get_by_role("menuitem", name="Kernel", exact=True).click()
    page.locator('[data-command="kernelmenu:restart"]').click()
    page.locator(".jp-Dialog .jp-mod-accept").click()
    expect(page.locator("#jp-main-statusbar")).not_to_contain_text("| Idle")
    idle(page)
