"""What the parts of docs/guarantees.md share: a ledger's verdict, faults that are repeated, and tables."""

import textwrap
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from confluent_kafka import KafkaException

from threebrokers.errors import LabError
from threebrokers.lab.lab import Lab
from threebrokers.ledger import Balance
from threebrokers.text import counted

T = TypeVar("T")
K = TypeVar("K")
Say = Callable[[str], None]
WIDTH = 110
# On a busy machine a fault does not always come to pass as it is told: that is no run of it.
SPARE = 2  # so many runs more than wanted, and a quarter of these

SET_UPS: dict[str, dict[str, Any]] = {
    "acks=0": {"acks": 0},
    "acks=1": {"acks": 1},
    "acks=all, retries=0": {"acks": "all", "retries": 0},
    "acks=all": {"acks": "all"},
    "acks=all, enable.idempotence": {"acks": "all", "enable.idempotence": True},
}
# Those that wait for all replicas in sync.
ALL_IN_SYNC = {of: settings for of, settings in SET_UPS.items() if settings["acks"] == "all"}


class Verdict(NamedTuple):
    """What one ledger says at the end: how many of its records; the page's columns, in order."""

    attempted: int
    acknowledged: int
    failed: int
    stored: int
    lost: int
    twice: int

    @classmethod
    def of(cls, balance: Balance) -> "Verdict":
        """Count what a balance holds; `stored` counts each record once."""
        return cls(
            len(balance.attempted),
            len(balance.acknowledged),
            len(balance.failed),
            len({entry.number for entry in balance.stored}),
            len(balance.lost),
            len({entry.number for entry in balance.duplicated}),
        )


@dataclass(frozen=True)
class Repeated(Generic[T]):
    """What each run of a fault has led to; `void` is how many others did not count."""

    runs: Sequence[T]
    void: int = 0

    @property
    def told(self) -> str:
        """The words of the page: "20 runs."; and how many did not count, if some did not."""
        more = f" {self.void} more did not count: the fault did not come to pass as it is told here."
        return f"{counted(len(self.runs), 'run')}.{more if self.void else ''}"


def repeat(
    lab: Lab, runs: int, what: str, once: Callable[[], T], words: Callable[[T], str], say: Say
) -> Repeated[T]:
    """Run a fault until so many runs count; a run that raises LabError or KafkaException does not.

    `words` are what is said of a run. Where too many do not count there are fewer, and the page says how
    many. Raises LabError if none counts.
    """
    found: list[T] = []
    attempt, most = 0, runs + SPARE + runs // 4
    while len(found) < runs and attempt < most:
        attempt += 1
        began = time.monotonic()
        try:
            found.append(once())
            told = words(found[-1])
        except (LabError, KafkaException) as fault:
            told = f"does not count ({fault})"
        finally:
            lab.close()  # its clients are not used again
            with suppress(LabError):  # who carries the links has died: the next run begins with new ones
                lab.cluster.heal()
        say(f"{what}, run {len(found)} of {runs}, after {time.monotonic() - began:.0f} s: {told}")
    if not found:
        raise LabError(f"No run of '{what}' counts", "run it again when the machine has less to do")
    return Repeated(found, attempt - len(found))


def by_name(runs: Iterable[Mapping[K, T]]) -> dict[K, list[T]]:
    """Return for each name what every run says of it."""
    found: dict[K, list[T]] = {}
    for run in runs:
        for name, one in run.items():
            found.setdefault(name, []).append(one)
    return found


def table(what: str, columns: Sequence[str], rows: Mapping[str, Sequence[tuple[int, ...]]]) -> str:
    """Return a table of numbers: a row for each name, with the least and the most that any run says."""
    return lines(what, columns, [[name, *_cells(found)] for name, found in rows.items()], "--:")


def lines(what: str, columns: Sequence[str], rows: Iterable[Sequence[str]], rule: str = "---") -> str:
    """Return a table in Markdown; `rule` is how its columns are aligned, but the first."""
    text = [f"| {what} | {' | '.join(columns)} |", f"|---{f'|{rule}' * len(columns)}|"]
    text += [f"| {' | '.join(cells)} |" for cells in rows]
    return "\n".join(text) + "\n"


def section(heading: str, text: str, runs: str, *tables: str, see: str = "") -> str:
    """Return a section of the page: what is done, how often, what came of it, and what to see in that."""
    parts = [f"## {heading}", wrapped(text), runs, *(one.strip() for one in tables), wrapped(see)]
    return "\n\n".join(filter(None, parts)) + "\n"


def wrapped(text: str) -> str:
    """Return paragraphs in lines of the page's width."""
    return "\n\n".join(
        textwrap.fill(part, WIDTH, break_long_words=False, break_on_hyphens=False)
        for part in text.strip().split("\n\n")
    )


def _cells(found: Sequence[tuple[int, ...]]) -> list[str]:
    columns = zip(*found, strict=True)
    return [str(min(c)) if min(c) == max(c) else f"{min(c)}–{max(c)}" for c in map(tuple, columns)]
