"""What a block shows: HTML, and the same in words."""

import re
from dataclasses import dataclass
from html import escape

NUMBER = re.compile(r"[✗✓* ]*[−-]?[\d.,]+\*{0,2}( ?[a-zA-Z%]{1,3})?|–")


@dataclass(frozen=True)
class Shown:
    """HTML, and `words`: its twin in lines of text, empty if the HTML is words already."""

    html: str
    words: str = ""


def inline(text: str) -> str:
    """Return a line of text as HTML; what stands between back-ticks is code, ** is bold, * is emphasis."""
    parts = text.split("`")
    marked = [f"<code>{escape(p)}</code>" if n % 2 else _bold(p) for n, p in enumerate(parts)]
    return "".join(marked)


def table(heads: list[str], rows: list[list[str]]) -> str:
    """Return a table of texts; a column of numbers stands at the right, with its head."""
    kinds = [
        ' class="number"' if all(map(NUMBER.fullmatch, column)) else "" for column in zip(*rows, strict=True)
    ]
    top = "".join(
        f'<th scope="col"{kind}>{inline(head)}</th>' for head, kind in zip(heads, kinds, strict=True)
    )
    body = "".join(f"<tr>{_cells(row, kinds)}</tr>" for row in rows)
    return f'<table class="plain"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'


def _cells(row: list[str], kinds: list[str]) -> str:
    return "".join(f"<td{kind}>{inline(text)}</td>" for text, kind in zip(row, kinds, strict=True))


def _bold(text: str) -> str:
    strong = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", escape(text))
    return re.sub(r"\*(.+?)\*", r"<em>\1</em>", strong)
