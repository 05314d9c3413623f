"""What drawings in SVG are made of: a sheet in the page's theme, and words on it. Places are in px."""

import html
from collections.abc import Iterable

from threebrokers import theme


def sheet(title: str, width: int, height: int, drawn: Iterable[str]) -> str:
    """Return a whole drawing, with a title for those who do not see it."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif" font-size="12" fill="{theme.INK}" role="img" '
        f'aria-label="{html.escape(title)}">'
        f'{theme.dark_style()}<rect width="{width}" height="{height}" fill="{theme.PAPER}"/>'
        f"{''.join(drawn)}</svg>"
    )


def text(x: float, y: float, said: str, anchor: str, *, bold: bool = False, colour: str = theme.INK) -> str:
    """Return words that start, end or have their middle (`anchor`) at x, and stand on y."""
    weight = ' font-weight="bold"' if bold else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}"{weight}>'
        f"{html.escape(said)}</text>"
    )
