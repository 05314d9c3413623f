"""Balances as a table in a notebook, and the same as text."""

import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from threebrokers import theme
from threebrokers.ledger.balance import Balance
from threebrokers.ledger.entries import Entry, Failure
from threebrokers.ledger.journal import Number

ALWAYS = ("attempted", "acknowledged", "stored", "lost", "twice")
RANGES = 3  # more places than these make a row hard to read
# Mixed with the page's own ink, the red can be read in both themes.
BAD = f";font-weight:bold;color:color-mix(in srgb,{theme.BAD.colour} 60%,currentColor)"

COLUMNS: dict[str, Callable[[Balance], Sequence[Number] | Sequence[Entry] | Sequence[Failure]]] = {
    "attempted": lambda b: b.attempted,
    "acknowledged": lambda b: b.acknowledged,
    "failed": lambda b: b.failed,
    "no report": lambda b: b.unknown,
    "stored": lambda b: b.stored,
    "aborted": lambda b: b.uncommitted,
    "delivered": lambda b: b.delivered,
    "processed": lambda b: b.processed,
    "lost": lambda b: b.lost,
    "twice": lambda b: b.duplicated,
    "out of order": lambda b: b.out_of_order,
    "not readable": lambda b: b.not_yet_readable,
    "deleted": lambda b: b.expired,
    "processed again": lambda b: b.processed_again,
    # Where nobody notes what is processed, nothing is known of it.
    "never processed": lambda b: b.unprocessed if b.processed else [],
}
FAULTS = {"lost": "lost", "twice": "stored twice", "out of order": "out of order"}
FAULTS |= {"processed again": "processed again", "never processed": "never processed"}


@dataclass(frozen=True)
class Comparison:
    """Balances side by side, each with its name; `predicted` is what was expected of each."""

    balances: Mapping[str, Balance]
    predicted: Mapping[str, str]

    def __str__(self) -> str:
        heads, rows = self._heads(), self._rows()
        widths = [max(len(row[i]) for row in (heads, *rows)) for i in range(len(heads))]
        lines = [
            "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in (heads, *rows)
        ]
        return "\n".join([*lines, *self._faults()])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        def row(cells: Iterable[str], tag: str) -> str:
            styled = ((c, f"text-align:left{BAD if c.startswith(theme.BAD.sign) else ''}") for c in cells)
            shown = (f'<{tag} style="{style}">{html.escape(c)}</{tag}>' for c, style in styled)
            return f"<tr>{''.join(shown)}</tr>"

        body = "".join(row(cells, "td") for cells in self._rows())
        faults = "".join(f"<li>{html.escape(line)}</li>" for line in self._faults())
        return f"<table><thead>{row(self._heads(), 'th')}</thead><tbody>{body}</tbody></table>" + (
            f"<ul>{faults}</ul>" if faults else ""
        )

    def _chosen(self) -> list[str]:
        return [n for n, of in COLUMNS.items() if n in ALWAYS or any(map(of, self.balances.values()))]

    def _heads(self) -> list[str]:
        named = ["set-up"] if any(self.balances) else []
        return named + self._chosen() + ["you predicted"] * bool(self.predicted)

    def _rows(self) -> list[list[str]]:
        return [
            ([name] if any(self.balances) else [])
            + [_count(column, len(COLUMNS[column](balance))) for column in self._chosen()]
            + [self.predicted.get(name, "–")] * bool(self.predicted)
            for name, balance in self.balances.items()
        ]

    def _faults(self) -> list[str]:
        return [
            f"{theme.BAD.sign} {name + ': ' if name else ''}{len(found)} {word}: {where(found)}"
            for name, balance in self.balances.items()
            for column, word in FAULTS.items()
            if (found := _entries(COLUMNS[column](balance)))
        ]


@dataclass(frozen=True, repr=False)
class BalanceTable(Balance):
    """A balance that a notebook shows as a table of one row."""

    def __repr__(self) -> str:
        return repr(Comparison({"": self}, {}))

    def _repr_html_(self) -> str:
        return Comparison({"": self}, {})._repr_html_()


def compare(balances: Mapping[str, Balance], predicted: Mapping[str, str] | None = None) -> Comparison:
    """Put balances side by side, one row each; `predicted` has the words for the last column."""
    return Comparison(dict(balances), dict(predicted or {}))


def where(entries: Sequence[Entry]) -> str:
    """Say which records these are and where: "records 50–249, offsets 50–249 of partition 0"."""
    several = len({entry.number.producer for entry in entries}) > 1
    parts = []
    for producer in sorted({entry.number.producer for entry in entries}):
        own = [entry for entry in entries if entry.number.producer == producer]
        of = f" of producer {producer}" if several else ""
        places = "; ".join(_places(own))
        parts.append(
            f"{ranges('record', (e.number.sequence for e in own))}{of}{', ' + places if places else ''}"
        )
    return "; ".join(parts)


def ranges(word: str, numbers: Iterable[int]) -> str:
    """Say numbers in a few words: "record 7", "records 3, 5–9", "records 1, 3, 5 and 12 more"."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    shown = [str(a) if a == b else f"{a}–{b}" for a, b in runs[:RANGES]]
    rest = sum(b - a + 1 for a, b in runs[RANGES:])
    plural = "" if len(runs) == 1 and runs[0][0] == runs[0][1] else "s"
    return f"{word}{plural} {', '.join(shown)}{f' and {rest} more' if rest else ''}"


def _places(entries: Sequence[Entry]) -> list[str]:
    offsets: dict[int, list[int]] = {}
    for _, partition, offset in entries:
        if partition is not None and offset is not None:
            offsets.setdefault(partition, []).append(offset)
    return [f"{ranges('offset', there)} of partition {p}" for p, there in sorted(offsets.items())]


def _entries(found: Iterable[object]) -> list[Entry]:
    return [entry for entry in found if isinstance(entry, Entry)]


def _count(column: str, count: int) -> str:
    return f"{theme.BAD.sign} {count:,}" if column in FAULTS and count else f"{count:,}"
