"""What pictures are made of: Graphviz tables, and graphs."""

from collections.abc import Sequence
from html import escape
from typing import Any

import graphviz

from threebrokers.theme import INK, PAPER, SOFT

FONT = "DejaVu Sans,Verdana,Arial,sans-serif"


def cell(
    *lines: str,
    bold: bool = False,
    border: int = 0,
    color: str = INK,
    text: str = INK,
    fill: str = PAPER,
    style: str = "rounded",
    **more: Any,
) -> str:
    """Make a table cell of one or more lines; `more` is Graphviz's own (`port`, `align`, …)."""
    # A browser's font may be wider than the one Graphviz measured, so every line gets some room.
    inside = "<br/>".join(f" {escape(line)} " for line in lines)
    weight = f"<b>{inside}</b>" if bold else inside
    rest = "".join(f' {name}="{value}"' for name, value in more.items())
    return (
        f'<td border="{border}" color="{color}" bgcolor="{fill}" style="{style}" cellpadding="6"{rest}>'
        f'<font color="{text}">{weight}</font></td>'
    )


def table(rows: Sequence[Sequence[str]], frame: str | None = None) -> str:
    """Make a label of rows of cells, with a frame of this colour around it."""
    inside = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    edge = f'border="2" color="{frame}" style="rounded" bgcolor="{PAPER}"' if frame else 'border="0"'
    return f'<<table {edge} cellborder="0" cellspacing="4">{inside}</table>>'


def graph(**attributes: str) -> graphviz.Digraph:
    """Make an empty graph on a light card of its own, which suits light and dark themes."""
    return graphviz.Digraph(
        graph_attr={"bgcolor": PAPER, "pad": "0.15", "fontname": FONT, "fontsize": "10"} | attributes,
        node_attr={"fontname": FONT, "fontsize": "10", "fontcolor": INK, "color": INK, "shape": "plain"},
        edge_attr={"color": SOFT, "penwidth": "1.4", "arrowsize": "0.8"},
    )


def lone_table(rows: Sequence[Sequence[str]]) -> str:
    """Return the source of a picture that is one table."""
    whole = graph()
    whole.node("table", label=table(rows))
    return str(whole.source)
