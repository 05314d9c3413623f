"""A panel in JupyterLab is docked beside its notebook, and stays in sight while cells run."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests import jupyter
from tests.browser.test_reload import saved
from tests.jupyter import MS, idle, numbered, run
from threebrokers.waiting import quiet_wait
from tools.proof import environment

# A recording plays in the same panel, and needs no brokers.
PANEL = """
from threebrokers.kafka.state import BrokerState, ClusterState
from threebrokers.panel.replay import replay

up = [BrokerState(n, "up", since=0.0, registered=True, address=f"127.0.0.1:{n}9092") for n in (1, 2, 3)]
down = [up[0], BrokerState(2, "down", since=1.0), up[2]]
panel = replay([ClusterState(at, tuple(now), last_response_at=at) for at, now in ((0.0, up), (1.0, down))])
panel
"""
FILL = "print('a line\\n' * 60)"
LATER = "panel.position = 1"


def beside(page: Page, docked: Locator) -> bool:
    there, cells = docked.bounding_box(), page.locator(".jp-Notebook").bounding_box()
    return there["x"] >= cells["x"] + cells["width"] and there["width"] > 600


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_a_panel_is_docked_beside_its_notebook(tmp_path, watched, theme):
    notebook = jupyter.write(tmp_path / "work" / "panel.ipynb", PANEL, FILL, LATER)
    page = watched.page
    page.set_viewport_size({"width": 1440, "height": 900})
    with environment.bench(), jupyter.running(tmp_path, notebook, f"JupyterLab {theme}") as server:
        page.goto(server.address)
        idle(page)
        run(page, 0)
        dock = page.get_by_role("button", name="dock: keep this panel in sight beside the notebook")
        page.locator(".tb-broker").first.wait_for(timeout=60 * MS)
        assert page.evaluate("typeof jupyterapp") == "object"
        dock.wait_for(timeout=60 * MS)
        idle(page)
        dock.focus()
        page.keyboard.press("Enter")
        docked = page.locator(".jp-LinkedOutputView .tb")
        expect(docked.locator(".tb-broker")).to_have_count(3)
        expect(docked.locator(".tb-dock")).to_have_count(0)
        expect(page.locator(".jp-DirListing:visible")).to_have_count(0)
        # JupyterLab gives each its new place when it draws next.
        assert quiet_wait(lambda: beside(page, docked), 30), (
            "it does not stand beside the notebook, with room"
        )
        dock.focus()
        page.keyboard.press("Enter")
        expect(docked).to_have_count(1)

        run(page, 1)
        numbered(page, 1, "2")  # only then its lines are there, which put the first cell out of sight
        run(page, 2)
        numbered(page, 2, "3")
        expect(page.locator(".jp-CodeCell").first.locator(".tb")).not_to_be_in_viewport()
        expect(docked).to_be_in_viewport()
        expect(docked.locator(".tb-broker.tb-b2 .tb-state")).to_have_text("✕ down")
        watched.page.screenshot(path=watched.place(f"docked-{theme.lower()}"))
        assert watched.measured_barriers(".jp-LinkedOutputView .tb") == []
        assert watched.errors == []

        run(page, 0)
        expect(docked.locator(".tb-broker.tb-b2 .tb-state")).to_have_text("● up")
        expect(docked).to_have_count(1)


def kept(home: Path) -> bool:
    """Tell whether the file from which a page is restored has a view of an output in its place."""
    for path in (home / "jupyter").glob("**/*.jupyterlab-workspace"):
        try:
            layout = json.loads(path.read_text("utf-8"))["data"]["layout-restorer:data"]["main"]
        except (ValueError, KeyError):  # it is just being written, or nothing is in it yet
            continue
        if "cloned-outputs:" in json.dumps(layout):
            return True
    return False


def test_after_a_reload_of_the_page_it_is_there_again(tmp_path, watched):
    notebook = jupyter.write(tmp_path / "work" / "panel.ipynb", PANEL, FILL, LATER)
    page = watched.page
    page.set_viewport_size({"width": 1440, "height": 900})
    with environment.bench() as home, jupyter.running(tmp_path, notebook) as server:
        page.goto(server.address)
        idle(page)
        run(page, 0)
        button = page.get_by_role("button", name="dock: keep this panel in sight beside the notebook")
        button.wait_for(timeout=60 * MS)
        idle(page)
        saved(page, notebook)
        button.click()
        docked = page.locator(".jp-LinkedOutputView .tb")
        expect(docked.locator(".tb-broker")).to_have_count(3)
        idle(page)
        assert quiet_wait(lambda: kept(home), 20), "JupyterLab does not write down that it stands there"
        page.reload()
        expect(docked.locator(".tb-broker")).to_have_count(3, timeout=60 * MS)
        expect(page.locator(".jp-LinkedOutputView")).to_have_count(1)
        page.locator(".lm-TabBar-tab", has_text="panel.ipynb").click()  # the view has no kernel to wait for
        idle(page)
        run(page, 2)
        expect(docked.locator(".tb-broker.tb-b2 .tb-state")).to_have_text("✕ down")
        watched.page.screenshot(path=watched.place("docked-after-a-reload"))
        assert watched.errors == []
