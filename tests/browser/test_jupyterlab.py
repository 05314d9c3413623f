"""Lab 03 in a real JupyterLab: a broker is killed and started with the panel's own buttons."""

import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Page, expect

from tests.jupyter import MS, idle
from threebrokers.app import jupyterlab
from threebrokers.cluster import Cluster
from tools import ROOT
from tools.proof import environment

NAME = "03_replication.ipynb"
# A cell that ends when somebody pauses broker 2, as a learner does while a producer runs.
BUSY = "lab.wait_until(lambda: lab.cluster.processes()[2].state == 'paused', what='a pause', within=240)"


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with environment.bench():
        cluster = Cluster()
        cluster.up()
        yield cluster


@pytest.fixture
def address(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("BROWSER", "none")
    monkeypatch.setattr(jupyterlab, "root", lambda: tmp_path)
    monkeypatch.setattr(jupyterlab, "course", lambda: tmp_path)
    (tmp_path / "labs").mkdir()
    notebook = nbformat.read(ROOT / "labs" / NAME, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(BUSY, id="busy"))
    nbformat.write(notebook, tmp_path / "labs" / NAME)
    server = jupyterlab.start(tmp_path / "labs" / NAME)
    yield server.address
    jupyterlab.end(server.identity)


def state(page: Page, broker: int, word: str) -> None:
    card = page.locator(f".tb-broker.tb-b{broker}").first
    expect(card.locator(".tb-state")).to_have_text(re.compile(word))


def test_broker_2_is_killed_and_comes_back_under_the_learners_eyes(watched, address, cluster):
    page = watched.page
    page.goto(address)
    idle(page)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    page.locator(".tb-broker").first.wait_for(timeout=60 * MS)
    idle(page)
    panel = page.locator(".tb").first
    panel.scroll_into_view_if_needed()
    for broker in cluster.brokers:
        state(page, broker, "up")
    # On a busy machine a broker may have been silent for a session: it is back, but leads nothing any more.
    cluster.recover()
    expect(panel.locator(".tb-broker.tb-b2").first).to_contain_text(re.compile("leads [45] of 13"))
    watched.keep("lab03-before")

    panel.locator('[data-press="kill 2"]').click()
    state(page, 2, "down")
    events = panel.locator(".tb-events")
    expect(events).to_contain_text("you killed broker 2")
    expect(events).to_contain_text("new leader, at most", timeout=60 * MS)
    assert cluster.processes()[2].state == "down"
    watched.keep("lab03-killed")

    panel.locator('[data-press="kill 1"]').click()
    question = panel.get_by_role("alertdialog")
    expect(question).to_contain_text("This takes the quorum away")
    page.keyboard.press("Escape")
    expect(question).to_have_count(0)
    assert cluster.processes()[1].state == "up"

    panel.locator('[data-press="start 2"]').focus()
    page.keyboard.press("Enter")  # JupyterLab would enter the cell, if the panel let it
    state(page, 2, "up")
    expect(events).to_contain_text("broker 2 is in sync again", timeout=60 * MS)
    watched.keep("lab03-back")

    panel.locator('[data-press="cut 3"]').click()
    state(page, 3, "cut off")
    links = panel.locator(".tb-links")
    expect(links).to_have_attribute("aria-label", "links: 1–2 whole, 1–3 cut, 2–3 cut")
    assert [fault.broker for fault in cluster.faults()] == [3]
    watched.keep("lab03-cut")
    panel.locator('[data-press="heal 3"]').click()
    state(page, 3, "up")
    expect(links).to_have_attribute("aria-label", "links: all whole")
    expect(events).to_contain_text("you mended the links of broker 3")
    assert cluster.faults() == []

    cell = page.locator(".jp-Cell").last
    cell.scroll_into_view_if_needed()
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    running = cell.locator(".jp-OutputArea-output").last
    # Not "| Busy" in the status bar: that tells what the last message of the kernel said, of any widget too.
    expect(running).to_contain_text("Waiting for a pause", timeout=60 * MS)
    panel.locator('[data-press="pause 2"]').click()
    state(page, 2, "paused")
    idle(page)
    cell.scroll_into_view_if_needed()  # what came while it was out of sight is drawn only now
    expect(cell.locator(".jp-OutputArea-output").last).to_contain_text("True")
    panel.locator('[data-press="resume 2"]').click()
    state(page, 2, "up")

    assert watched.barriers() == []
    assert watched.errors == []
    assert watched.outside == []
