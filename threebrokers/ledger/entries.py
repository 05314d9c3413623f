"""Records at their places, and what is told of several of them."""

from collections.abc import Iterable
from typing import NamedTuple

from threebrokers.ledger.journal import Note, Number


class Entry(NamedTuple):
    """A record at a place; the offset is None where nobody told it."""

    number: Number
    partition: int | None
    offset: int | None


class Failure(NamedTuple):
    """A record that the producer gave up, and the error's name."""

    number: Number
    reason: str


def entries(notes: Iterable[Note]) -> list[Entry]:
    """Return what notes tell of places, in their order."""
    return [Entry(note.number, note.partition, note.offset) for note in notes]


def placed(entries: Iterable[Entry]) -> list[Entry]:
    """Return entries in order of partition, then of offset."""
    return sorted(entries, key=lambda e: (e.partition or 0, e.offset or 0))


def numbers(entries: Iterable[Entry] | Iterable[Failure]) -> set[Number]:
    """Return the numbers of the records, each once."""
    return {entry.number for entry in entries}


def first(entries: Iterable[Entry]) -> list[Entry]:
    """Return the first entry of each record."""
    found: dict[Number, Entry] = {}
    for entry in entries:
        found.setdefault(entry.number, entry)
    return list(found.values())


def again(entries: Iterable[Entry]) -> list[Entry]:
    """Return every entry of a record but its first."""
    seen: set[Number] = set()
    found = []
    for entry in entries:
        if entry.number in seen:
            found.append(entry)
        seen.add(entry.number)
    return found
