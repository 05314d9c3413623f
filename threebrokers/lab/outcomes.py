"""What a check says: solved, not yet, or not attempted; each is shown as one sentence."""

import html
from dataclasses import dataclass

from threebrokers import theme


class Outcome(Exception):  # noqa: N818 - not an error
    """What a check says when an exercise is not solved."""

    sign = theme.BAD.sign
    label = ""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]

    def __str__(self) -> str:
        return f"{self.sign} {self.label}  {self.args[0]}" if self.label else f"{self.sign} {self.args[0]}"


class NotAttempted(Outcome):
    """The exercise still has its blanks."""

    sign = theme.OPEN.sign


class NotYet(Outcome):
    """The answer is not right: what was found, what was expected, where to look."""

    def __init__(self, found: str, expected: str, look_at: str) -> None:
        super().__init__(f"{found}; {expected}. Look at: {look_at}")
        self.found, self.expected, self.look_at = found, expected, look_at


@dataclass(frozen=True)
class Solved:
    """The answer is right: what is now true, and why it matters."""

    number: str
    title: str
    reason: str

    def __repr__(self) -> str:
        return f"{theme.GOOD.sign} {self.number}  {self.title}: {self.reason}"

    def _repr_html_(self) -> str:
        return (
            f'<div style="border-left:4px solid {theme.GOOD.colour};padding:.4em .8em">'
            f"{theme.GOOD.sign} {html.escape(self.number)}&ensp;<b>{html.escape(self.title)}</b>: "
            f"{html.escape(self.reason)}</div>"
        )
