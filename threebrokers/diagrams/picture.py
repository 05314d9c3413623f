"""A picture for a notebook, and the same in words."""

import base64
import html
from dataclasses import dataclass
from pathlib import Path

STYLE = Path(__file__).with_name("picture.css")


@dataclass(frozen=True)
class Picture:
    """A drawing in HTML, its title, and `words`: the same in one or more lines of text."""

    title: str
    words: str
    drawing: str

    def __str__(self) -> str:
        return f"{self.title}\n{self.words}"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        title = html.escape(self.title)
        page = (
            f"<style>{STYLE.read_text('utf-8')}</style>"
            f'<figure class="tb-picture" aria-label="{title}"><figcaption>{title}</figcaption>'
            # Keys can scroll what is wider than the page.
            f'<div class="tb-wide" role="group" aria-label="{title}" tabindex="0">{self.drawing}</div>'
            f"</figure>{in_words(self.words)}"
        )
        return {"text/html": page, "text/plain": str(self)}


def as_image(title: str, words: str, svg: str) -> str:
    """Return an SVG drawing as HTML in the page's theme (`theme.dark_style`), with its words below."""
    # An <img> is shown by a notebook that is not trusted yet; SVG inside HTML is removed there.
    source = base64.b64encode(svg.encode()).decode()
    return (
        f"<style>{STYLE.read_text('utf-8')}</style>"
        f'<img class="tb-image" alt="{html.escape(title)} (described in words below)" style="max-width:100%" '
        f'src="data:image/svg+xml;base64,{source}">{in_words(words)}'
    )


def in_words(words: str) -> str:
    """Return lines of words that say the same as a picture, folded below it."""
    lines = "".join(f"<li>{html.escape(line)}</li>" for line in words.splitlines())
    return f"<details><summary>The same in words</summary><ul>{lines}</ul></details>"
