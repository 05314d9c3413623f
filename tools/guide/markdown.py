"""Markdown as HTML, with links that still lead somewhere from build/guide/."""

import re
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
CLONE = "../../"  # from build/guide/
PARSER = MarkdownIt("commonmark", {"html": False}).enable("table")


def html(text: str, folder: str = "") -> str:
    """Return a text as HTML; its relative links are those of a page in this folder of the clone ("docs/")."""
    tokens = PARSER.parse(COMMENT.sub("", text))
    for token in tokens:
        for child in token.children or []:
            _relink(child, folder)
    told: str = PARSER.renderer.render(tokens, PARSER.options, {})
    return told.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")


def line(text: str) -> str:
    """Return one line of Markdown as HTML, without a paragraph around it."""
    told: str = PARSER.renderInline(text)
    return told


def _relink(token: Token, folder: str) -> None:
    address = str(token.attrGet("href") or "")
    if address and not urlsplit(address).scheme and not address.startswith("#"):
        # The labs link to each other as notebooks; in the guide these are the solutions of the clone.
        token.attrSet("href", f"{CLONE}{folder}{address}")
