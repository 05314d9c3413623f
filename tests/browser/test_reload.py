"""After a reload or a restart, panels and questions come back, or their place says what to run."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests import jupyter
from tests.jupyter import MS, idle, numbered, run
from threebrokers.app import jupyterlab
from threebrokers.cluster import Cluster
from threebrokers.waiting import quiet_wait
from tools.proof import environment

OPEN = "from threebrokers import open_lab\n\nlab = open_lab('03')"
PANEL, QUESTION, BUSY, PROGRAM = 1, 2, 3, 4
# It ends when somebody pauses broker 2.
WAITS = "lab.wait_until(lambda: lab.cluster.processes()[2].state == 'paused', what='a pause', within=240)"
CLOCK = """%%program clock
import time
print("ready")
while True:
    time.sleep(0.1)"""
CELLS = (OPEN, "lab.watch()", "guess_3a = lab.predict('3.a')", WAITS, CLOCK)
ANSWER = "some get another leader, the others stay as they are"
AGAIN = "un the first cell of this page, then this one"
# What JupyterLab itself says there; it stands in the page, in letters of no size.
ERROR = "Error displaying widget: model not found"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with environment.bench():
        cluster = Cluster()
        cluster.up()
        yield cluster


@pytest.fixture(params=["Light", "Dark"])
def shown(
    request: pytest.FixtureRequest, cluster: Cluster, tmp_path: Path
) -> Iterator[tuple[jupyterlab.Server, Path, str]]:
    notebook = jupyter.write(tmp_path / "work" / "03_replication.ipynb", *CELLS)
    with jupyter.running(tmp_path, notebook, f"JupyterLab {request.param}") as server:
        yield server, notebook, request.param.lower()


def output(page: Page, cell: int) -> Locator:
    return page.locator(".jp-CodeCell").nth(cell).locator(".jp-OutputArea-output").last


def words(page: Page, cell: int) -> str:
    """Return what a reader sees under a cell: also what a style sheet has put there."""
    script = """(e) => {
        const said = getComputedStyle(e, "::before").content;
        return said === "none" ? e.innerText : JSON.parse(said);
    }"""
    return str(output(page, cell).evaluate(script))


def says(page: Page, cell: int, told: str) -> None:
    """Wait until that is said under a cell: one after the other is drawn when the page was loaded."""
    output(page, cell).wait_for(timeout=60 * MS)
    assert quiet_wait(lambda: told in words(page, cell), 20), words(page, cell)


def opened(page: Page, address: str) -> None:
    page.goto(address)
    idle(page)
    run(page, 0, PANEL, QUESTION)
    page.locator(".tb-answer").first.wait_for(timeout=120 * MS)
    idle(page)


def saved(page: Page, notebook: Path) -> None:
    """Wait until the file has the runs that the page shows.

    JupyterLab takes the mark of unsaved changes away when a save ends, also for what changed while that
    save was under way: then Ctrl-S is needed. (Pressed while a save is under way, that would be two at
    once, and JupyterLab takes its own first one for somebody else's.)
    """
    prompts = page.locator(".jp-CodeCell .jp-InputPrompt")
    ends = time.monotonic() + 60
    while (shown := [prompt.strip("[]:* ") for prompt in prompts.all_inner_texts()]) != runs(notebook):
        dialogs = page.locator(".jp-Dialog").all_inner_texts()
        assert time.monotonic() < ends, f"the page shows {shown}, its file has {runs(notebook)}; {dialogs}"
        if page.locator(".jp-mod-current.jp-mod-dirty").count() == 0:
            page.keyboard.press("Control+s")
        page.wait_for_timeout(1 * MS)


def runs(notebook: Path) -> list[str] | None:
    """Return the number of each cell's run; None while Jupyter writes the file, which it does in place."""
    try:
        cells = json.loads(notebook.read_text("utf-8"))["cells"]
    except ValueError:
        return None
    return [str(cell["execution_count"] or "") for cell in cells]


@pytest.mark.fault(
    "JupyterLab", "the page is loaded again, also while a cell runs; its tab is closed and opened"
)
def test_panel_and_question_come_back(shown, watched, browser: Browser, cluster, behaviour):
    server, notebook, theme = shown
    page = watched.page
    opened(page, server.address)
    answer = page.get_by_role("button", name=ANSWER)
    answer.click()
    expect(answer).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Shift+Enter")  # the focus is in the question: its cell runs again
    numbered(page, QUESTION, "4")
    idle(page)
    expect(answer).to_have_attribute("aria-pressed", "true")
    saved(page, notebook)

    page.reload()
    expect(answer).to_have_attribute("aria-pressed", "true", timeout=60 * MS)
    expect(page.locator(".tb-broker")).to_have_count(3)
    idle(page)
    run(page, BUSY)
    numbered(page, BUSY, "*")
    expect(output(page, BUSY)).to_contain_text("Waiting for a pause", timeout=60 * MS)
    saved(page, notebook)
    page.close()

    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(server.address)
    says(page, PANEL, "comes when the cell that runs now has ended")
    told = words(page, PANEL)
    says(page, QUESTION, told)
    assert words(page, QUESTION) == told
    page.screenshot(path=watched.place(f"reload-busy-{theme}"))
    cluster.pause(2)
    answer = page.get_by_role("button", name=ANSWER)
    expect(answer).to_have_attribute("aria-pressed", "true", timeout=60 * MS)
    cluster.resume(2)
    idle(page)
    page.get_by_role("button", name="nothing, until").click()
    expect(page.locator(".tb-predict .tb-note")).to_contain_text(
        "You predict: nothing, until", timeout=20 * MS
    )
    page.screenshot(path=watched.place(f"reload-{theme}"))
    page.close()
    behaviour("panels and questions come back with what was chosen, when no cell runs any more", says=told)


@pytest.mark.fault("JupyterLab", "the page is loaded again while a program of a cell runs")
def test_a_program_comes_back_with_its_buttons_which_end_it_while_a_cell_runs(
    shown, watched, cluster, behaviour
):
    server, notebook, theme = shown
    page = watched.page
    page.goto(server.address)
    idle(page)
    run(page, 0, PROGRAM)
    stop, kill = (page.get_by_role("button", name=f"{kind} the program clock") for kind in ("stop", "kill"))
    stop.wait_for(timeout=120 * MS)
    idle(page)
    saved(page, notebook)

    page.reload()
    stop.wait_for(timeout=60 * MS)
    expect(page.locator(".tb-program pre")).to_have_text("ready")
    idle(page)
    run(page, BUSY)
    numbered(page, BUSY, "*")
    page.screenshot(path=watched.place(f"reload-program-{theme}"))
    stop.focus()
    page.keyboard.press("Enter")
    state = page.locator(".tb-program b")
    expect(state).to_have_text("○ clock: stopped on request (SIGTERM)", timeout=60 * MS)
    expect(kill).to_have_count(0)
    told = state.inner_text()
    cluster.pause(2)
    numbered(page, BUSY, "3")  # the kernel calls itself idle when it has heard the button
    idle(page)
    cluster.resume(2)

    run(page, PROGRAM)
    kill.click()
    ended = output(page, PROGRAM)
    expect(ended).to_contain_text("○ clock: killed on purpose (SIGKILL)", timeout=60 * MS)
    expect(page.locator(".tb-program")).to_have_count(0)  # what stays needs no kernel
    saved(page, notebook)
    page.reload()
    expect(ended).to_contain_text("killed on purpose", timeout=60 * MS)
    watched.keep(f"reload-program-ended-{theme}")
    behaviour("its box comes back with its buttons, and they end it also while a cell runs", says=told)


@pytest.mark.fault("JupyterLab", "the kernel is restarted, and then the page is loaded again")
def test_a_place_whose_kernel_ended_says_what_to_run(shown, watched, behaviour):
    server, notebook, theme = shown
    page = watched.page
    opened(page, server.address)
    jupyter.restart(page)
    expect(page.locator(".tb-notice")).to_contain_text(AGAIN, timeout=60 * MS)
    expect(page.locator(".tb-predict .tb-note")).to_contain_text(AGAIN)
    expect(page.get_by_role("button", name=ANSWER)).to_be_disabled()
    watched.keep(f"restarted-{theme}")
    saved(page, notebook)

    page.reload()
    for cell in (PANEL, QUESTION):
        expect(output(page, cell)).to_have_text(ERROR, timeout=60 * MS)
        says(page, cell, AGAIN)
        assert output(page, cell).evaluate("(e) => getComputedStyle(e).fontSize") == "0px"
    watched.keep(f"reload-restarted-{theme}")
    behaviour("its place says which cells to run", says=words(page, QUESTION))


@pytest.mark.parametrize("shown", ["Light"], indirect=True)
@pytest.mark.fault("JupyterLab", "`make lab` was ended, and is run again")
def test_a_place_of_an_earlier_sitting_says_what_to_run(shown, watched, tmp_path, behaviour):
    server, notebook, theme = shown
    opened(watched.page, server.address)
    saved(watched.page, notebook)
    jupyterlab.end(server.identity)

    with jupyter.running(tmp_path, notebook, f"JupyterLab {theme.title()}") as again:
        page = watched.page
        page.goto(again.address)
        for cell in (PANEL, QUESTION):
            expect(output(page, cell)).to_have_text(ERROR, timeout=60 * MS)
            says(page, cell, AGAIN)
        told = words(page, QUESTION)
        watched.keep(f"another-sitting-{theme}")
        idle(page)
        run(page, 0, PANEL, QUESTION)
        expect(page.locator(".tb-broker")).to_have_count(3, timeout=60 * MS)
        page.get_by_role("button", name=ANSWER).wait_for(timeout=60 * MS)
    behaviour("its place says which cells to run, and they bring panel and question back", says=told)
