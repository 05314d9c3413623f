"""The box of every verdict: of a check, of a comparison, of a sentence that came true, of a trouble.

It looks the same for each, so it is learned once: a bar in the verdict's colour, its sign, what it is about,
and the sentence. All of its style stands in the element itself, so it needs no style sheet of the page; a
viewer that takes styles away (GitHub) leaves sign and words.
"""

import html
from dataclasses import dataclass

from threebrokers import theme
from threebrokers.text import as_html

# Inks follow the page's theme. A mix of them with a colour can be read on light and on dark pages.
TINT = "background:color-mix(in srgb,currentColor 5%,transparent)"
SOFT = "color:color-mix(in srgb,currentColor 76%,transparent)"
# JupyterLab draws the error that ended a cell right behind the box, and there it says the same again.
NO_STRIP = (
    "<style>.jp-OutputArea-child:has(.tb-verdict-raised)+.jp-OutputArea-child"
    ':has(>[data-mime-type="application/vnd.jupyter.stderr"]){display:none}</style>'
)


@dataclass(frozen=True)
class Box:
    """A verdict as it is shown; `twin` is all of it as plain text.

    The sentence has up to three ranks: `strong`, then `plain`, which goes on right behind it, and `soft` at
    the end. What stands between backticks is code. With the `number` and `title` of an exercise it has a
    line for these; without them it is small. `raised` says that an error with the same words follows it.
    """

    look: theme.Look
    twin: str
    plain: str
    strong: str = ""
    soft: str = ""
    number: str = ""
    title: str = ""
    raised: bool = False

    def __repr__(self) -> str:
        return self.twin

    def _repr_html_(self) -> str:
        edge = f"border-left:4px solid {self.look.colour};margin:.2em 0;padding:"
        style = f"{edge}.5em 1em;{TINT}" if self.number else f"{edge}.15em 1em"
        name = "tb-verdict tb-verdict-raised" if self.raised else "tb-verdict"
        soft = f'<div style="{SOFT}">{as_html(self.soft)}</div>' if self.soft else ""
        inside = f"<div>{self._head}{self._sentence}</div>{soft}"
        return f'{NO_STRIP if self.raised else ""}<div class="{name}" style="{style}">{inside}</div>'

    @property
    def _head(self) -> str:
        ink = f"color:color-mix(in srgb,{self.look.colour} 60%,currentColor)"
        # The small form says in its words what the sign says; they are not those of exercises.
        spoken = f'role="img" aria-label="{self.look.word}"' if self.number else 'aria-hidden="true"'
        sign = f'<b {spoken} style="{ink}">{self.look.sign}</b>&ensp;'
        if not self.number:
            return sign
        colon = "" if self.title.endswith("?") else ":"  # the sentence goes on from here
        return f"{sign}{html.escape(self.number)}&ensp;<b>{html.escape(self.title)}{colon}</b></div><div>"

    @property
    def _sentence(self) -> str:
        strong = f"<b>{as_html(self.strong)}</b>" if self.strong else ""
        return f"{strong}{as_html(self.plain)}"

    @property
    def forms(self) -> dict[str, str]:
        """The box in each form that a notebook keeps, by MIME type."""
        return {"text/plain": repr(self), "text/html": self._repr_html_()}
