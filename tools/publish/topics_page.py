"""docs/topics.md: the index that `make topics` builds."""

from collections.abc import Iterable
from itertools import groupby

from tools.publish.terms import Term

HEAD = """\
<!-- Built by `make topics` from `explains=` in the lessons: do not edit. -->

# Index

Terms of Kafka and Spark, settings, tools and errors, and the section that explains each of them.
"""


def page(terms: Iterable[Term]) -> str:
    """Return the text of the page: the terms in the order of the alphabet, under their first letters."""
    parts = [HEAD]
    for letter, found in groupby(sorted(terms, key=_order), lambda term: _order(term)[0][:1]):
        lines = [f"- {_name(term)}: lab {term.stem[:2]}, [{term.section}]({term.link})" for term in found]
        parts.append("\n".join([f"## {letter.upper() if letter.isalpha() else '#'}", "", *lines, ""]))
    return "\n".join(parts)


def _order(term: Term) -> tuple[str, str]:
    return term.name.lstrip("_-/ ").casefold(), term.name


def _name(term: Term) -> str:
    word, bracket, rest = term.name.partition(" (")
    return f"`{word}`{bracket}{rest}" if term.is_code else term.name
