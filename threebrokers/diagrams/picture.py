"""A picture for a notebook, and the same in words."""

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


def in_words(words: str) -> str:
    """Return lines of words that say the same as a picture, folded below it."""
    lines = "".join(f"<li>{html.escape(line)}</li>" for line in words.splitlines())
    return f"<details><summary>The same in words</summary><ul>{lines}</ul></details>"
