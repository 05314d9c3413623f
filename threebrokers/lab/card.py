"""What `lab` shows when it is typed: which lab, how its brokers are, what is solved, what it can do."""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from threebrokers import theme

CAN = (
    ("lab.watch(topic)", "the live panel"),
    ("lab.record()", "a recording of what happens in a `with`"),
    ("lab.why_empty(consumer, topic)", "why a consumer gets nothing"),
    ("lab.cluster", "start, stop, kill, pause and cut off brokers"),
    ("lab.check", "the checks of the exercises"),
)


@dataclass(frozen=True)
class Card:
    """The facts: the lab's number, the state of each broker, and (number, solved) of each exercise."""

    number: str
    brokers: Mapping[int, str]
    exercises: Sequence[tuple[str, bool]]

    def rows(self) -> list[tuple[str, str]]:
        """Return all that is said, as pairs."""
        states = [f"{number} {theme.state_look(state)}" for number, state in self.brokers.items()]
        signs = [
            f"{(theme.GOOD if solved else theme.OPEN).sign} {number}" for number, solved in self.exercises
        ]
        facts = [("brokers", "   ".join(states) or "not known"), ("exercises", "   ".join(signs) or "none")]
        return [*facts, *CAN]

    def __str__(self) -> str:
        rows = self.rows()
        width = max(len(name) for name, _ in rows)
        return "\n".join([f"Lab {self.number}", *(f"{name:{width}}  {words}" for name, words in rows)])

    def as_html(self) -> str:
        """Return it for a notebook; without styles it is a table."""
        cells = 'style="text-align:left;padding:.1em 1em .1em 0;background:none"'
        rows = "".join(
            f'<tr><th scope="row" {cells}>{_named(name)}</th><td {cells}>{html.escape(words)}</td></tr>'
            for name, words in self.rows()
        )
        edge = f"border-left:4px solid {theme.GREY};padding:.5em 1em"
        return f'<div style="{edge}"><b>Lab {self.number}</b><table style="margin:0">{rows}</table></div>'


def _named(name: str) -> str:
    return f"<code>{html.escape(name)}</code>" if name.startswith("lab.") else name
