"""Where the links of notebooks and documents lead in the site."""

import re
from pathlib import PurePosixPath
from posixpath import normpath, relpath
from urllib.parse import quote, unquote, urlsplit

DOCUMENTS = {
    "docs/topics.md": "terms.html",
    "docs/glossary.md": "glossary.html",
    "docs/facts.md": "facts.html",
    "docs/guarantees.md": "guarantees.html",
    "docs/reliability.md": "reliability.html",
    "docs/scaling.md": "scaling.html",
    "docs/teaching.md": "teaching.html",
    "README.md": "index.html",
}


def leads(address: str, source: str, page: str) -> str | None:
    """Return the address on a page of the site for one in a file of the clone; None if it leads nowhere here.

    `source` is that file ("docs/topics.md"), `page` the path of the page ("terms.html"). Addresses of other
    machines and places in the same page stay as they are.
    """
    parts = urlsplit(address)
    if parts.scheme or not parts.path:
        return address
    target = normpath(str(PurePosixPath(source).parent / unquote(parts.path)))
    path = DOCUMENTS.get(target) or _notebook(target)
    if path is None:
        return None
    place = f"#{parts.fragment}" if parts.fragment else ""
    return quote(relpath(path, PurePosixPath(page).parent)) + place


def heading_id(text: str) -> str:
    """Return the id of a heading as Jupyter makes it: its words with hyphens between them."""
    return text.replace("`", "").strip().replace(" ", "-")


def document_id(text: str) -> str:
    """Return the id of a heading in a document, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", text.replace("`", "").strip().lower()).replace(" ", "-")


def _notebook(target: str) -> str | None:
    found = re.fullmatch(r"(?:labs|solutions)/(\w+)\.ipynb", target)
    return f"solutions/{found[1]}.html" if found else None
