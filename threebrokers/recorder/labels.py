"""Where words stand on one lane of a time line, so that none covers another. Widths and places are in px."""

from collections.abc import Sequence
from typing import NamedTuple

LETTER = 6.2  # how wide a letter is at most, on average
AWAY = 5.0  # from a box to words beside it
Range = tuple[float, float]


def width(words: str) -> float:
    """Return how much room words need."""
    return len(words) * LETTER + 5


def fits(words: str, room: float) -> bool:
    """Tell whether words fit into so many px."""
    return width(words) <= room


class Label(NamedTuple):
    """Words, and where their middle is."""

    words: str
    middle: float

    @property
    def place(self) -> Range:
        """From where to where the words reach."""
        return self.middle - width(self.words) / 2, self.middle + width(self.words) / 2


class Labels:
    """The words of one lane, which lies between `left` and `right`. Who comes first chooses first."""

    def __init__(self, left: float, right: float) -> None:
        self._left, self._right = left, right
        self._taken: list[Range] = []

    def inside(self, x: float, end: float, wordings: Sequence[str]) -> Label | None:
        """Return the first of these wordings that fits into the box from `x` to `end`, if any does."""
        labels = (Label(words, (x + end) / 2) for words in wordings if fits(words, end - x))
        return next((kept for label in labels if (kept := self._kept(label))), None)

    def beside(
        self, x: float, end: float, words: str, *, avoid: Sequence[Range] = (), never: Sequence[Range] = ()
    ) -> Label | None:
        """Return words beside the box from `x` to `end`, or across its edges, or None if there is no room.

        They cover what lies in `avoid` only if there is no other room, and what lies in `never` not at all.
        """
        half = width(words) / 2
        over = min(max((x + end) / 2, self._left + half), self._right - half)
        right, left, across = (Label(words, at) for at in (end + AWAY + half, x - AWAY - half, over))
        # Words that must hide a neighbour should at least lie on what they belong to.
        for label in (*(one for one in (right, left) if _free(one, avoid)), across, right, left):
            begin, stop = label.place
            within = begin >= self._left and stop <= self._right + 0.1
            if within and _free(label, never) and (kept := self._kept(label)):
                return kept
        return None

    def _kept(self, label: Label) -> Label | None:
        """Return the label and remember its place, or None if other words are there."""
        if not _free(label, self._taken):
            return None
        self._taken.append(label.place)
        return label


def _free(label: Label, ranges: Sequence[Range]) -> bool:
    begin, end = label.place
    return not any(begin < b and a < end for a, b in ranges)
