"""One partition's log as a bar: its marks, what lies between them, where their labels go. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product
from typing import NamedTuple

from threebrokers.why_empty.facts import Facts, Place

LETTER = 0.62  # of a letter's height: wider than the letters of common fonts are on average
NARROWEST = 42.0  # letter heights: answer.css writes labels as lines where there is less room
LEAST = 0.07  # of the bar's length: what is shorter cannot be seen, or its neighbours' labels crowd
# What lies between two offsets, and how it is said behind a number.
KINDS = {
    "deleted": "deleted",
    "read": "read",
    "unread": "to read",
    "barren": "without a record for this reader",
    "kept": "readable",
    "missed": "readable, and before the place where it begins",
    "held": "held back by an open transaction",
    "uncopied": "not on every replica in sync yet",
    "beyond": "behind the end of the log: no such offset yet",
}


class Mark(NamedTuple):
    """An offset that has a name, or several; `reader` if it says where somebody reads."""

    offset: int
    names: tuple[str, ...]
    reader: bool

    @property
    def words(self) -> str:
        """The offset and its names: "9 high watermark = log end offset"."""
        return f"{self.offset:,} {' = '.join(self.names)}"


class Stretch(NamedTuple):
    """The offsets from `start` until before `end`, which are all of one kind."""

    kind: str
    start: int
    end: int

    @property
    def words(self) -> str:
        """How many offsets these are, and what is the matter with them."""
        return f"{self.end - self.start:,} {KINDS[self.kind]}"


class Label(NamedTuple):
    """Where a mark's words stand: their row, from the bar on, and what part of them is left of the mark."""

    mark: Mark
    row: int
    shift: float


@dataclass(frozen=True)
class Bar:
    """A log from the lowest to the highest offset that has a name."""

    marks: tuple[Mark, ...]
    stretches: tuple[Stretch, ...]

    @property
    def to_scale(self) -> bool:
        """Whether all lengths are in proportion; if not, what would be too short to see is longer."""
        return not any(share < LEAST for share in self._shares)

    def at(self, offset: int) -> float:
        """Return where an offset that has a mark lies, in percent of the bar."""
        few = [share for share in self._shares if share < LEAST]
        rest = (1 - LEAST * len(few)) / (1 - sum(few))
        before = sum(offset > start for start in self._offsets)
        return 100 * sum(LEAST if share < LEAST else share * rest for share in self._shares[:before])

    @cached_property
    def _offsets(self) -> list[int]:
        return sorted({mark.offset for mark in self.marks})

    @cached_property
    def _shares(self) -> list[float]:
        """What part of the bar lies between each mark and the next one, in proportion."""
        whole = self._offsets[-1] - self._offsets[0]
        return [(end - start) / whole for start, end in pairwise(self._offsets)]

    def labels(self, *, reader: bool) -> list[Label]:
        """Return the labels above the bar (`reader`) or below it; in no width do two of them overlap."""
        marks = [mark for mark in self.marks if mark.reader == reader]
        return _placed(marks, [self.at(mark.offset) for mark in marks]) if marks else []


def bar(facts: Facts, place: Place) -> Bar | None:
    """Return a partition's bar; None if nobody tells its offsets."""
    start, end = place.start, place.end
    if start is None or end is None:
        return None
    high = end if place.readable is None else place.readable
    stable = high if place.stable is None else min(place.stable, high)
    log = [("log start offset", start), ("log end offset", end)]
    # The two between are said only where they are not what everybody takes them for.
    log[1:1] = [("last stable offset", stable)] * (stable < high) + [("high watermark", high)] * (high < end)
    reads = [("committed offset", place.committed), ("position", place.position)]
    marks = [
        *_marks([(name, offset) for name, offset in reads if offset is not None], reader=True),
        *_marks(log, reader=False),
    ]
    return Bar(tuple(sorted(marks)), tuple(_stretches(facts, place, start, stable, high, end)))


def _marks(named: Sequence[tuple[str, int]], *, reader: bool) -> Iterator[Mark]:
    for offset in sorted({offset for _, offset in named}):
        yield Mark(offset, tuple(name for name, at in named if at == offset), reader)


def _stretches(facts: Facts, place: Place, start: int, stable: int, high: int, end: int) -> Iterator[Stretch]:
    """Yield what the log consists of, in order; what has no offset is left out."""
    begin = facts.next(place)
    limit = stable if facts.committed_only else high
    here = limit if begin is None else min(max(begin, start), limit)
    unknown = "missed" if begin is None and facts.client else "kept"
    past = "read" if begin is not None and begin <= end else unknown
    ahead = "barren" if place.id in facts.barren else "unread"
    found = [
        Stretch("deleted", min(begin if begin is not None else start, start), start),
        Stretch(past, start, here),
        Stretch(ahead, here, limit),
        Stretch("held", limit, high),
        Stretch("uncopied", high, end),
        Stretch("beyond", end, max(end, begin or 0)),
    ]
    return (stretch for stretch in found if stretch.start < stretch.end)


def _placed(marks: Sequence[Mark], places: Sequence[float]) -> list[Label]:
    """Choose row and side of each label: as few rows as can be, and no line from a label crosses another one.

    Each label touches its own mark at every width, so what does not overlap where it is narrow never does.
    """
    widths = [100 * (len(mark.words) + 2) * LETTER / NARROWEST for mark in marks]
    ranges = [_shifts(x, width) for x, width in zip(places, widths, strict=True)]
    for most in range(1, len(marks) + 1):
        for shifts in product(*ranges):
            spans = [(x - s * w, x + w - s * w) for x, w, s in zip(places, widths, shifts, strict=True)]
            for rows in product(range(most), repeat=len(marks)):
                if not _overlap(rows, spans) and not _crossed(rows, places, spans):
                    return [Label(*told) for told in zip(marks, rows, shifts, strict=True)]
    # Words cover a line then; each has a row of its own.
    return [Label(mark, row, of[-1]) for row, (mark, of) in enumerate(zip(marks, ranges, strict=True))]


def _shifts(x: float, width: float) -> list[float]:
    """Return what part of a label may stand left of its mark: none, all, or what keeps it on the bar."""
    middle = max(min(0.5, x / width), 1 - (100 - x) / width) if width < 100 else x / 100
    return [shift for shift, fits in ((0.0, x + width <= 100), (1.0, x >= width), (middle, True)) if fits]


def _overlap(rows: Sequence[int], spans: Sequence[tuple[float, float]]) -> bool:
    in_order = sorted(zip(rows, spans, strict=True))
    return any(one[0] == other[0] and one[1][1] > other[1][0] for one, other in pairwise(in_order))


def _crossed(rows: Sequence[int], places: Sequence[float], spans: Sequence[tuple[float, float]]) -> bool:
    """Tell whether a label lies across the line between another label and its mark."""
    return any(
        row < behind and left < x < right
        for behind, x in zip(rows, places, strict=True)
        for row, (left, right) in zip(rows, spans, strict=True)
    )
