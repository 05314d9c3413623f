"""What was seen: a picture of a cell in each theme, and the page and the table that list them."""

import html
from collections.abc import Sequence
from dataclasses import dataclass, field

THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
STYLE = (
    "body{font:15px/1.5 system-ui;margin:1em}section{border-top:1px solid #888;padding:.5em 0}"
    "img{max-width:49%;border:1px solid #888;vertical-align:top}"
    "pre{background:#eee;padding:.5em;overflow:auto}"
    ".odd{color:#a00;font-weight:bold}"
)


@dataclass
class Shot:
    """A cell after it ran. `outputs` are kept, so that the other theme can show them without a rerun."""

    number: int
    place: int
    cell: str
    typed: str = ""
    exercise: str = ""
    answer: str = ""
    judges: bool = False
    wanted: bool = True
    verdict: str = ""
    traceback: str = ""
    wider: str = ""
    outputs: list[dict[str, object]] = field(default_factory=list)

    def file(self, theme: str) -> str:
        """Return the name of its picture."""
        return f"{self.number:03}-{self.cell}-{theme}.png"

    @property
    def odd(self) -> list[str]:
        """What a person should look at first, in sentences."""
        found = []
        if self.traceback:
            found.append(f"it ended in a traceback that the lesson does not announce: {self.traceback}")
        if self.judges and self.verdict.startswith("✓") != self.wanted:
            found.append(f"the check should say {'solved' if self.wanted else 'not yet'}")
        if self.wider:
            found.append(f"{self.wider} is wider than the cell")
        return found


def table(shots: Sequence[Shot], console: Sequence[str]) -> str:
    """Return exercises, tries and verdicts as a table, then what is odd, then the console's errors."""
    lines = ["exercise  try                                       verdict"]
    for shot in shots:
        if shot.judges:
            lines.append(f"{shot.exercise:9} {shot.answer[:40]:41} {shot.verdict}")
    odd = [f"  {shot.number:03} {shot.cell}: {words}" for shot in shots for words in shot.odd]
    lines += ["", f"To look at: {len(odd)}", *odd]
    return "\n".join(
        [*lines, f"Errors of the browser's console: {len(console)}", *(f"  {one}" for one in console)]
    )


def page(title: str, shots: Sequence[Shot], console: Sequence[str]) -> str:
    """Return the page that shows all pictures, each cell in both themes, with what was typed and said."""
    body = "".join(map(_section, shots))
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f"<style>{STYLE}</style><h1>{html.escape(title)}</h1>"
        f"<pre>{html.escape(table(shots, console))}</pre>{body}</html>"
    )


def _section(shot: Shot) -> str:
    head = f"{shot.number:03} · cell {shot.place} · {shot.cell}"
    if shot.exercise:
        head += f" · {shot.exercise}: {shot.answer}"
    odd = "".join(f'<p class="odd">{html.escape(words)}</p>' for words in shot.odd)
    typed = f"<pre>{html.escape(shot.typed)}</pre>" if shot.typed else ""
    said = f"<p>{html.escape(shot.verdict)}</p>" if shot.judges else ""
    seen = "".join(f'<img loading="lazy" src="{shot.file(theme)}" alt="{theme}">' for theme in THEMES)
    return f"<section><h2>{html.escape(head)}</h2>{odd}{typed}{said}{seen}</section>"
