"""The teacher's guide in a browser: no barrier, no outside request, nothing cut off, and it prints."""

import pytest

from tools import ROOT
from tools.guide import write
from tools.guide.chapters import chapter


@pytest.fixture(scope="module")
def guide(tmp_path_factory):
    teaching = (ROOT / "docs" / "teaching.md").read_text("utf-8")
    lab = chapter(ROOT / "lessons" / "03_replication.py", ROOT)
    files = write.written([lab], teaching, tmp_path_factory.mktemp("guide"))
    return {file.stem: file for file in files}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["index", "check-list", "03_replication"])
def test_a_page_opens_from_its_file_without_a_barrier(guide, watched, name, theme):
    watched.page.emulate_media(color_scheme=theme)
    watched.page.goto(guide[name].as_uri())
    assert watched.measured_barriers("body") == []
    assert [address for address in watched.outside if not address.startswith("file:")] == []
    assert watched.errors == []
    wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    watched.page.set_viewport_size({"width": 700, "height": 900})
    assert watched.page.evaluate(wider) == 0
    watched.keep(f"guide-{name}-{theme}")


def test_pages_print_to_pdf(guide, browser):
    chosen = [guide["check-list"], guide["03_replication"]]
    made = write.printed(chosen, browser)
    assert [file.name for file in made] == ["check-list.pdf", "03_replication.pdf"]
    listed, lab = (file.read_bytes() for file in made)
    assert listed.startswith(b"%PDF")
    assert lab.count(b"/Type /Page\n") > listed.count(b"/Type /Page\n") >= 1
