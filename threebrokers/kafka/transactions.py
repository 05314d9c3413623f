"""What the coordinators of transactions have written down, read from their topic `__transaction_state`."""

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from io import BytesIO

from threebrokers.kafka.log_reader import Record

STATE_TOPIC = "__transaction_state"
STATES = (
    "Empty",
    "Ongoing",
    "PrepareCommit",
    "PrepareAbort",
    "CompleteCommit",
    "CompleteAbort",
    "Dead",
    "PrepareEpochFence",
)


@dataclass(frozen=True)
class TransactionNote:
    """One line of a coordinator: what it knew of a transactional.id at `at` (ms since 1970).

    `partitions` are the (topic, partition) pairs of the transaction that runs or ends; those of committed
    offsets are among them. `timeout_ms` is the time after which the coordinator aborts it.
    """

    transactional_id: str
    state: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    partitions: frozenset[tuple[str, int]]
    at: int


def notes_in(records: Iterable[Record]) -> list[TransactionNote]:
    """Return what records of `__transaction_state` say, in order of time; deletions are left out."""
    notes = [_note(record.key, record.value) for record in records if record.key and record.value]
    return sorted((note for note in notes if note is not None), key=lambda note: note.at)


def _note(key: bytes, value: bytes) -> TransactionNote | None:
    """Read one record; None if it is of a version that this course does not know."""
    version, length = struct.unpack_from(">hh", key)
    told = BytesIO(value)
    (written,) = struct.unpack(">h", told.read(2))
    if version != 0 or written not in (0, 1):
        return None
    producer, epoch, timeout, status = struct.unpack(">qhib", told.read(15))
    partitions = _partitions_compact(told) if written else _partitions(told)
    (at,) = struct.unpack(">q", told.read(8))
    state = STATES[status] if 0 <= status < len(STATES) else "unknown"
    name = key[4 : 4 + length].decode()
    return TransactionNote(name, state, producer, epoch, timeout, frozenset(partitions), at)


def _partitions(told: BytesIO) -> list[tuple[str, int]]:
    (count,) = struct.unpack(">i", told.read(4))
    found = []
    for _ in range(max(0, count)):
        (length,) = struct.unpack(">h", told.read(2))
        topic = told.read(length).decode()
        (several,) = struct.unpack(">i", told.read(4))
        found += [(topic, number) for number in struct.unpack(f">{several}i", told.read(4 * several))]
    return found


def _partitions_compact(told: BytesIO) -> list[tuple[str, int]]:
    """Read them as newer brokers write them: lengths are of varying size and one too large."""
    found = []
    for _ in range(max(0, _varint(told) - 1)):
        topic = told.read(_varint(told) - 1).decode()
        several = _varint(told) - 1
        found += [(topic, number) for number in struct.unpack(f">{several}i", told.read(4 * several))]
        _skip_tags(told)
    return found


def _skip_tags(told: BytesIO) -> None:
    for _ in range(_varint(told)):
        _varint(told)
        told.read(_varint(told))


def _varint(told: BytesIO) -> int:
    shift = value = 0
    while True:
        (byte,) = told.read(1)
        value |= (byte & 127) << shift
        if byte < 128:
            return value
        shift += 7
