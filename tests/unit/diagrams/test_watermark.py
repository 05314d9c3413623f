"""The picture of the high watermark: what is told moment by moment, and that it is drawn."""

from tests.pictures import drawn
from threebrokers.diagrams import watermark_picture
from threebrokers.diagrams.watermark import HIDDEN, watermark_story


def test_a_record_becomes_readable_with_the_last_followers_next_fetch():
    story = list(watermark_story())
    assert [moment.high_watermark for moment in story] == [3, 3, 3, 3, 3, 4]
    everybody_has_it = next(n for n, moment in enumerate(story) if set(moment.ends.values()) == {4})
    assert everybody_has_it == 3, "the record is everywhere two fetches before the leader knows it"
    assert story[-1].what == "Broker 3 fetches from offset 4: the leader learns that it has the record."


def test_the_picture_and_its_words_say_the_same():
    picture = watermark_picture()
    lines = picture.words.splitlines()
    assert len(lines) == 7
    ends = "Log end offset: 4 on broker 1, 3 on broker 2, 3 on broker 3."
    assert lines[1].endswith(f"{ends} High watermark: 3.")
    assert lines[5].endswith("High watermark: 4.")
    assert lines[6] == HIDDEN
    texts = drawn(picture)
    assert texts[:4] == ["broker 1: leader", "broker 2: follower", "broker 3: follower", "high watermark"]
    assert "3 → 4" in texts
