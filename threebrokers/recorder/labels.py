"""Where words stand on one lane of a time line, so that none covers another. Widths and places are in px."""

from collections.abc import Sequence
from typing import NamedTuple

FONT = 12.0
# Parts of the font's size, after DejaVu Sans: of the fonts that a notebook may have, it is the widest.
WIDTHS = {"ijl'|": 0.29, " .,:;·I/": 0.35, "tfr()[]-!J–": 0.42, "ckvxyzs?": 0.6, "mwMW%@…": 0.98}
LETTERS = {letter: part for letters, part in WIDTHS.items() for letter in letters}
OTHER, CAPITAL, SIGN, BOLD = 0.64, 0.8, 0.93, 1.13
AROUND = 3.0  # free room that words need
AWAY = 4.0  # from a box to words beside it
Range = tuple[float, float]


def width(words: str, bold: bool = False) -> float:
    """Return how much room words need."""
    return sum(_letter(letter) for letter in words) * FONT * (BOLD if bold else 1.0) + AROUND


def _letter(letter: str) -> float:
    if letter in LETTERS:
        return LETTERS[letter]
    if not letter.isascii():
        return OTHER if letter.isalpha() else SIGN
    return CAPITAL if letter.isupper() else OTHER


def shortened(words: str, room: float) -> str:
    """Return words that fit into so many px; longer ones end in an ellipsis."""
    if width(words) <= room:
        return words
    kept = words
    while kept and width(f"{kept}…") > room:
        kept = kept[:-1]
    return f"{kept.rstrip()}…"


class Label(NamedTuple):
    """Words from `left` to `right`, in this row of words: 0 is that of the bars, the others lie below."""

    words: str
    left: float
    right: float
    row: int = 0
    bold: bool = False


class Labels:
    """The words of one lane, which lies between `left` and `right`. Who comes first chooses first."""

    def __init__(self, left: float, right: float) -> None:
        self._left, self._right = left, right
        self._rows: list[list[Range]] = [[]]
        self._lines: list[tuple[float, int]] = []  # to words below: where each is, and to which row

    @property
    def rows(self) -> int:
        """How many rows of words there are below the bars."""
        return len(self._rows) - 1

    def inside(self, x: float, end: float, wordings: Sequence[str]) -> Label | None:
        """Return the first of these wordings that fits into the middle of the box from `x` to `end`."""
        for words in wordings:
            half, middle = width(words) / 2, (x + end) / 2
            if 2 * half <= end - x and (kept := self._kept(words, middle - half, middle + half)):
                return kept
        return None

    def at_start(self, x: float, end: float, wordings: Sequence[str]) -> Label | None:
        """Return the first of these wordings that has room from `x` on, before `end`."""
        for words in wordings:
            right = x + width(words)
            if right <= end and (kept := self._kept(words, x, right)):
                return kept
        return None

    def beside(
        self, x: float, end: float, words: str, *, never: Sequence[Range] = (), bold: bool = False
    ) -> Label | None:
        """Return words to the right or the left of a box, which cover nothing that lies in `never`."""
        length = width(words, bold)
        for left in (end + AWAY, x - AWAY - length):
            if free((left, left + length), never) and (
                kept := self._kept(words, left, left + length, bold=bold)
            ):
                return kept
        return None

    def below(self, x: float, end: float, words: str, *, bold: bool = False) -> Label:
        """Return words below the box from `x` to `end`, in the first row that has room there."""
        length = width(words, bold)
        left = max(self._left, min((x + end - length) / 2, self._right - length))
        place, row = (left, left + length), 1
        while row < len(self._rows) and not free(place, self._rows[row]):
            row += 1
        self._grow(row)
        self._rows[row].append(place)
        return Label(words, *place, row, bold)

    def led(self, x: float, words: str) -> Label:
        """Return words in a row below, at the foot of a line from `x`: right of it, or left at the end.

        Asked from right to left, no line crosses the words of another: whoever would be crossed goes deeper.
        """
        length = width(words)
        left = x + AROUND if x + AROUND + length <= self._right else x - AROUND - length
        place, row = (left, left + length), 1
        while not self._is_clear(place, row):
            row += 1
        self._grow(row)
        self._rows[row].append(place)
        self._lines.append((x, row))
        return Label(words, *place, row)

    def _is_clear(self, place: Range, row: int) -> bool:
        lines = [(x, x) for x, end in self._lines if end >= row]
        return free(place, [*lines, *(self._rows[row] if row < len(self._rows) else [])])

    def note(self, right: float, words: str) -> Label:
        """Return words that end at `right` in the first row below, beyond the bars' end or not."""
        left = right - width(words)
        self._grow(1)
        self._rows[1].append((left, right))
        return Label(words, left, right, 1)

    def _grow(self, row: int) -> None:
        while len(self._rows) <= row:
            self._rows.append([])

    def _kept(self, words: str, left: float, right: float, *, bold: bool = False) -> Label | None:
        """Return the label and remember its place, or None if it leaves the lane or covers other words."""
        outside = left < self._left - 0.1 or right > self._right + 0.1
        if outside or not free((left, right), self._rows[0]):
            return None
        self._rows[0].append((left, right))
        return Label(words, left, right, 0, bold)


def free(place: Range, ranges: Sequence[Range]) -> bool:
    """Tell whether a place covers none of these."""
    begin, end = place
    return not any(begin < b and a < end for a, b in ranges)
