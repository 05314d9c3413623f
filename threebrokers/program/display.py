"""What a program's cell shows: how the program is, and the end of its output."""

import html
import signal
from dataclasses import dataclass

from threebrokers.program.protocol import STOPPED

LINES, WIDTH = 12, 300
GREEN, BLUE, ORANGE, GREY = "#009e73", "#0072b2", "#d55e00", "#8a8f98"


def ending(code: int) -> str:
    """Say in words how a program ended. `code` is subprocess's: below zero it is a signal's number."""
    if code in (STOPPED, -signal.SIGTERM):  # the second before it could hear
        return "stopped on request (SIGTERM)"
    if code < 0:
        return f"ended by {signal.Signals(-code).name}"
    return "ended by itself" if code == 0 else f"failed (exit code {code})"


@dataclass(frozen=True)
class Box:
    """A program at one moment; `code` is None while it runs."""

    name: str
    pid: int
    code: int | None
    output: str

    @property
    def state(self) -> str:
        """The program's state with a sign, as one line."""
        if self.code is None:
            return f"● {self.name}: runs (process {self.pid})"
        sign = {0: "✓", STOPPED: "○"}.get(self.code, "✗")
        return f"{sign} {self.name}: {ending(self.code)}"

    @property
    def tail(self) -> list[str]:
        """The last lines of the output, and how many are left out."""
        lines = [line if len(line) <= WIDTH else f"{line[:WIDTH]} …" for line in self.output.splitlines()]
        left = len(lines) - LINES
        return lines if left <= 0 else [f"… {left} earlier lines …", *lines[-LINES:]]

    def __repr__(self) -> str:
        return "\n".join([self.state, *(f"  {line}" for line in self.tail)])

    def _repr_html_(self) -> str:
        colour = BLUE if self.code is None else {0: GREEN, STOPPED: GREY}.get(self.code, ORANGE)
        text = html.escape("\n".join(self.tail))
        written = f'<pre style="margin:.3em 0 0;white-space:pre-wrap">{text}</pre>' if text else ""
        style = f"border-left:4px {'solid' if self.code is None else 'double'} {colour};padding:.3em .8em"
        return f'<div style="{style}"><b>{html.escape(self.state)}</b>{written}</div>'
