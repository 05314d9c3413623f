"""What pictures are made of: boxes with words, and tables of them. All of it is HTML that is XML, too.

Words stand in the page itself: they follow its theme and its font, and a viewer that takes style sheets away
(GitHub) still shows a table.
"""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

Rows = Iterable[Sequence[str]]


def box(*lines: str, kind: str = "", broker: int | None = None) -> str:
    """Return a box of one or more lines; `kind` names its look in picture.css, `broker` gives it a colour."""
    inside = (
        escape(lines[0]) if len(lines) == 1 else " ".join(f"<span>{escape(line)}</span>" for line in lines)
    )
    return f'<span class="{names("box", kind, own(broker))}">{inside}</span>'


def boxes(made: Iterable[str]) -> str:
    """Return boxes in a line, which goes on in the next one where there is no room."""
    return f'<span class="tb-boxes">{" ".join(made)}</span>'


def arrow(words: str = "") -> str:
    """Return an arrow to the right, with words at its beginning."""
    return f'<span class="tb-arrow">{escape(words)} <i></i> →</span>'


def cell(inside: str, *, kind: str = "", **more: int) -> str:
    """Return a cell around HTML; `more` are colspan and rowspan."""
    return _cell("td", inside, kind, more)


def head(words: str, *, kind: str = "", broker: int | None = None, **more: int) -> str:
    """Return the head of a column."""
    return _cell("th", escape(words), f"{kind} {own(broker)}", more, scope="col")


def row_head(words: str, *, kind: str = "", **more: int) -> str:
    """Return the head of a row."""
    return _cell("th", escape(words), kind, more, scope="row")


def table(rows: Rows, *, heads: Sequence[str] = (), kind: str = "") -> str:
    """Return a table of rows of cells."""
    begin = f"<thead><tr>{''.join(heads)}</tr></thead>" if heads else ""
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return f'<table class="{names("grid", kind)}">{begin}<tbody>{body}</tbody></table>'


def own(broker: int | None) -> str:
    """Return the class that gives a broker's colour to what has it; nothing for no broker."""
    return "" if broker is None else f"b{broker}"


def names(*kinds: str) -> str:
    """Return class names with the prefix that all of the course's have."""
    return " ".join(f"tb-{kind}" for kind in " ".join(kinds).split())


def _cell(tag: str, inside: str, kind: str, spans: dict[str, int], **more: Any) -> str:
    given = {"class": names(kind)} if kind.strip() else {}
    told = "".join(f' {name}="{value}"' for name, value in {**given, **more, **spans}.items())
    return f"<{tag}{told}>{inside}</{tag}>"
