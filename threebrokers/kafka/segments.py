"""The files of a partition, each with the records that it holds."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from threebrokers.kafka.log_reader import Record


@dataclass(frozen=True)
class Segment:
    """One file of a partition, named after its `base_offset`; `size` is in bytes.

    `is_active` says whether the leader still writes to it: this is so for the last file only.
    """

    base_offset: int
    size: int
    is_active: bool
    records: tuple[Record, ...]


def divided(sizes: Mapping[int, int], records: Iterable[Record]) -> tuple[Segment, ...]:
    """Return the segments of one partition; `sizes` are the bytes of its files, by base offset."""
    bases = sorted(sizes)
    every = sorted(records, key=lambda record: record.offset)
    made = [
        Segment(base, sizes[base], False, tuple(r for r in every if base <= r.offset < following))
        for base, following in pairwise(bases)
    ]
    if bases:
        made.append(
            Segment(bases[-1], sizes[bases[-1]], True, tuple(r for r in every if r.offset >= bases[-1]))
        )
    return tuple(made)


def closed(segments: Iterable[Segment]) -> list[Record]:
    """Return the records of the segments that nobody writes to any more, in order of offset."""
    return [record for segment in segments if not segment.is_active for record in segment.records]
