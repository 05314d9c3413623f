"""The batches of a segment, read from its file: Kafka's own tool would take a second for each."""

import struct
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields
from typing import Any

HEAD = 61  # bytes of a batch before its first record
BEFORE_LENGTH = 12  # offset and length, which the length itself does not count
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
TRANSACTIONAL, CONTROL = 1 << 4, 1 << 5  # attributes: of a transaction; a mark that ends one
# A mark is one record: length, attributes, two small numbers, the length of its key, then the key, whose
# first two bytes are a version. The next two are the kind.
KIND = HEAD + 5 + 2
MARKS = ("ABORT", "COMMIT")


@dataclass(frozen=True)
class Batch:
    """What the head of a batch says. Sizes in bytes, times in ms since 1970.

    `mark` is "COMMIT" or "ABORT" if the batch is a mark that ends a transaction of its producer.
    """

    partition: int
    base_offset: int
    records: int
    size: int
    codec: str
    first_timestamp: int
    max_timestamp: int
    is_control: bool = False
    is_transactional: bool = False
    producer_id: int = -1
    producer_epoch: int = -1
    mark: str = ""

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        # In a notebook: a line for each, without those that a plain batch leaves empty.
        told = [f for f in fields(self) if f.default is MISSING or getattr(self, f.name) != f.default]
        with printer.group(len("Batch("), "Batch(", ")"):
            for place, field in enumerate(told):
                if place:
                    printer.text(",")
                    printer.breakable()
                printer.text(f"{field.name}={getattr(self, field.name)!r}")


def batches_in(segment: bytes, partition: int = 0) -> Iterator[Batch]:
    """Yield the batches of a segment of this partition; what is not written to its end is left out."""
    place = 0
    while place + HEAD <= len(segment):
        base, length = struct.unpack_from(">qi", segment, place)
        size = BEFORE_LENGTH + length
        if length <= 0 or place + size > len(segment):
            return
        attributes, _, first, last = struct.unpack_from(">hiqq", segment, place + 21)
        producer, epoch, _, records = struct.unpack_from(">qhii", segment, place + 43)
        codec = CODECS[attributes & 7] if attributes & 7 < len(CODECS) else "unknown"
        control = bool(attributes & CONTROL)
        yield Batch(
            partition,
            base,
            records,
            size,
            codec,
            first,
            last,
            is_control=control,
            is_transactional=bool(attributes & TRANSACTIONAL),
            producer_id=producer,
            producer_epoch=epoch,
            mark=_mark(segment, place) if control else "",
        )
        place += size


def _mark(segment: bytes, place: int) -> str:
    """Return which end of a transaction the mark at this place of a segment stands for; "" for another."""
    if place + KIND + 2 > len(segment):
        return ""
    (kind,) = struct.unpack_from(">h", segment, place + KIND)
    return MARKS[kind] if 0 <= kind < len(MARKS) else ""
