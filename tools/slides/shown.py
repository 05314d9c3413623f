"""What a block shows: HTML, and the same in words."""

import re
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Shown:
    """HTML, and `words`: its twin in lines of text, empty if the HTML is words already."""

    html: str
    words: str = ""


def inline(text: str) -> str:
    """Return a line of text as HTML; what stands between back-ticks is code, between ** is bold."""
    parts = text.split("`")
    marked = [f"<code>{escape(p)}</code>" if n % 2 else _bold(p) for n, p in enumerate(parts)]
    return "".join(marked)


def table(heads: list[str], rows: list[list[str]]) -> str:
    """Return a table of texts; numbers stand at the right."""
    top = "".join(f'<th scope="col">{inline(head)}</th>' for head in heads)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f'<table class="plain"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'


def _cell(text: str) -> str:
    kind = ' class="number"' if re.fullmatch(r"[−-]?[\d.,]+( ?[a-zA-Z%]{1,3})?", text) else ""
    return f"<td{kind}>{inline(text)}</td>"


def _bold(text: str) -> str:
    return re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", escape(text))
