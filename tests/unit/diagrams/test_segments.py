"""The picture of a partition's files: what it says in words, and what is drawn."""

from tests.pictures import drawn
from threebrokers.diagrams import segments_picture
from threebrokers.kafka.log_reader import Record
from threebrokers.kafka.segments import Segment


def segment(base: int, size: int, active: bool, *records: tuple[int, str, str | None]) -> Segment:
    made = [
        Record("t", 0, o, k.encode(), None if v is None else v.encode(), 0, "create") for o, k, v in records
    ]
    return Segment(base, size, active, tuple(made))


BEFORE = (
    segment(0, 1200, False, (13, "K1", "V5"), (17, "K5", "V2")),
    segment(20, 90, True, (20, "K1", None)),
)
AFTER = (segment(0, 100, False, (17, "K5", "V2")), segment(20, 90, True, (20, "K1", None)))


def test_one_moment_is_told_file_by_file():
    picture = segments_picture(BEFORE)
    assert picture.words.splitlines() == [
        "A closed segment of 1,200 bytes from offset 0 on, 2 records: 13: K1 V5; 17: K5 V2.",
        "The active segment of 90 bytes from offset 20 on, 1 record: 20: K1 null.",
    ]
    assert drawn(picture)[:4] == ["offset", "13", "17", "20"]


def test_two_moments_show_what_is_gone():
    picture = segments_picture(BEFORE, AFTER)
    assert picture.words.splitlines()[-1] == "Gone: offset 13."
    assert "Before, a closed segment" in picture.words
    texts = drawn(picture)
    assert texts.count("·") == 1
    assert "closed, 100 bytes" in texts


def test_nothing_may_be_gone_and_a_file_may_be_empty():
    same = (segment(0, 10, True),)
    assert segments_picture(same, same).words.splitlines()[-1] == "Gone: nothing."
    assert "0 records: no record." in segments_picture(same).words
    assert drawn(segments_picture(same)) == ["offset", "segments", "records"]
