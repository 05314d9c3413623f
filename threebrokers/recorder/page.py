"""A time line on a page: an image, spots on it that tell more, and the same in words."""

import base64
import hashlib
import html
from collections.abc import Iterable

from threebrokers import theme
from threebrokers.recorder.shapes import Spot
from threebrokers.recorder.svg import Drawing

WIDEST = 900  # px: there its words are as large as those of the page
# What a spot tells is in no element of its own, and a spot is `hidden` unless the style sheet says otherwise:
# where style sheets are taken away, nothing is left over. Of radio buttons Tab meets one, and arrows lead to
# the others, without a script. An image goes by the color-scheme of its element.
STYLE = f"""
.tb-time {{ position: relative; max-width: {WIDEST}px; }}
.tb-time > img {{ display: block; width: 100%; color-scheme: light; }}
[data-jp-theme-light="false"] .tb-time > img {{ color-scheme: dark; }}
.tb-time > input {{
  display: block; position: absolute; margin: 0; border-radius: 3px; appearance: none; cursor: help;
}}
.tb-time > input:hover, .tb-time > input:focus {{ outline: 2px solid currentColor; z-index: 1; }}
.tb-time > input:hover::after, .tb-time > input:focus::after {{
  content: attr(aria-label);
  position: absolute; top: calc(100% + 4px); left: 0;
  width: max-content; max-width: 22em; padding: 4px 8px; border: 1px solid {theme.GREY}; border-radius: 4px;
  background: {theme.INK}; color: {theme.PAPER}; font: 13px/1.4 system-ui, sans-serif;
  pointer-events: none;
}}
.tb-time > input.tb-left::after {{ left: auto; right: 0; }}
.tb-time:has(> input:hover) > input:focus:not(:hover)::after {{ display: none; }}
"""


def as_html(title: str, drawing: Drawing, said: Iterable[str], rows: Iterable[str]) -> str:
    """Return a drawing as HTML, with what is `said` of it folded below, and each of its rows in there."""
    # An <img> is shown by a notebook that is not trusted yet; SVG inside HTML is removed there.
    image = base64.b64encode(drawing.svg.encode()).decode()
    name = f"tb-{hashlib.sha256(image.encode()).hexdigest()[:8]}"
    spots = "".join(_spot(spot, drawing, name) for spot in drawing.spots)
    return (
        f'<style>{STYLE}</style><div class="tb-time" role="group" aria-label="{html.escape(title)}" '
        f'data-lm-suppress-shortcuts="true">'  # keys pressed here are not JupyterLab's
        f'<img alt="{html.escape(title)} (described in words below)" style="max-width:100%" '
        f'src="data:image/svg+xml;base64,{image}">{spots}</div>'
        f"<details><summary>The same in words</summary>{_list(said)}"
        f"<details><summary>Each row in words</summary>{_list(rows)}</details></details>"
    )


def _list(lines: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{html.escape(line)}</li>' for line in lines)}</ul>"


def _spot(spot: Spot, drawing: Drawing, name: str) -> str:
    middle = spot.x + spot.width / 2
    side = ' class="tb-left"' if middle > drawing.width / 2 else ""
    places = (
        f"left:{100 * spot.x / drawing.width:.2f}%;top:{100 * spot.y / drawing.height:.2f}%;"
        f"width:{100 * spot.width / drawing.width:.2f}%;height:{100 * spot.height / drawing.height:.2f}%"
    )
    words = html.escape(spot.words)
    return f'<input{side} type="radio" hidden name="{name}" aria-label="{words}" style="{places}">'
