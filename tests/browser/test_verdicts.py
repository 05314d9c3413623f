"""The box of a verdict in a real JupyterLab: read by everybody, and alone, though the cell fails."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests import jupyter
from tests.jupyter import MS, idle, run
from tools.proof import environment

SET_UP = """from types import SimpleNamespace
from threebrokers.errors import LabError
from threebrokers.lab.exercise import NotYet, exercise
from threebrokers.lab.lab import Lab
from threebrokers.lab.outcomes import show_in_boxes
from threebrokers.predictions import Verdict

show_in_boxes()

@exercise("3.1", "Survive one broker")
def survives(lab: object, copies: int) -> str:
    if copies == 0:
        raise LabError("Broker 2 is down (killed)", "`lab.cluster.start(2)`, then run this again")
    if copies < 3:
        raise NotYet(
            f"'failsafe' keeps {copies} replica of <b>each</b> partition",
            "it needs 3 to survive a broker",
            "`replication_factor` in `NewTopic(…)`",
        )
    return "any one broker may stop; two replicas remain and `acks=all` still writes." """
SMALL = """Lab.observed(None, "Broker 2 was away, and `failsafe` took every record", True)
display(Verdict("cut", "cut", "Nothing reaches it, and `acks=all` waits."))
display(Verdict("none", "two", "You think that a topic forgets."))
display(Verdict(None, "two"))"""
CELLS = {
    "set-up": SET_UP,
    "solved": "survives(None, 3)",
    "small": SMALL,
    "not yet": "print('looking')\nsurvives(None, 1)",
    "not attempted": "survives(None, ...)",
    "trouble": "survives(None, 0)",
    "did not happen": 'Lab.observed(None, "It was lost", False)',
    "learner's": "import sys\nprint('careful', file=sys.stderr)\n1 / 0",
}
SAID = {
    "not yet": "✗ 3.1  'failsafe' keeps 1 replica of <b>each</b> partition; it needs 3 to survive a broker. "
    "Look at: `replication_factor` in `NewTopic(…)`",
    "not attempted": "○ 3.1  Exercise 3.1 is not attempted yet: fill in the `...` in the cell above.",
    "trouble": "⚠ 3.1  Broker 2 is down (killed): `lab.cluster.start(2)`, then run this again.",
    "did not happen": "⚠ This time it did not happen: It was lost; run the cell again.",
}
STRIP = '[data-mime-type="application/vnd.jupyter.stderr"]'
# Lays what is drawn upon each other on a canvas, as the page does, and compares as WCAG has it.
CONTRASTS = """(box) => {
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const paint = (...colours) => {
        canvas.clearRect(0, 0, 1, 1);
        for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
        const parts = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((part) => part / 255)
            .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
    };
    const under = (element) => element === null ? ["white"]
        : [...under(element.parentElement), getComputedStyle(element).backgroundColor];
    const compare = (colour, papers) => {
        const [dark, bright] = [paint(...papers), paint(...papers, colour)].sort((a, b) => a - b);
        return (bright + 0.05) / (dark + 0.05);
    };
    const told = [["bar", compare(getComputedStyle(box).borderLeftColor, under(box.parentElement))]];
    const texts = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const element = texts.currentNode.parentElement;
        told.push([texts.currentNode.data, compare(getComputedStyle(element).color, under(element))]);
    }
    return told;
}"""


def cell(page: Page, name: str) -> Locator:
    return page.locator(".jp-CodeCell").nth(list(CELLS).index(name))


def prompt(page: Page, name: str, told: str) -> None:
    expect(cell(page, name).locator(".jp-InputPrompt")).to_have_text(told, timeout=60 * MS)


def run_all(page: Page) -> None:
    """Run all cells, which stops at the first that fails; then those behind it, one by one."""
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    prompt(page, "not yet", "[4]:")
    idle(page)
    for place, name in enumerate(CELLS):
        if place > list(CELLS).index("not yet"):
            prompt(page, name, "[ ]:")
            run(page, place)
            prompt(page, name, f"[{place + 1}]:")


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_a_cell_fails_with_its_box_alone_and_every_word_can_be_read(watched, tmp_path, theme) -> None:
    notebook = jupyter.write(tmp_path / "work" / "verdicts.ipynb", *CELLS.values())
    page = watched.page
    page.set_viewport_size({"width": 1100, "height": 2000})
    with environment.bench(), jupyter.running(tmp_path, notebook, f"JupyterLab {theme}") as server:
        page.goto(server.address)
        idle(page)
        run_all(page)
        watched.keep(f"verdicts-{theme.lower()}")
        watched.keep_as_others_see_it(f"verdicts-{theme.lower()}")
        the_box_stands_alone(page)
        every_word_can_be_read(page)
        assert watched.barriers(".tb-verdict") == []
        assert watched.errors == []


def the_box_stands_alone(page: Page) -> None:
    for name, sentence in SAID.items():
        expect(cell(page, name).locator(".tb-verdict")).to_be_visible()
        strip = cell(page, name).locator(STRIP)
        expect(strip).to_have_text(sentence)  # the cell's error: it is there, and only not drawn
        expect(strip).not_to_be_visible()
    box = cell(page, "not yet").locator(".tb-verdict")
    expect(box).to_contain_text("'failsafe' keeps 1 replica of <b>each</b> partition; it needs 3")
    assert box.locator("code").all_inner_texts() == ["replication_factor", "NewTopic(…)"]
    expect(cell(page, "not yet").get_by_text("looking", exact=True)).to_be_visible()
    expect(cell(page, "solved").locator(".tb-verdict")).to_have_count(1)
    expect(cell(page, "small").locator(".tb-verdict")).to_have_count(4)
    own = cell(page, "learner's")  # Python's error, and what was written beside it
    expect(own.locator(".tb-verdict")).to_have_count(0)
    expect(own.locator(STRIP).first).to_be_visible()
    expect(own.locator(STRIP).last).to_contain_text("ZeroDivisionError")
    expect(own.locator(STRIP).last).to_be_visible()


def every_word_can_be_read(page: Page) -> None:
    for box in page.locator(".tb-verdict").all():
        (_, bar), *words = box.evaluate(CONTRASTS)
        assert bar >= 3, box.inner_text()
        assert len(words) >= 2
        assert [(text, ratio) for text, ratio in words if ratio < 4.5] == []
