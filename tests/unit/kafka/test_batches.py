"""The batches of a segment, read from bytes."""

import struct
from dataclasses import replace

from IPython.lib.pretty import pretty

from threebrokers.kafka.batches import HEAD, Batch, batches_in


def batch(base: int, records: int, attributes: int = 0, body: bytes = b"records") -> bytes:
    """Return a batch with this head, and a body that nobody reads."""
    rest = struct.pack(">ibI", 0, 2, 0)
    rest += struct.pack(">hiqq", attributes, records - 1, 1000 + base, 2000 + base)
    rest += struct.pack(">qhii", -1, -1, -1, records) + body
    return struct.pack(">qi", base, len(rest)) + rest


def test_each_head_is_read():
    segment = batch(0, 3, attributes=4) + batch(3, 1, body=b"")
    assert list(batches_in(segment, 2)) == [
        Batch(2, 0, 3, HEAD + 7, "zstd", 1000, 2000),
        Batch(2, 3, 1, HEAD, "none", 1003, 2003),
    ]


def mark(kind: int) -> bytes:
    """Return a mark that ends a transaction: a control batch of one record."""
    key, value = struct.pack(">hh", 0, kind), struct.pack(">hi", 0, 0)
    record = bytes([0, 0, 0, 2 * len(key)]) + key + bytes([2 * len(value)]) + value + bytes([0])
    return batch(0, 1, attributes=0b110000, body=bytes([2 * len(record)]) + record)


def test_a_mark_of_a_transaction_is_told():
    found = [*batches_in(mark(0)), *batches_in(mark(1)), *batches_in(mark(7))]
    assert [(b.is_control, b.is_transactional, b.mark) for b in found] == [
        (True, True, "ABORT"),
        (True, True, "COMMIT"),
        (True, True, ""),
    ]
    assert [b.mark for b in batches_in(batch(0, 1, attributes=1 << 5, body=b""))] == [""]


def test_who_wrote_a_batch_is_told():
    (plain,) = batches_in(batch(0, 1))
    assert (plain.producer_id, plain.producer_epoch, plain.is_transactional, plain.mark) == (
        -1,
        -1,
        False,
        "",
    )


def test_what_is_not_written_to_its_end_is_left_out():
    whole = batch(0, 3)
    assert len(list(batches_in(whole + whole[:-1]))) == 1
    assert len(list(batches_in(whole + bytes(200)))) == 1
    assert list(batches_in(b"")) == []


def test_a_notebook_shows_what_a_batch_has_one_a_line():
    plain = Batch(0, 7, 1, 221, "zstd", 1_795_576_694_443, 1_795_576_694_443)
    shown = pretty(plain).splitlines()
    assert shown[0] == "Batch(partition=0,"
    assert shown[-1].strip() == "max_timestamp=1795576694443)"
    assert pretty(replace(plain, mark="ABORT")).splitlines()[-1].strip() == "mark='ABORT')"
