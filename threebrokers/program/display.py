"""What a program's cell shows: how the program is, and the end of its output."""

import html
import signal
from dataclasses import dataclass

from threebrokers import theme
from threebrokers.program.protocol import KILLED_HERE, STOPPED
from threebrokers.text import last_line

LINES, WIDTH = 12, 300


def ending(code: int, *, meant: bool = False) -> str:
    """Say in words how a program ended. `code` is subprocess's: below zero it is a signal's number.

    `meant` says that a SIGKILL was no accident.
    """
    if code in (STOPPED, -signal.SIGTERM):  # the second before it could hear
        return "stopped on request (SIGTERM)"
    if code == -signal.SIGKILL and meant:
        return "killed on purpose (SIGKILL)"
    if code < 0:
        return f"ended by {signal.Signals(-code).name}"
    return "ended by itself" if code == 0 else f"failed (exit code {code})"


@dataclass(frozen=True)
class Box:
    """A program at one moment; `code` is None while it runs; `killed` if its notebook has killed it."""

    name: str
    pid: int
    code: int | None
    output: str
    killed: bool = False

    @property
    def meant(self) -> bool:
        """Whether it was killed on purpose: by its notebook, or by itself, where its lab wants it to die."""
        return self.code == -signal.SIGKILL and (self.killed or KILLED_HERE in last_line(self.output))

    @property
    def look(self) -> theme.Look:
        """The sign and the colour of the program's state."""
        if self.code is None:
            return theme.STATES["up"]
        if self.meant:
            return theme.OPEN
        looks = {0: theme.GOOD, STOPPED: theme.OPEN, -signal.SIGTERM: theme.OPEN}
        return looks.get(self.code, theme.BAD)

    @property
    def state(self) -> str:
        """The program's state with a sign, as one line."""
        words = f"runs (process {self.pid})" if self.code is None else ending(self.code, meant=self.meant)
        return f"{self.look.sign} {self.name}: {words}"

    @property
    def tail(self) -> list[str]:
        """The last lines of the output, and how many are left out."""
        lines = [line if len(line) <= WIDTH else f"{line[:WIDTH]} …" for line in self.output.splitlines()]
        left = len(lines) - LINES
        return lines if left <= 0 else [f"… {left} earlier lines …", *lines[-LINES:]]

    def __repr__(self) -> str:
        return "\n".join([self.state, *(f"  {line}" for line in self.tail)])

    def _repr_html_(self) -> str:
        text = html.escape("\n".join(self.tail))
        written = f'<pre style="margin:.3em 0 0;white-space:pre-wrap">{text}</pre>' if text else ""
        line = "4px solid" if self.code is None else "6px double"
        style = f"border-left:{line} {self.look.colour};padding:.3em .8em"
        # As high as the line with the buttons of one that runs: nothing moves when they go.
        head = f'<div style="min-height:28px;line-height:28px"><b>{html.escape(self.state)}</b></div>'
        return f'<div style="{style}">{head}{written}</div>'
