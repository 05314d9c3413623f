"""What the brokers are asked, and how to read what they answer.

These three messages are written by hand, in the last versions before Kafka's fields became "flexible":
every look needs them, and to import kafka-python's takes 0.2 s.
"""

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from threebrokers.sight import PartitionSight
from threebrokers.watching.wire import Question

T = TypeVar("T")
Partitions = Mapping[str, Sequence[int]]
Offsets = dict[tuple[str, int], int]

CLIENT_ID = "threebrokers-watch"
# Each message's number in Kafka's protocol, and the version that is spoken here.
LIST_OFFSETS, METADATA, DESCRIBE_QUORUM = (2, 5), (3, 8), (55, 1)
LATEST, EARLIEST = -1, -2
# As "debugging replica" a broker tells its own copy's log end offset, leader or not; as consumer (-1)
# only the leader answers, with the high watermark (ReplicaManager.fetchOffset in Kafka 4.3.1).
CONSUMER, OWN_COPY = -1, -2
METADATA_TOPIC = "__cluster_metadata"
NO_ERROR, NULL = 0, -1


@dataclass(frozen=True)
class Metadata:
    """Who is registered, and the topics, as one broker knows them."""

    registered: frozenset[int]
    topics: Mapping[str, tuple[PartitionSight, ...]]


def metadata(topics: Iterable[str] | None) -> Question:
    """Ask for the brokers that are registered, and for these topics (all of them if None)."""
    wanted = struct.pack(">i", NULL) if topics is None else _array(map(_text, topics))
    # No topic is made by asking for it, and nobody's rights are asked for.
    return _question(METADATA, wanted + struct.pack(">???", False, False, False), _read_metadata)


def offsets(partitions: Partitions, when: int, replica: int) -> Question:
    """Ask for one offset of each partition: EARLIEST or LATEST, as a CONSUMER or of the broker's OWN_COPY.

    The answer holds the partitions for which the broker could answer.
    """
    any_epoch, read_uncommitted = -1, 0
    topics = (
        _text(name) + _array(struct.pack(">iiq", p, any_epoch, when) for p in numbers)
        for name, numbers in partitions.items()
    )
    body = struct.pack(">ib", replica, read_uncommitted) + _array(topics)
    return _question(LIST_OFFSETS, body, _read_offsets)


def quorum() -> Question:
    """Ask a controller for (epoch, leader) of the metadata quorum: None unless it leads itself."""
    # A flexible message: sizes are one more than they are, in a byte, and 0 extra fields end each part.
    name = METADATA_TOPIC.encode()
    body = b"\0\2" + bytes([len(name) + 1]) + name + b"\2" + struct.pack(">i", 0) + b"\0\0\0"
    return _question(DESCRIBE_QUORUM, body, _read_leader)


class _Answer:
    """The bytes of an answer after its number, field by field. Raises struct.error where they end."""

    def __init__(self, told: bytes) -> None:
        self._told, self._at = told, 4

    def fields(self, kinds: str) -> tuple[int, ...]:
        """Return the next numbers, of these kinds (those of `struct`)."""
        found = struct.unpack_from(f">{kinds}", self._told, self._at)
        self._at += struct.calcsize(f">{kinds}")
        return found

    def text(self) -> str:
        """Return the next text; one that is null is empty."""
        return self.skip(max(self.fields("h")[0], 0)).decode()

    def array(self, read: Callable[[], T]) -> list[T]:
        """Return what `read()` returns for each element of the next array."""
        return [read() for _ in range(self.fields("i")[0])]

    def numbers(self) -> tuple[int, ...]:
        """Return the next array of numbers."""
        return self.fields(f"{self.fields('i')[0]}i")

    def skip(self, size: int) -> bytes:
        """Return so many bytes as they are."""
        self._at += size
        return self._told[self._at - size : self._at]


def _read_metadata(answer: _Answer) -> Metadata:
    topics = {}

    def broker() -> int:
        [number] = answer.fields("i")
        _host, _port, _rack = answer.text(), answer.fields("i"), answer.text()
        return number

    def topic() -> None:
        [error] = answer.fields("h")
        name, _internal = answer.text(), answer.fields("?")
        partitions, _rights = answer.array(lambda: _partition(name, answer)), answer.fields("i")
        if error == NO_ERROR:
            topics[name] = tuple(sorted(partitions, key=lambda p: p.id))

    _throttled, brokers = answer.fields("i"), answer.array(broker)
    _cluster, _controller = answer.text(), answer.fields("i")
    answer.array(topic)
    return Metadata(frozenset(brokers), topics)


def _partition(topic: str, answer: _Answer) -> PartitionSight:
    _error, number, leader, epoch = answer.fields("hiii")
    replicas, isr, _offline = answer.numbers(), answer.numbers(), answer.numbers()
    return PartitionSight(topic, number, None if leader < 0 else leader, epoch, replicas, tuple(sorted(isr)))


def _read_offsets(answer: _Answer) -> Offsets:
    found: Offsets = {}

    def topic() -> None:
        name = answer.text()
        for number, error, _timestamp, offset, _epoch in answer.array(lambda: answer.fields("ihqqi")):
            if error == NO_ERROR:
                found[name, number] = offset

    _throttled, _ = answer.fields("i"), answer.array(topic)
    return found


def _read_leader(answer: _Answer) -> tuple[int, int] | None:
    _extra, error, topics = answer.fields("BhB")
    if error or topics != 2:
        return None
    answer.skip(answer.fields("B")[0] - 1)
    _partitions, _number, error, leader, epoch = answer.fields("Bihii")
    return None if error or leader < 0 else (epoch, leader)


def _question(kind: tuple[int, int], body: bytes, read: Callable[[_Answer], object]) -> Question:
    return Question(
        lambda number: struct.pack(">hhi", *kind, number) + _text(CLIENT_ID) + body,
        lambda told: read(_Answer(told)),
    )


def _text(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack(">h", len(encoded)) + encoded


def _array(elements: Iterable[bytes]) -> bytes:
    whole = list(elements)
    return struct.pack(">i", len(whole)) + b"".join(whole)
