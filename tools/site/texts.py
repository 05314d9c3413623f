"""Markdown of notebooks and documents as HTML: headings can be linked to, links lead within the site."""

import re
from collections import Counter
from collections.abc import Callable
from html import escape

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tools.site.links import leads

COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
FORMULA = re.compile(r"\$([^$\n]{1,40})\$")
# Their folded hints are HTML of the course's own.
PARSER = MarkdownIt("commonmark", {"html": True}).enable("table")


class Writer:
    """Writes the texts of one page; ids of headings are unique in it."""

    def __init__(self, source: str, page: str, identify: Callable[[str], str]) -> None:
        self._source, self._page, self._identify = source, page, identify
        self._seen: Counter[str] = Counter()

    def html(self, text: str) -> str:
        """Return a text as HTML."""
        tokens = PARSER.parse(COMMENT.sub("", text))
        for place, token in enumerate(tokens):
            if token.type == "heading_open":
                token.attrSet("id", self._unique(self._identify(tokens[place + 1].content)))
            if token.children:
                token.children = self._relinked(token.children)
        told: str = PARSER.renderer.render(tokens, PARSER.options, {})
        told = told.replace(
            "<table>", '<div class="wide" role="region" aria-label="Table" tabindex="0"><table>'
        )
        return told.replace("</table>", "</table></div>")

    def _unique(self, name: str) -> str:
        self._seen[name] += 1
        return name if self._seen[name] == 1 else f"{name}-{self._seen[name] - 1}"

    def _relinked(self, children: list[Token]) -> list[Token]:
        """Return these parts of a line; of a link that leads nowhere here only its words are left."""
        kept, dropped = [], []
        for child in children:
            if child.type == "link_open":
                address = leads(str(child.attrGet("href")), self._source, self._page)
                dropped.append(address is None)
                if address is not None:
                    child.attrSet("href", address)
                    kept.append(child)
            elif child.type == "link_close":
                kept += [] if dropped.pop() else [child]
            elif child.type == "text":
                child.content = FORMULA.sub(r"\1", child.content)
                kept.append(child)
            elif child.type != "image":
                kept.append(child)
        return kept


def code(text: str) -> str:
    """Return a text as code."""
    return f"<pre><code>{escape(text)}</code></pre>" if text.strip() else ""
