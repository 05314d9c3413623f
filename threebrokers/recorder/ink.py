"""Colours and shapes of a time line."""

from html import escape

INK, SOFT, RULE, PAPER, BAD = "#1f2328", "#59636e", "#d1d9e0", "#ffffff", "#b3261e"
# Okabe-Ito colours, each with the ink that is easier to read on it.
LOOKS = {
    "broker 1": ("#0072b2", "#ffffff"),
    "broker 2": ("#d55e00", "#000000"),
    "broker 3": ("#009e73", "#000000"),
    "good": ("#cdd3da", INK),
    "less": ("#f6eb90", INK),
    "unknown": ("#f3f4f6", SOFT),
}
LETTER = 6.2  # how wide a letter is at most, on average (px)


def fits(words: str, width: float) -> bool:
    """Tell whether words fit into so many px."""
    return len(words) * LETTER + 5 <= width


def text(
    x: float,
    y: float,
    words: str,
    ink: str,
    *,
    anchor: str = "start",
    bold: bool = False,
    halo: str = "",
    limit: float | None = None,
) -> str:
    """Return words; longer ones than `limit` px end in an ellipsis."""
    if limit is not None and not fits(words, limit):
        words = words[: int((limit - 5) / LETTER) - 1] + "…"
    weight = ' font-weight="600"' if bold else ""
    edge = f' stroke="{halo}" stroke-width="4" style="paint-order:stroke"' if halo else ""
    where = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{ink}"{where}{weight}{edge}>{escape(words)}</text>'


def box(
    x: float,
    y: float,
    width: float,
    height: float,
    fill: str,
    line: str,
    *,
    dash: str = "",
    radius: float = 3,
) -> str:
    """Return a box with a line around it, or without one if `line` is "none"."""
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.5):.1f}" height="{height:.1f}" rx="{radius}" '
        f'fill="{fill}" stroke="{line}"{dashed}/>'
    )
