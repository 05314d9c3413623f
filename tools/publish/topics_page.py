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
    for letter, found in groupby(sorted(terms, key=order), lambda term: order(term)[0][:1]):
        lines = [f"- {named(term)}: lab {term.stem[:2]}, [{term.section}]({term.link})" for term in found]
        parts.append("\n".join([f"## {letter.upper() if letter.isalpha() else '#'}", "", *lines, ""]))
    return "\n".join(parts)


def order(term: Term) -> tuple[str, str]:
    """Return what terms are sorted by: signs before a name do not count."""
    return term.name.lstrip("_-/ ").casefold(), term.name


def named(term: Term) -> str:
    """Return the name as a page shows it, as code where the lesson writes it so."""
    word, bracket, rest = term.name.partition(" (")
    return f"`{word}`{bracket}{rest}" if term.is_code else term.name
