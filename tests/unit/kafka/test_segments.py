"""Records divided among the files of a partition."""

from threebrokers.kafka.log_reader import Record
from threebrokers.kafka.segments import closed, divided


def record(offset: int, key: str = "K", value: str | None = "V") -> Record:
    stored = None if value is None else value.encode()
    return Record("topic", 0, offset, key.encode(), stored, 0, "create")


def test_each_record_is_in_the_file_that_begins_before_it():
    segments = divided({20: 80, 0: 200, 29: 70}, [record(o) for o in (28, 13, 17, 20, 29)])
    assert [(s.base_offset, s.size, s.is_active) for s in segments] == [
        (0, 200, False),
        (20, 80, False),
        (29, 70, True),
    ]
    assert [[r.offset for r in s.records] for s in segments] == [[13, 17], [20, 28], [29]]
    assert [r.offset for r in closed(segments)] == [13, 17, 20, 28]


def test_a_lone_file_is_the_active_one():
    (only,) = divided({0: 10}, [record(0)])
    assert only.is_active
    assert closed([only]) == []
    assert divided({}, []) == ()
