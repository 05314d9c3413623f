"""The colours of code in a real JupyterLab: a TODO can be read, in a light cell and in a dark one."""

import pytest

from tests import jupyter
from tests.browser.test_verdicts import CONTRASTS
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
