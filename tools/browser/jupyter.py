"""A JupyterLab of `make lab` at a folder that stands in for the clone."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from playwright.sync_api import Page, expect

from threebrokers.app import jupyterlab

MS = 1000
THEMES = "@jupyterlab/apputils-extension:themes"


@contextmanager
def running(repo: Path, notebook: Path, theme: str = "JupyterLab Light") -> Iterator[jupyterlab.Server]:
    """Run a JupyterLab for a folder that stands in for the repo, without a window, until the block ends."""
    with (
        mock.patch.dict(os.environ, BROWSER="none"),
        mock.patch.object(jupyterlab, "root", return_value=repo),
        mock.patch.object(jupyterlab, "course", return_value=repo),
        mock.patch.dict(jupyterlab.SETTINGS, {THEMES: {"theme": theme}}),
    ):
        server = jupyterlab.start(notebook)
        try:
            yield server
        finally:
            jupyterlab.end(server.identity)


def idle(page: Page, within: float = 120) -> None:
    """Wait until the kernel has nothing to do: before that, JupyterLab drops what is typed."""
    expect(page.locator("#jp-main-statusbar")).to_contain_text("| Idle", timeout=within * MS)
