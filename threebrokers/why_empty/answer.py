"""The answer: one paragraph, and the numbers that it was read from."""

import textwrap
from dataclasses import dataclass

from threebrokers.why_empty import picture
from threebrokers.why_empty.facts import Facts, Place

WIDTH = 100
HEAD = ("partition", "leader", "start", "end", "readable", "stable", "committed", "lag", "held by")


@dataclass(frozen=True, repr=False)
class Answer:
    """Why a consumer gets nothing. `cause` is one word for programs, `str()` the paragraph for people.

    `facts` holds the numbers: `facts.places` for each partition, `facts.group` its members. `about` are
    the partitions that the reason is about; none if it is about all, or about something else.
    """

    cause: str
    text: str
    facts: Facts
    about: tuple[int, ...] = ()

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return textwrap.fill(self.text, WIDTH) + self._table()

    def _repr_html_(self) -> str:
        return picture.drawn(self.text, self.facts, self.about)

    def _table(self) -> str:
        if not self.facts.places:
            return ""
        rows = [HEAD, *(self._row(place) for place in self.facts.places)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        return "\n\n" + "\n".join(lines)

    def _row(self, place: Place) -> tuple[str, ...]:
        numbers = place.leader, place.start, place.end, place.readable, place.stable, place.committed
        told = (*numbers, self.facts.lag(place))
        return (str(place.id), *("–" if n is None else str(n) for n in told), self.facts.holder(place))
