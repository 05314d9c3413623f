"""docs/glossary.md: each term that a lesson explains, in one sentence, and where it is first met."""

import tomllib
from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path

from tools.publish.terms import Term
from tools.publish.topics_page import named, order

SOURCE = "tools/publish/glossary.toml"
MOST = 30  # words of a sentence
HEAD = f"""\
<!-- Built by `make topics` from `explains=` in the lessons and {SOURCE}: do not edit. -->

# Glossary

Each term in one sentence, and the lab and section that explain it first. Each lab ends with its own words.
"""


def sentences(root: Path) -> dict[str, str]:
    """Return the sentence of each term, by its name; none if there is no such file."""
    path = root / SOURCE
    return tomllib.loads(path.read_text("utf-8")) if path.exists() else {}


def problems(terms: Iterable[Term], told: Mapping[str, str]) -> list[str]:
    """Return what is missing, too much or no plain sentence, in words; nothing without any sentences."""
    known = {term.name: term for term in terms}
    missing = [
        f"{SOURCE} has no sentence for '{name}' (lessons/{term.stem}.py, '{term.section}'); write one."
        for name, term in known.items()
        if name not in told
    ]
    unknown = [
        f"{SOURCE} has a sentence for '{name}', which no lesson explains; delete it, or mend the name."
        for name in told
        if name not in known
    ]
    odd = [
        f"{SOURCE}: '{name}' is to have one sentence of {MOST} words at most, which ends with a full stop."
        for name, text in told.items()
        if not _is_plain(text)
    ]
    return [*missing, *unknown, *odd] if told else []


def page(terms: Iterable[Term], told: Mapping[str, str]) -> str:
    """Return the text of the page: the terms in the order of the alphabet, under their first letters."""
    parts = [HEAD]
    for letter, found in groupby(sorted(terms, key=order), lambda term: order(term)[0][:1]):
        lines = [
            f"- **{named(term)}**: {told[term.name]} Lab {term.stem[:2]}, [{term.section}]({term.link})"
            for term in found
            if term.name in told
        ]
        parts.append("\n".join([f"## {letter.upper() if letter.isalpha() else '#'}", "", *lines, ""]))
    return "\n".join(parts)


def _is_plain(text: str) -> bool:
    inside = text[:-1].replace("e.g.", "")
    return (
        text.endswith(".") and ". " not in inside and len(text.split()) <= MOST and text.count("`") % 2 == 0
    )
