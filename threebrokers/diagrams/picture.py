"""A picture for a notebook: Graphviz draws it, and the same is said in words."""

import base64
import functools
import html
import os
import sys
from dataclasses import dataclass

import pygraphviz


@dataclass(frozen=True)
class Picture:
    """A drawing in Graphviz's language, its title, and `words`: the same in one or more lines of text."""

    title: str
    words: str
    source: str

    def svg(self) -> str:
        """Return the drawing as SVG, with its title and its words as accessible description."""
        _first_draw()
        drawn = _draw(self.source)
        opening, rest = drawn[drawn.index("<svg") :].split(">", 1)
        named = (
            f'<title id="t">{html.escape(self.title)}</title><desc id="d">{html.escape(self.words)}</desc>'
        )
        return f'{opening} role="img" aria-labelledby="t d">{named}{rest}'

    def __str__(self) -> str:
        return f"{self.title}\n{self.words}"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/html": as_html(self.title, self.words, self.svg()), "text/plain": str(self)}


def as_html(title: str, words: str, svg: str) -> str:
    """Return a drawing as HTML, with lines of words that say the same folded below it."""
    # An <img> is shown by a notebook that is not trusted yet; SVG inside HTML is removed there.
    image = base64.b64encode(svg.encode()).decode()
    lines = "".join(f"<li>{html.escape(line)}</li>" for line in words.splitlines())
    return (
        f'<img alt="{html.escape(title)} (described in words below)" style="max-width:100%" '
        f'src="data:image/svg+xml;base64,{image}">'
        f"<details><summary>The same in words</summary><ul>{lines}</ul></details>"
    )


def _draw(source: str) -> str:
    svg: bytes = pygraphviz.AGraph(string=source).draw(format="svg", prog="dot")
    return svg.decode()


@functools.cache
def _first_draw() -> None:
    # Fontconfig may warn when it is first used, in C, which a notebook shows as a red block.
    sys.stderr.flush()
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        _draw("digraph { a [label=a] }")
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
