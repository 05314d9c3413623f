"""The pictures of readers: what they say in words, and what is drawn."""

from tests.pictures import classes, drawn
from threebrokers.diagrams import readers_picture

ENDS = {0: 8, 1: 3}
READ = {"batch": 1011, "stream": 11, "group": 7}
PLACES = {"stream": {0: 8, 1: 3}, "group": {0: 7}}


def test_readers_of_a_partition_are_told_with_their_lag():
    picture = readers_picture(3, {"report": 1, "copy": 3})
    assert picture.words.splitlines() == [
        "The partition holds 3 records; the next one gets offset 3.",
        "report has read 1 and reads offset 1 next; its lag is 2.",
        "copy has read 3 and reads offset 3 next; its lag is 0.",
    ]
    assert drawn(picture) == [
        *("offset", "0", "1", "2", "3", "producer writes here"),
        *("report", "✓", "▶", "·", "·", "lag 2"),
        *("copy", "✓", "✓", "✓", "▶", "lag 0"),
    ]


def test_one_topic_feeds_all_its_readers():
    assert drawn(readers_picture(ENDS, PLACES, READ)) == [
        *("topic", "reader", "records read", "its own position: reads next"),
        *("next offset", "partition 0: 8", "partition 1: 3", "→", "batch", "1,011", "keeps none"),
        *("→", "stream", "11", "0: 8", "1: 3"),
        *("→", "group", "7", "0: 7", "1: –"),
    ]


def test_counts_and_positions_of_a_topics_readers_are_told_in_words():
    assert readers_picture(ENDS, PLACES, READ).words.splitlines() == [
        "One topic feeds 3 readers; its next offsets are 8 in partition 0, 3 in partition 1.",
        "batch has read 1,011 records and keeps no position.",
        "stream has read 11 records and reads next 8 in partition 0, 3 in partition 1.",
        "group has read 7 records and reads next 7 in partition 0, – in partition 1.",
    ]


def test_positions_stand_out_and_the_topic_is_one_box_beside_all_rows():
    picture = readers_picture(ENDS, PLACES, READ)
    assert classes(picture)["0: 8"] == ["tb-box tb-next"]
    assert picture.drawing.count('rowspan="3"') == 1
    assert picture.drawing.count("tb-name") == 1
    assert picture.drawing.count('colspan="2"') == 2, "the head of the positions, and the reader without one"
