"""What a recording tells of the members of groups, from what each of them was told."""

from dataclasses import replace

import pytest

from tests.recordings import at, beats
from threebrokers.recorder import Recording
from threebrokers.recorder.data import Holding, RecordingData
from threebrokers.recorder.members import held, idle, member_lanes, members


def told(seconds, client, what, *partitions, group="desk", topic="beat"):
    return Holding(at(seconds), client, group, what, tuple((topic, p) for p in partitions))


def recorded(*holdings, flows=()):
    return RecordingData(at(0), at(10), flows=flows, holdings=tuple(sorted(holdings, key=lambda h: h.at)))


EAGER = (
    told(0, "A", "assigned", 0, 1, 2, 3),
    told(2, "A", "revoked", 0, 1, 2, 3),
    told(3.5, "A", "assigned", 0, 1),
    told(3.5, "B", "assigned", 2, 3),
    told(8, "B", "revoked", 2, 3),
    told(8.2, "A", "revoked", 0, 1),
    told(8.3, "A", "assigned", 0, 1, 2, 3),
)
COOPERATIVE = (
    told(0, "A", "assigned", 0, 1, 2, 3),
    told(2, "B", "assigned"),
    told(2, "A", "revoked", 2, 3),
    told(3, "A", "assigned"),
    told(3, "B", "assigned", 2, 3),
)


def test_a_member_holds_what_it_was_given_and_not_what_was_taken():
    spans = held(recorded(*COOPERATIVE), "desk", "A")
    assert [(span.start, span.end, len(span.places)) for span in spans] == [
        (at(0), at(2), 4),
        (at(2), at(10), 2),
    ]
    assert {("beat", 2), ("beat", 3)} == held(recorded(*COOPERATIVE), "desk", "B")[-1].places
    assert members(recorded(*COOPERATIVE)) == [("desk", "A"), ("desk", "B")]


def test_members_of_two_groups_may_have_one_name():
    both = [replace(one, group="other", client="A") for one in (told(0, "B", "assigned", 0),)]
    recording = recorded(told(0, "A", "assigned", 0), *both, told(3, "A", "revoked", 0))
    assert [(span.end, len(span.places)) for span in held(recording, "desk", "A")] == [
        (at(3), 1),
        (at(10), 0),
    ]
    assert [(span.end, len(span.places)) for span in held(recording, "other", "A")] == [(at(10), 1)]
    assert len(list(member_lanes(recording))) == 2


def test_who_gives_up_all_partitions_pauses_until_it_gets_some():
    pauses = idle(recorded(*EAGER))
    assert [(gap.client, gap.start, gap.seconds, gap.over) for gap in pauses] == [
        ("A", at(2), 1.5, True),
        ("A", at(8.2), 0.1, True),
    ]
    assert str(pauses[0]) == "1.50 s without a partition (A)"


def test_who_keeps_some_does_not_pause_and_who_waits_for_its_first_does_not_either():
    assert idle(recorded(*COOPERATIVE)) == []


def test_partitions_that_are_lost_are_held_no_more():
    lost = recorded(told(0, "A", "assigned", 0), told(1, "A", "lost", 0), told(2, "A", "assigned", 1))
    assert [gap.seconds for gap in idle(lost)] == [1.0]


def test_a_recording_is_asked_for_the_longest_pause():
    recording = Recording(recorded(*EAGER))
    assert recording.longest_gap("member").seconds == 1.5
    assert recording.longest_gap("member", client="A").client == "A"
    assert recording.longest_gap("member", client="B").seconds == 0
    assert Recording(recorded(*COOPERATIVE)).longest_gap("member").seconds == 0


def test_each_member_has_a_lane_with_what_it_held_and_got():
    flows = (beats("delivered", 0.5, 1.0, client="A"), beats("delivered", 4.0, client="B", partition=2))
    a, b = member_lanes(recorded(*EAGER, flows=flows))
    assert [span.drawn.words[0] for span in a.spans] == [
        "partitions 0, 1, 2, 3",
        "no partition for 1.50 s",
        "partitions 0, 1",
        "no partition for 0.10 s",
        "partitions 0, 1, 2, 3",
    ]
    assert [span.drawn.look for span in a.spans] == ["held", "gone", "held", "gone", "held"]
    assert (a.name, a.records, b.records) == ("A", 2, 1)
    assert b.spans[-1].drawn.words[0] == "no partition", "it has left"


def test_many_partitions_are_counted_and_topics_named_where_there_are_two():
    many = recorded(told(0, "A", "assigned", *range(12)))
    assert next(member_lanes(many)).spans[0].drawn.words == ("12 partitions",)
    two = recorded(told(0, "A", "assigned", 0), told(1, "A", "assigned", 1, topic="other"))
    assert next(member_lanes(two)).spans[1].drawn.words[0] == "partitions beat-0, other-1"


def test_the_picture_of_the_members_has_the_same_in_words():
    flows = (beats("delivered", 0.5, 1.0, client="A"),)
    shown = Recording(recorded(*EAGER, flows=flows)).members()
    assert shown.title == "Time line of 2 members, 10.0 s"
    began = "A: 2 records; from 0.0 s partitions 0, 1, 2, 3; from 2.0 s no partition for 1.50 s"
    assert shown.words.startswith(began)
    assert ">1.50 s<" in shown.svg
    assert "a member that held no partition" in shown.svg, "its legend is about members"
    assert "told by a broker" not in shown.svg


@pytest.mark.parametrize("data", [recorded(*EAGER), recorded()])
def test_a_saved_recording_keeps_it(data, tmp_path):
    path = Recording(data).save(tmp_path / "kept.json.gz")
    assert Recording.load(path).data == data
