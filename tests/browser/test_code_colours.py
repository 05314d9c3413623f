"""The colours of code in a real JupyterLab, light and dark: a TODO can be read, and so can a traceback."""

import pytest
from playwright.sync_api import expect

from tests import jupyter
from tests.browser.test_verdicts import CONTRASTS, STRIP
from tests.jupyter import idle
from tools.proof import environment


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_a_comment_can_be_read(watched, tmp_path, theme) -> None:
    notebook = jupyter.write(tmp_path / "work" / "code.ipynb", "# TODO: count")
    page = watched.page
    with environment.bench(), jupyter.running(tmp_path, notebook, f"JupyterLab {theme}") as server:
        page.goto(server.address)
        idle(page)
        comment = page.locator(".cm-content span").filter(has_text="TODO").last
        _, (words, ratio) = comment.evaluate(CONTRASTS)
        assert words == "# TODO: count"
        assert ratio >= 4.5


CELL = """import json

def read(text: str) -> dict:
    # a comment, 'a text', and a number
    return {"value": json.loads(text), "number": 42, "none": None}

read("no JSON")"""


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_a_traceback_can_be_read(watched, tmp_path, theme) -> None:
    notebook = jupyter.write(tmp_path / "work" / "code.ipynb", CELL)
    page = watched.page
    with environment.bench(), jupyter.running(tmp_path, notebook, f"JupyterLab {theme}") as server:
        page.goto(server.address)
        idle(page)
        jupyter.run(page, 0)
        told = page.locator(f"{STRIP} pre")
        expect(told).to_contain_text("JSONDecodeError: Expecting value", timeout=60 * jupyter.MS)
        watched.keep(f"traceback-{theme.lower()}")
        _, *words = told.evaluate(CONTRASTS)
    assert len(words) > 20
    assert [(text, round(ratio, 2)) for text, ratio in words if text.strip() and ratio < 4.5] == []
