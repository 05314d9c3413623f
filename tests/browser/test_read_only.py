"""A solution in JupyterLab: it can be read and run, and nothing that is done there changes the checkout."""

import shutil

import pytest
from playwright.sync_api import expect

from tests import jupyter
from tests.jupyter import idle, numbered, run
from tools import ROOT
from tools.proof import environment

NAME = "02_the_log.ipynb"


@pytest.mark.fault("JupyterLab", "a solution is opened, run, typed into, saved and closed")
def test_a_solution_stays_as_it_is(tmp_path, watched, behaviour):
    solution = tmp_path / "solutions" / NAME
    solution.parent.mkdir()
    shutil.copy(ROOT / "solutions" / NAME, solution)
    before = solution.read_bytes()
    page = watched.page
    with environment.bench(), jupyter.running(tmp_path, solution) as server:
        page.goto(server.address)
        idle(page)
        badge = page.get_by_text("notebook is read-only")
        expect(badge).to_be_visible()
        told = page.locator(".jp-MarkdownCell").first
        expect(told).to_contain_text("Solution. This page shows the answers")
        watched.keep("solution")
        cell = page.locator(".jp-CodeCell").first
        cell.scroll_into_view_if_needed()
        text = cell.locator(".cm-content").inner_text()
        run(page, 0)
        page.keyboard.type("abc")
        numbered(page, 0, "1")
        expect(cell.locator(".cm-content")).to_have_text(text, use_inner_text=True)
        page.keyboard.press("Escape")
        page.keyboard.press("Control+s")
        expect(page.get_by_text("is read-only. Use")).to_be_visible()
        says = told.inner_text()
    assert solution.read_bytes() == before
    # JupyterLab makes an empty folder for checkpoints, which git leaves out.
    assert [path.name for path in solution.parent.rglob("*") if path.is_file()] == [NAME]
    behaviour("its cells run, take no letter, and nothing is saved", says=says)
