"""What was typed right before the end of JupyterLab is in its file."""

import nbformat
import pytest

from tests import jupyter
from tests.jupyter import idle
from threebrokers.app import jupyterlab
from tools.proof import environment

TYPED = "x = 1  # typed last"


@pytest.mark.fault("JupyterLab", "letters are typed right before Ctrl-C")
def test_what_was_typed_right_before_the_end_is_saved(tmp_path, watched, behaviour, monkeypatch):
    # On a busy machine a save takes seconds, and JupyterLab saves next only after ten times as long.
    monkeypatch.setattr(jupyterlab, "SAVE_SECONDS", 20)
    notebook = jupyter.write(tmp_path / "work" / "saved.ipynb", "pass")
    page = watched.page
    with environment.bench(), jupyter.running(tmp_path, notebook) as server:
        page.goto(server.address)
        idle(page)
        page.locator(".jp-CodeCell .cm-content").click()
        page.keyboard.press("Control+a")
        page.keyboard.type(TYPED)
        jupyterlab.let_save(server.identity)  # what `make lab` does at Ctrl-C
        jupyterlab.end(server.identity)
        [cell] = nbformat.read(notebook, as_version=4).cells
    assert cell.source == TYPED
    behaviour("they are saved")
