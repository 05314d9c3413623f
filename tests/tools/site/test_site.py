"""The site is whole: every link leads somewhere, nothing is asked of other machines, all can be searched."""

import json
import re
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest

from tests.recordings import a_kill_and_a_pause
from threebrokers.panel.replay import replay
from tools import ROOT
from tools.site import build, players
from tools.site.links import document_id, heading_id, leads
from tools.site.parts import Page, sections, whole
from tools.site.texts import Writer

LOADED = {"script": "src", "link": "href", "img": "src", "iframe": "src"}


class Read(HTMLParser):
    """Reads a page: its ids, the addresses of its links, and what it loads."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loads = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        known = dict(attrs)
        self.ids += [known["id"]] if "id" in known else []
        self.links += [known["href"]] if tag == "a" and "href" in known else []
        if tag in LOADED and LOADED[tag] in known:
            self.loads.append(known[LOADED[tag]])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    pages = build.written(ROOT, folder)
    return folder, {page.path: Read((folder / page.path).read_text("utf-8")) for page in pages}


def test_every_part_of_the_course_has_its_pages(site):
    folder, pages = site
    names = {path.stem for path in (ROOT / "solutions").glob("*.ipynb")}
    assert {f"solutions/{name}.html" for name in names} <= set(pages)
    assert {path.stem for path in (folder / "slides").glob("*.html")} == {
        path.stem for path in (ROOT / "slides").glob("*.md")
    }
    documents = {"terms.html", "facts.html", "guarantees.html", "reliability.html", "teaching.html"}
    assert documents <= set(pages)


def test_every_link_leads_somewhere(site):
    folder, pages = site
    broken = []
    for path, read in pages.items():
        for address in read.links:
            parts = urlsplit(address)
            if parts.scheme in ("http", "https"):
                continue
            target = ((folder / path).parent / unquote(parts.path)).resolve() if parts.path else folder / path
            name = target.relative_to(folder.resolve()).as_posix() if parts.path else path
            there = target.exists() and (
                not parts.fragment or name not in pages or unquote(parts.fragment) in pages[name].ids
            )
            if not there:
                broken.append(f"{path}: {address}")
    assert broken == []


def test_nothing_is_loaded_from_elsewhere(site):
    folder, pages = site
    assert "../assets/site.css" in pages["solutions/03_replication.html"].loads
    for path, read in pages.items():
        for address in read.loads:
            assert urlsplit(address).scheme in ("", "data"), f"{path} loads {address[:80]}"
            if not urlsplit(address).scheme:
                assert ((folder / path).parent / address).exists(), f"{path} loads {address}"


def test_ids_are_unique(site):
    assert "teaching.html" in site[1]
    for path, read in site[1].items():
        assert read.ids, path
        assert len(read.ids) == len(set(read.ids)), path


def test_the_search_knows_every_page_and_each_term_leads_to_its_section(site):
    folder, pages = site
    text = (folder / "assets" / "search-index.js").read_text("utf-8")
    rows = json.loads(text.removeprefix("globalThis.searchIndex = ").rstrip(";\n"))
    assert {row[0].partition("#")[0] for row in rows} >= set(pages)
    terms = {row[2]: row[0] for row in rows if row[3].endswith(" explains it.")}
    assert terms["high watermark"].startswith("solutions/03_replication.html#")
    for path, _, place in (address.partition("#") for address in terms.values()):
        assert unquote(place) in pages[path].ids


FAILOVER = ("solutions/04_broker_failover.ipynb", "solutions/04_broker_failover.html")
TEACHING = ("docs/teaching.md", "teaching.html")


@pytest.mark.parametrize(
    ("address", "at", "told"),
    [
        ("../labs/03_replication.ipynb#It%20dies", TEACHING, "solutions/03_replication.html#It%20dies"),
        ("05_producers.ipynb", FAILOVER, "05_producers.html"),
        ("../docs/topics.md", FAILOVER, "../terms.html"),
        ("../threebrokers/clock.py", TEACHING, None),
        ("https://kafka.apache.org/", TEACHING, "https://kafka.apache.org/"),
        ("#here", TEACHING, "#here"),
    ],
)
def test_a_link_leads_to_the_page_or_nowhere(address, at, told):
    assert leads(address, *at) == told


def test_headings_have_the_ids_that_jupyter_and_github_give_them():
    assert heading_id("Who gets `acks`?") == "Who-gets-acks?"
    assert document_id("Client's `acks`, 1") == "clients-acks-1"
    told = Writer("docs/x.md", "x.html", document_id).html("# A\n\n# A\n")
    assert 'id="a"' in told
    assert 'id="a-1"' in told


def test_of_a_link_that_leads_nowhere_the_words_are_left():
    told = Writer("docs/x.md", "x.html", document_id).html("See [the *code*](../tools/x.py), $f+1$.")
    assert told == "<p>See the <em>code</em>, f+1.</p>\n"


def test_a_page_is_read_section_by_section_without_its_scripts():
    found = list(
        sections('<p>Before</p><h2 id="a">The <code>acks</code></h2><p>One</p><p>two</p><script>no</script>')
    )
    assert [(one.id, one.heading, one.text) for one in found] == [
        ("", "", "Before"),
        ("a", "The acks", "One two"),
    ]


def test_a_page_says_where_it_stands():
    text = whole(
        Page("solutions/a.html", "A & B", "Solutions", "<h1>A</h1>"), {"Solutions": "solutions.html"}
    )
    assert "<title>A &amp; B – Three Brokers</title>" in text
    assert '<a href="../solutions.html" aria-current="page">Solutions</a>' in text


def test_frames_of_a_recording_add_up_to_those_of_the_panel():
    recording = a_kill_and_a_pause()
    told = players.data(recording)
    panel, now = replay(recording.states, recording.actions), {}
    for place, frame in zip(told["times"], told["frames"], strict=True):
        now |= frame
        panel.position = list(panel.times).index(place)
        assert now == panel.frame
    assert len(json.dumps(told["frames"])) < len(json.dumps([panel.frame] * len(told["times"]))) / 2


def test_the_renderer_is_the_panels_own_and_loads_from_a_file():
    text = build.renderer()
    assert not re.search(r"^export ", text, re.MULTILINE)
    assert "globalThis.panel = { render };" in text
