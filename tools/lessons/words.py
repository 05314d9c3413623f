"""The words of a lab: a term shows its sentence where it stands first, and all stand folded at the end.

A sentence that shows itself under the mouse reaches nobody who has none: the list at the end is its twin.
"""

import functools
import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from tools.lessons import lesson as lessons
from tools.publish import glossary, terms
from tools.publish.terms import Term
from tools.publish.topics_page import named, order

ID = "words"
TITLE = "The words of this lab, each in one sentence"
MORE = "All words of the course are in the [glossary](../docs/glossary.md)."
# What is left as it is: programs, headings, links, tags. Then what may be a term: bold words, code.
PARTS = re.compile(
    r"(?P<left>```.*?```|^#.*?$|\[[^\]]*\]\([^)]*\)|<[^>]+>)|\*\*(?P<bold>[^*\n]+)\*\*|`(?P<code>[^`\n]+)`",
    re.DOTALL | re.MULTILINE,
)
DISTINCT = re.compile(
    r"[._-]|[a-z][A-Z]|^[A-Z]{3}"
)  # `pause` is also what is done to a broker, `acks.x` is not


@dataclass(frozen=True)
class Words:
    """The terms of the course, in its order, and their sentences by name."""

    terms: tuple[Term, ...]
    told: Mapping[str, str]


def of(root: Path) -> Words:
    """Return the words of a course."""
    told = glossary.sentences(root)
    if not told:
        return Words((), {})
    stamp = tuple((path.stat().st_mtime_ns, path.stat().st_size) for path in lessons.lessons(root))
    return Words(_explained(root, stamp), told)


@functools.lru_cache(maxsize=4)
def _explained(root: Path, stamp: object) -> tuple[Term, ...]:
    """Return what the lessons explain; `stamp` changes when they do."""
    return tuple(terms.explained(root))


def mark(notebook: Any, stem: str, words: Words) -> None:
    """Let the terms in a notebook show their sentences, and list them before its last cell.

    Marked are what this lab explains, where it is bold or code, and names in code that earlier labs explain.
    """
    own = {term.key: term for term in words.terms if term.stem == stem}
    earlier = {
        term.name.partition(" (")[0]: term for term in words.terms if term.stem < stem and _distinct(term)
    }
    met = {term.name: term for term in own.values() if term.name in words.told}
    marked: set[str] = set()

    def shown(part: re.Match[str]) -> str:
        text = part["bold"] or part["code"] or ""
        term = own.get(text.strip("`").casefold().removesuffix("s"))
        term = term or (earlier.get(text) if part["code"] else None)
        if term is None or term.name in marked or term.name not in words.told:
            return part[0]
        marked.add(term.name)
        met[term.name] = term
        title = html.escape(words.told[term.name].replace("`", ""))
        return f'<abbr title="{title}">{part[0]}</abbr>'

    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = PARTS.sub(shown, cell.source)
    if met:
        lines = [f"- **{named(term)}**: {words.told[term.name]}" for term in sorted(met.values(), key=order)]
        text = "\n".join([f"<details><summary>{TITLE}</summary>", "", *lines, "", MORE, "", "</details>"])
        cell = nbformat.v4.new_markdown_cell(text, id=ID)  # type: ignore[no-untyped-call]
        notebook.cells.insert(len(notebook.cells) - 1, cell)


def _distinct(term: Term) -> bool:
    return term.is_code and bool(DISTINCT.search(term.name.partition(" (")[0]))
