"""A JupyterLab of `make lab` at small notebooks of a test, and what a learner does in its page."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Error, Page, expect

from threebrokers.app import jupyterlab

MS = 1000
METADATA = {"kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}}


def write(path: Path, *cells: str) -> Path:
    """Write a notebook of these code cells."""
    path.parent.mkdir(parents=True, exist_ok=True)
    made = [new_code_cell(text, id=f"cell-{place}") for place, text in enumerate(cells)]
    nbformat.write(new_notebook(cells=made, metadata=METADATA), path)
    return path


@contextmanager
def running(repo: Path, notebook: Path, theme: str = "JupyterLab Light") -> Iterator[jupyterlab.Server]:
    """Run a JupyterLab for a folder that stands in for the repo, without a window, until the block ends."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BROWSER", "none")
        patch.setattr(jupyterlab, "root", lambda: repo)
        patch.setattr(jupyterlab, "course", lambda: repo)
        patch.setitem(jupyterlab.SETTINGS, "@jupyterlab/apputils-extension:themes", {"theme": theme})
        server = jupyterlab.start(notebook)
        try:
            yield server
        finally:
            jupyterlab.end(server.identity)


def idle(page: Page) -> None:
    """Wait until the kernel has nothing to do: before that, JupyterLab drops what is typed."""
    expect(page.locator("#jp-main-statusbar")).to_contain_text("| Idle", timeout=120 * MS)


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


def restart(page: Page) -> None:
    """Restart the kernel from the menu, and wait until it is there again."""
    page.get_by_role("menuitem", name="Kernel", exact=True).click()
    page.locator('[data-command="kernelmenu:restart"]').click()
    page.locator(".jp-Dialog .jp-mod-accept").click()
    expect(page.locator("#jp-main-statusbar")).not_to_contain_text("| Idle", timeout=10 * MS)
    idle(page)
