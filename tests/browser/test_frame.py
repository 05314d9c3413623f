"""What stands around a lab in JupyterLab: lines of a length to read, the files, nothing that no lab needs."""

import shutil

import pytest
from playwright.sync_api import Page, expect

from tests import jupyter
from tests.jupyter import MS, idle
from threebrokers.waiting import quiet_wait
from tools import ROOT
from tools.proof import environment

LAB = "10_delivery_guarantees.ipynb"  # the longest name
LETTERS = 80
# How many letters the longest line of a paragraph has, of all that are long enough to be broken.
LONGEST = """
() => Math.max(...[...document.querySelectorAll(".jp-MarkdownOutput > :is(p, ul, ol)")].flatMap((block) => {
  const walk = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
  const lines = {}, range = document.createRange();
  for (let node; (node = walk.nextNode()); )
    for (let i = 0; i < node.length; i++) {
      range.setStart(node, i); range.setEnd(node, i + 1);
      const box = range.getBoundingClientRect(), line = Math.round((box.top + box.bottom) / 2 / 8);
      if (box.width) lines[line] = (lines[line] ?? 0) + 1;
    }
  return Object.values(lines);
}))
"""
CUT = """
(names) => names.filter((name) => name.scrollWidth > name.clientWidth).map((name) => name.textContent)
"""


ENLARGED = round(1280 / 1.5)  # what is left of a page of 1280 pixels whose letters are enlarged to 150 %
WIDE, NARROW = 400, 100  # what may lie beside the notebook


def beside(page: Page, width: int) -> float:
    """Return how much lies beside the notebook; the list of files folds a moment after the page stands."""

    def measured() -> float:
        return width - page.locator(".jp-NotebookPanel:visible").bounding_box()["width"]

    quiet_wait(lambda: measured() < (WIDE if width > 900 else NARROW), 20)
    return measured()


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_a_lab_as_it_is_opened(tmp_path, watched, theme):
    for folder in ("work", "solutions"):
        shutil.copytree(ROOT / folder.replace("work", "labs"), tmp_path / folder)
    lab, solution = tmp_path / "work" / LAB, tmp_path / "solutions" / LAB
    before = lab.read_bytes()
    page, found, room = watched.page, {}, {}
    with environment.bench(), jupyter.running(tmp_path, lab, theme) as server:
        for width in (1440, 700, ENLARGED, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            page.goto(server.address)
            idle(page)
            page.locator(".jp-MarkdownOutput > p").nth(4).wait_for()
            room[width] = beside(page, width)
            found[width] = page.evaluate(LONGEST)
            watched.keep(f"lab-{theme.split()[1].lower()}-{width}")

        assert 60 < max(found.values()) <= LETTERS
        names = page.locator(".jp-DirListing-itemText")
        expect(names.filter(has_text=LAB)).to_be_visible()
        assert names.evaluate_all(CUT) == []
        expect(page.locator(".jp-DirListing-headerItem:visible")).to_have_text(["Name"])
        assert room[1440] < WIDE, "beside the notebook there is more than the list of files and two bars"
        assert max(room[700], room[ENLARGED]) < NARROW, "in a narrow window the list of files does not fold"
        for icon in ("bug", "extension"):
            expect(page.locator(f'[data-icon="ui-components:{icon}"]')).to_have_count(0)
        expect(page.locator(".lm-TabBar-tab.jp-mod-dirty, .jp-mod-dirty")).to_have_count(0)

        page.set_viewport_size({"width": 700, "height": 900})
        expect(page.locator(".jp-DirListing:visible")).to_have_count(0)
        page.get_by_role("tab", name="File Browser").click()  # it stays if it is wanted
        expect(names.filter(has_text=LAB)).to_be_visible()
        page.set_viewport_size({"width": 1280, "height": 900})
        expect(names.filter(has_text=LAB)).to_be_visible()

        page.goto(server.address.replace(f"work/{LAB}", f"solutions/{LAB}"))
        idle(page)
        expect(page.locator(".jp-MarkdownCell:visible").first).to_contain_text("Solution.")
        expect(page.locator(".jp-mod-dirty")).to_have_count(0)
        page.goto("about:blank", timeout=10 * MS)
    assert lab.read_bytes() == before, "it was saved, and nobody had touched it"
    assert solution.read_bytes() == (ROOT / "solutions" / LAB).read_bytes()
