"""Write the course as static pages to build/site/: `make site`."""

import argparse
import json
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from html import escape, unescape
from pathlib import Path

from threebrokers import panel
from threebrokers.demo.page import PANEL, WEB
from threebrokers.diagrams.picture import STYLE
from threebrokers.files import write_whole
from tools import ROOT
from tools.site import players, solutions, texts
from tools.site.links import DOCUMENTS, document_id
from tools.site.parts import Page, sections, whole
from tools.slides import build as slides
from tools.slides import deck

TERMS = "docs/topics.md"
TERM = re.compile(r'<li>(.*?): lab (\d\d), <a href="(.*?)">(.*?)</a>')
HERE = Path(__file__).parent / "assets"
NAMES = {
    "docs/glossary.md": "Glossary",
    "docs/topics.md": "Terms",
    "docs/facts.md": "Facts about clients",
    "docs/guarantees.md": "Guarantees",
    "docs/reliability.md": "Reliability",
    "docs/scaling.md": "Scaling",
    "docs/teaching.md": "Teaching",
}
EXPORT = "export default { render };"
INTRODUCTION = (
    "A course on Apache Kafka in Jupyter notebooks, on three real brokers. Here its pages can be read and "
    "searched without a network and without brokers; to do the labs yourself, run <code>make lab</code>."
)


def written(root: Path, folder: Path, labs: Iterable[str] = ()) -> list[Page]:
    """Write the site into a folder, and return its pages; `labs` ("04") chooses solutions and slides."""
    chosen = tuple(labs)
    paths = [
        path for path in sorted((root / "solutions").glob("*.ipynb")) if not chosen or path.stem[:2] in chosen
    ]
    notebooks = [solutions.page(path) for path in paths]
    documents = list(_documents(root))
    recordings = []
    for page, path, content in players.pages(root):
        recordings.append(page)
        _write(folder / path, content)
    decks = _decks(root, folder, chosen)
    navigation = {"Start": "index.html", "Solutions": "solutions.html", "Slides": "slides.html"}
    navigation |= {"Recordings": "recordings.html", **{page.place: page.path for page in documents}}
    lists = [
        _list("Solutions", "solutions.html", ((page.title, page.path) for page in notebooks)),
        _list("Slides", "slides.html", decks),
        _list("Recordings", "recordings.html", ((page.title, page.path) for page in recordings)),
    ]
    pages = [_start(navigation), *lists, *notebooks, *recordings, *documents]
    for page in pages:
        _write(folder / page.path, whole(page, navigation))
    _write(folder / "assets" / "search-index.js", index(pages))
    _copy_assets(folder / "assets")
    return pages


def index(pages: Sequence[Page]) -> str:
    """Return the file of the search: for each section its address, its page, its heading and its words."""
    rows = [
        [page.path + (f"#{section.id}" if section.id else ""), page.title, section.heading, section.text]
        for page in pages
        for section in sections(page.body)
    ]
    rows += [row for page in pages if page.path == DOCUMENTS[TERMS] for row in _terms(page)]
    return f"globalThis.searchIndex = {json.dumps(rows, ensure_ascii=False, separators=(',', ':'))};\n"


def _terms(page: Page) -> Iterator[list[str]]:
    """Yield a row for each term: its address is the section that explains it."""
    for found in TERM.finditer(page.body):
        term, lab, address, section = (unescape(re.sub("<[^>]*>", "", text)) for text in found.groups())
        yield [address, f"Lab {lab}: {section}", term, f"{section} explains it."]


def renderer() -> str:
    """Return the panel's own renderer as a plain script: a page from a file may load no modules."""
    text = (PANEL / "widget.js").read_text("utf-8")
    if text.count(EXPORT) != 1:
        raise ValueError(f"{panel.__name__}/widget.js does not end with {EXPORT!r} any more.")
    return f"(() => {{\n{text.replace(EXPORT, 'globalThis.panel = { render };')}}})();\n"


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return 0 if the whole site was written."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lab", nargs="*", metavar="04", help="only the solutions and slides of these labs")
    chosen = parser.parse_args(arguments).lab
    folder = ROOT / "build" / "site"
    shutil.rmtree(folder, ignore_errors=True)
    try:
        pages = written(ROOT, folder, chosen)
    except (LookupError, deck.DeckError) as fault:
        print(fault, file=sys.stderr)
        return 1
    print(f"build/site/index.html: open it in a browser; {len(pages)} pages, which need no network.")
    return 0


def _documents(root: Path) -> Iterator[Page]:
    for source, name in NAMES.items():
        path = root / source
        if not path.exists():
            continue
        where = DOCUMENTS[source]
        html = texts.Writer(source, where, document_id).html(path.read_text("utf-8"))
        found = re.search(r"<h1[^>]*>(.*?)</h1>", html)
        yield Page(where, re.sub("<[^>]*>", "", found[1]) if found else name, name, html)


def _decks(root: Path, folder: Path, labs: tuple[str, ...]) -> list[tuple[str, str]]:
    """Build the decks into the site. Raises DeckError with all that is left to mend."""
    (folder / "slides").mkdir(parents=True, exist_ok=True)
    paths, left = slides.build(root, folder / "slides", list(labs))
    if left:
        raise deck.DeckError("\n".join(left))
    titles = {path.stem: deck.read(path).title for path in slides.decks(root, list(labs))}
    return [(f"Lab {path.stem[:2]}: {titles[path.stem]}", f"slides/{path.name}") for path in paths]


def _list(title: str, path: str, entries: Iterable[tuple[str, str]]) -> Page:
    items = "".join(f'<li><a href="{address}">{escape(name)}</a></li>' for name, address in entries)
    return Page(path, title, title, f'<h1>{title}</h1>\n<ul class="list">{items}</ul>')


def _start(navigation: dict[str, str]) -> Page:
    items = "".join(
        f'<li><a href="{path}">{escape(name)}</a></li>'
        for name, path in navigation.items()
        if name != "Start"
    )
    body = f'<h1>Three Brokers</h1>\n<p>{INTRODUCTION}</p>\n<ul class="list">{items}</ul>'
    return Page("index.html", "Three Brokers", "Start", body)


def _copy_assets(folder: Path) -> None:
    styles = [PANEL / "widget.css", STYLE, HERE / "site.css"]
    _write(folder / "site.css", "\n".join(path.read_text("utf-8") for path in styles))
    _write(folder / "panel.js", renderer())
    for path in (WEB / "model.js", *HERE.glob("*.js")):
        _write(folder / path.name, path.read_text("utf-8"))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text.encode())
