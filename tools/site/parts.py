"""What a page of the site is, how its sections are found, and which pages stand beside each other."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from html.parser import HTMLParser

from threebrokers.demo.page import colours

COURSE = "Three Brokers"
UNREAD = {"style", "script"}
HEADINGS = {"h1", "h2", "h3", "h4"}


@dataclass(frozen=True)
class Page:
    """One page: its path in the site ("solutions/02_the_log.html"), its title, and what stands in it.

    `place` is the entry of the navigation to which it belongs; `scripts` are files of the site.
    """

    path: str
    title: str
    place: str
    body: str
    scripts: tuple[str, ...] = ()

    @property
    def up(self) -> str:
        """The way from this page to the site's root."""
        return "../" * self.path.count("/")


@dataclass(frozen=True)
class Section:
    """A part of a page under one heading; `id` is that heading's, empty for what stands before the first."""

    id: str
    heading: str
    text: str


def whole(page: Page, navigation: dict[str, str]) -> str:
    """Return the file of a page; `navigation` holds the path of each entry, by its name."""
    links = "".join(_entry(page, name, path) for name, path in navigation.items())
    scripts = "".join(f'<script src="{page.up}{name}"></script>\n' for name in page.scripts)
    return f"""<!doctype html>
<html lang="en" data-up="{page.up}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(page.title)} – {COURSE}</title>
<link rel="icon" href="data:,">
<style>{colours()}</style>
<link rel="stylesheet" href="{page.up}assets/site.css">
<script src="{page.up}assets/theme.js"></script>
</head>
<body>
<a class="skip" href="#content">To the content</a>
<header>
<nav aria-label="Parts of the site"><ul>{links}</ul></nav>
<div class="tools"><div class="search" role="search"><label for="search">Search <kbd>/</kbd></label>
<input id="search" type="search" role="combobox" aria-expanded="false" aria-controls="found"
aria-autocomplete="list" autocomplete="off">
<ul id="found" role="listbox" aria-label="What was found" hidden></ul><p id="count" role="status"></p></div>
<button type="button" id="theme">light, dark</button></div>
</header>
<main id="content" tabindex="-1">
{page.body}
</main>
<script src="{page.up}assets/search-index.js"></script>
<script src="{page.up}assets/search.js"></script>
{scripts}</body>
</html>
"""


def _entry(page: Page, name: str, path: str) -> str:
    current = ' aria-current="page"' if name == page.place else ""
    return f'<li><a href="{page.up}{path}"{current}>{escape(name)}</a></li>'


def sections(body: str) -> Iterator[Section]:
    """Yield the sections of a page, with the text that a reader sees."""
    reader = _Reader()
    reader.feed(body)
    reader.close()
    for name, heading, words in reader.found:
        text = re.sub(r"\s+", " ", "".join(words)).strip()
        if heading or text:
            yield Section(name, re.sub(r"\s+", " ", "".join(heading)).strip(), text)


class _Reader(HTMLParser):
    """Reads a page: `found` holds the id, the words of the heading and all other words of each section."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, list[str], list[str]]] = [("", [], [])]
        self._unread, self._in_heading = 0, False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._unread += tag in UNREAD
        if tag in HEADINGS and (name := dict(attrs).get("id")):
            self.found.append((name, [], []))
            self._in_heading = True
        self._apart(tag)

    def handle_endtag(self, tag: str) -> None:
        self._unread -= tag in UNREAD
        self._in_heading = self._in_heading and tag not in HEADINGS
        self._apart(tag)

    def handle_data(self, data: str) -> None:
        if not self._unread:
            _, heading, words = self.found[-1]
            (heading if self._in_heading else words).append(data)

    def _apart(self, tag: str) -> None:
        """Let words of two cells or paragraphs not grow together."""
        if tag in ("p", "li", "td", "th", "div", "br", "pre", "summary"):
            self.found[-1][2].append(" ")
