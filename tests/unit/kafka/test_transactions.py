"""What coordinators of transactions write down, read from bytes."""

import struct

from threebrokers.kafka.log_reader import Record
from threebrokers.kafka.transactions import TransactionNote, notes_in

PLACES = [("orders", [0, 2]), ("__consumer_offsets", [1])]
FOUND = frozenset({("orders", 0), ("orders", 2), ("__consumer_offsets", 1)})


def record(value: bytes | None, name: str = "desk", version: int = 0) -> Record:
    key = struct.pack(">hh", version, len(name)) + name.encode()
    return Record("__transaction_state", 0, 0, key, value, 0, "create")


def older(state: int, at: int, places: list[tuple[str, list[int]]] | None) -> bytes:
    told = struct.pack(">hqhib", 0, 77, 3, 60_000, state)
    told += struct.pack(">i", -1 if places is None else len(places))
    for topic, numbers in places or []:
        told += struct.pack(">h", len(topic)) + topic.encode()
        told += struct.pack(f">i{len(numbers)}i", len(numbers), *numbers)
    return told + struct.pack(">qq", at, at)


def newer(state: int, at: int, places: list[tuple[str, list[int]]] | None) -> bytes:
    told = struct.pack(">hqhib", 1, 77, 3, 60_000, state)
    told += bytes([0 if places is None else len(places) + 1])
    for topic, numbers in places or []:
        told += bytes([len(topic) + 1]) + topic.encode()
        told += struct.pack(f">b{len(numbers)}i", len(numbers) + 1, *numbers)
        told += bytes([1, 0, 2]) + b"xy"  # a field that this reader does not know
    return told + struct.pack(">qq", at, at) + bytes([0])


def test_both_versions_are_read_in_order_of_time():
    states = [record(newer(2, 30, PLACES)), record(older(1, 20, PLACES)), record(older(0, 10, None))]
    assert notes_in(states) == [
        TransactionNote("desk", "Empty", 77, 3, 60_000, frozenset(), 10),
        TransactionNote("desk", "Ongoing", 77, 3, 60_000, FOUND, 20),
        TransactionNote("desk", "PrepareCommit", 77, 3, 60_000, FOUND, 30),
    ]


def test_long_names_and_no_partitions():
    name = "a" * 200
    long = struct.pack(">hqhib", 1, 77, 3, 1, 4) + bytes([2, 0xC9, 0x01]) + name.encode()
    long += struct.pack(">b1i", 2, 0) + bytes([0]) + struct.pack(">qq", 5, 5) + bytes([0])
    (note,) = notes_in([record(long)])
    assert (note.state, note.partitions) == ("CompleteCommit", frozenset({(name, 0)}))
    assert notes_in([record(newer(5, 1, None))])[0].partitions == frozenset()


def test_what_is_deleted_or_of_another_version_is_left_out():
    odd = Record("__transaction_state", 0, 0, None, b"x", 0, "create")
    other = record(struct.pack(">h", 9) + older(1, 1, None)[2:])
    assert notes_in([record(None), odd, record(older(1, 1, None), version=7), other]) == []
    assert notes_in([record(older(99, 1, None))])[0].state == "unknown"
