"""Time lines of recordings written by hand: the picture, and the same in words."""

import base64
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from tests.recordings import KILL, a_kill_and_a_pause, at, beats, every, state
from threebrokers.cluster.actions import Action
from threebrokers.kafka.state import GroupState, MemberState
from threebrokers.recorder import Recording, svg
from threebrokers.recorder.data import Burst, Flow, Mark, Missed, RecordingData
from threebrokers.recorder.gaps import Gap
from threebrokers.recorder.lanes import Lane, broker_lanes, flow_lanes, group_lanes, quorum_lane, topic_lanes
from threebrokers.recorder.svg import BAD, Scale

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def recording():
    return a_kill_and_a_pause()


def drawn(recording):
    """Every shape and every text of the picture."""
    return [*ElementTree.fromstring(recording.show().svg).iter()]


def texts(recording):
    return [shape.text for shape in drawn(recording) if shape.tag == f"{SVG}text"]


def spans(lane):
    return [(round(s.start - at(0), 1), round(s.end - at(0), 1), s.words[0], s.seen) for s in lane.spans]


def test_each_broker_has_its_states(recording):
    one, two, three = broker_lanes(recording.data)
    assert spans(one) == [(0, 13, "● up", True)] == spans(three)
    assert spans(two) == [(0, 3.1, "● up", True), (3.1, 7.5, "✕ down", True), (7.5, 13, "● up", True)]


def test_a_broker_that_is_up_and_not_counted_is_shown_so():
    cut = replace(state(1), brokers=tuple(replace(b, registered=b.id != 2) for b in state(1).brokers))
    recording = RecordingData(at(0), at(3), states=(state(0), cut, state(2)))
    assert [words for _, _, words, _ in spans([*broker_lanes(recording)][1])] == [
        "● up",
        "● up, not registered",
        "● up",
    ]


def test_no_leader_is_a_conclusion_and_a_new_one_is_seen(recording):
    led, _ = topic_lanes(recording.data)
    assert spans(led) == [
        (0, 3.1, "2", True),
        (3.1, 4.9, "no leader: 2 cannot serve", False),
        (4.9, 13, "3", True),
    ]


def test_a_partition_without_a_leader_was_seen_so():
    led, _ = topic_lanes(RecordingData(at(0), at(2), states=(state(0, leader=None),)))
    assert spans(led) == [(0, 2, "nobody", True)]


def test_two_that_believe_they_lead_are_both_shown():
    led, _ = topic_lanes(RecordingData(at(0), at(2), states=(state(0, leader=3, stale=(2,)),)))
    assert spans(led) == [(0, 2, "3 · 2 believes that it leads too", True)]


def test_copies_that_are_missing_are_counted(recording):
    _, copies = topic_lanes(recording.data)
    assert [words for _, _, words, _ in spans(copies)] == [
        "all 3 replicas",
        "2 of 3 replicas",
        "all 3 replicas",
    ]


def test_leaders_of_many_partitions_are_counted():
    def thirteen(seconds, down=()):
        told = state(seconds, down=down)
        one = told.topics[0].partitions[0]
        many = tuple(replace(one, id=n, leader=n % 3 + 1) for n in range(13))
        return replace(told, topics=(replace(told.topics[0], partitions=many),))

    led, copies = topic_lanes(RecordingData(at(0), at(2), states=(thirteen(0), thirteen(1, down=[2]))))
    assert led.name == "partitions led by"
    assert [span.shares for span in led.spans] == [((1, 5), (2, 4), (3, 4)), ((1, 5), (3, 4), (None, 4))]
    assert led.spans[1].words[0] == "1 leads 5 · 3 leads 4 · 4 without a leader"
    assert copies.spans[0].words[0] == "all 3 replicas"


def test_old_news_is_not_drawn_as_seen():
    old = replace(state(1), last_response_at=at(0))
    led, copies = topic_lanes(RecordingData(at(0), at(3), states=(state(0), old, state(2))))
    assert [words for _, _, words, _ in spans(led)] == ["2", "nothing told", "2"]
    assert [words for _, _, words, _ in spans(copies)] == ["all 3 replicas", "nothing told", "all 3 replicas"]


def test_a_topic_that_comes_later_is_blank_before():
    recording = RecordingData(at(0), at(3), states=(state(0, topics=()), state(1), state(2)))
    led, _ = topic_lanes(recording)
    assert spans(led) == [(1, 3, "2", True)]


def test_the_quorum_of_a_paused_leader_has_none():
    recording = RecordingData(at(0), at(3), states=(state(0), state(1, paused=[1]), state(2, quorum=3)))
    assert [(words, seen) for _, _, words, seen in spans(quorum_lane(recording))] == [
        ("1", True),
        ("no leader: 1 cannot serve", False),
        ("3", True),
    ]


def test_groups_say_who_reads_what():
    def group(seconds, *members, word="Stable", coordinator=1):
        made = tuple(MemberState(name, "c", tuple(("beat", n) for n in parts)) for name, parts in members)
        return replace(state(seconds), groups=(GroupState("ear", word, coordinator, made),))

    recording = RecordingData(
        at(0),
        at(4),
        states=(
            group(0, ("a", range(8))),
            group(1, ("a", (0, 1)), ("b", ()), word="PreparingRebalance"),
            group(2, ("b", (0, 1))),
            group(3, coordinator=None),
        ),
    )
    whole, a, b = group_lanes(recording)
    assert [words for _, _, words, _ in spans(whole)] == [
        "Stable · 1 member · coordinator 1",
        "PreparingRebalance · 2 members · coordinator 1",
        "Stable · 1 member · coordinator 1",
        "no coordinator answers",
    ]
    assert [words for _, _, words, _ in spans(a)] == ["8 partitions", "partition 0, 1", "not in the group"]
    assert [words for _, _, words, _ in spans(b)] == ["nothing", "partition 0, 1", "not in the group"]


def test_a_flow_has_a_lane_with_its_gaps(recording):
    sent, acknowledged, delivered = flow_lanes(recording.data, recording.gaps())
    assert (sent.name, sent.gaps, sent.records) == ("sent", (), 651)
    assert [gap.after for gap in acknowledged.gaps] == [KILL]
    assert [gap.seconds for gap in delivered.gaps] == pytest.approx([1.95, 0.8])


def test_several_clients_are_named(recording):
    other = beats("sent", 1, 2, client="producer 2")
    lanes = flow_lanes(replace(recording.data, flows=(*recording.flows, other)), [])
    assert [lane.name for lane in lanes] == [
        "sent · producer 1",
        "sent · producer 2",
        "acknowledged",
        "delivered",
    ]


def test_gaps_are_hatched_and_labelled_with_their_length(recording):
    hatched = [shape for shape in drawn(recording) if shape.get("fill") == "url(#h)"]
    legend = 1
    assert len(hatched) == 1 + 3 + legend  # no leader, three silences
    assert {"1.95 s", "1.98 s"} <= {words.split(" without")[0] for words in texts(recording)}


def test_a_short_gap_has_its_length_beside_it_only_where_there_is_room():
    def words(*gaps):
        found = tuple(Gap("delivered", at(start), seconds) for start, seconds in gaps)
        shapes = "".join(svg.drawn(Lane("delivered", gaps=found, records=9), Scale(at(0), at(20)), 0))
        return re.findall(r">([\d.]+ s)", shapes)

    assert words((3, 0.5)) == ["0.50 s"]
    assert words((19.4, 0.5)) == []
    assert words((3.6, 2), (3, 0.5)) == ["2.00 s"]
    assert words((3, 0.5), (5, 2)) == ["0.50 s", "2.00 s"]


def test_topics_beside_each_other_have_names_that_fit():
    def tape_of(*names):
        one = state(0)
        topics = tuple(
            replace(
                one.topics[0], name=n, partitions=tuple(replace(p, topic=n) for p in one.topics[0].partitions)
            )
            for n in names
        )
        return RecordingData(at(0), at(1), states=(replace(one, topics=topics),))

    assert [lane.name for lane in topic_lanes(tape_of("paid"))] == ["partition 0 led by", "in sync"]
    two = ["failed-0 led by", "failed in sync", "paid-0 led by", "paid in sync"]
    assert [lane.name for lane in topic_lanes(tape_of("paid", "failed"))] == two


def test_actions_and_marks_have_a_line_each(recording):
    lines = [shape for shape in drawn(recording) if shape.get("stroke-dasharray") in ("4 3", "1.5 3")]
    paths = [shape for shape in lines if shape.tag == f"{SVG}path"]
    assert [shape.get("stroke") == BAD for shape in paths] == [False, True, False, True]
    assert {"kill(2)", "start(2)", "pause(3)", "✎ now I kill it"} <= set(texts(recording))


def test_names_of_actions_never_cover_each_other(recording):
    actions = tuple(Action(at(6 + n / 10), "pause", n % 3 + 1) for n in range(4))
    places = [
        (float(shape.get("x")), float(shape.get("y")), len(shape.text))
        for shape in drawn(Recording(replace(recording.data, actions=actions, marks=())))
        if shape.tag == f"{SVG}text" and shape.text.startswith("pause(")
    ]
    for x, y, _ in places:
        assert all(other >= x + 40 for other, row, _ in places if row == y and other > x)


def test_nothing_lies_outside_the_card(recording):
    actions = (*recording.actions, Action(at(12.99), "resume", 3))
    marks = (Mark(at(12.9), "a very long note that would go far beyond the right edge of the card"),)
    root = ElementTree.fromstring(Recording(replace(recording.data, actions=actions, marks=marks)).show().svg)
    _, _, width, height = map(float, root.get("viewBox").split())
    for shape in root.iter():
        if shape.get("x") is not None and shape.tag == f"{SVG}text":
            x, length = float(shape.get("x")), len(shape.text) * 5.5
            start = {"middle": x - length / 2, "end": x - length}.get(shape.get("text-anchor"), x)
            assert start >= 0, shape.text
            assert start + length <= width, shape.text
            assert float(shape.get("y")) <= height


def test_the_words_say_what_the_picture_shows(recording):
    words = recording.show().words.splitlines()
    assert words[:3] == ["At 2.5 s: your note: now I kill it.", "At 3.0 s: kill(2).", "At 7.4 s: start(2)."]
    assert "broker 2: ● up until 3.1 s; ✕ down until 7.5 s; ● up until 13.0 s." in words
    assert (
        "partition 0 led by: 2 until 3.1 s; concluded: no leader: 2 cannot serve until 4.9 s; 3 until 13.0 s."
    ) in words
    assert (
        "delivered, concluded: 1.95 s without a delivery (consumer 1, beat-0), after kill(2), from 3.0 s."
    ) in words
    assert str(recording.show()) == recording.show()._repr_mimebundle_()["text/plain"]


def test_the_picture_is_an_image_with_its_words_below(recording):
    html = recording.show()._repr_mimebundle_()["text/html"]
    image = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', html)
    assert ElementTree.fromstring(base64.b64decode(image[1])).get("aria-label") == "Time line of 13.0 s"
    assert "<summary>The same in words</summary>" in html


@pytest.mark.parametrize("count", [1, 50])
def test_any_number_of_topics_is_drawn(count):
    names = [f"topic-{n:02}" for n in range(count)]
    recording = Recording(
        RecordingData(at(0), at(1), states=(state(0, topics=names), state(0.5, topics=names, down=[2])))
    )
    assert len(recording.show().words.splitlines()) >= 4 + 2 * count
    assert drawn(recording)


@pytest.mark.parametrize("seconds", [0.0, 0.05, 3600.0])
def test_a_recording_of_nothing_is_drawn(seconds):
    recording = Recording(RecordingData(at(0), at(seconds)))
    assert drawn(recording)
    assert len([words for words in texts(recording) if words.endswith(" s")]) <= 14


def ticks(recording):
    """How many ticks and bars the first flow is drawn with."""
    path = next(s for s in drawn(recording) if s.tag == f"{SVG}path" and s.get("opacity") == ".45")
    return path.get("d").count("M")


def test_fast_records_are_one_bar_and_not_thousands_of_ticks(recording):
    fast = Flow("p", "sent", "beat", None, tuple(Burst(at(n), at(n + 0.1), 20_000) for n in range(10)))
    assert ticks(Recording(replace(recording.data, flows=(fast,)))) == 10


def test_every_tick_of_a_slow_flow_is_there():
    recording = Recording(RecordingData(at(0), at(10), flows=(beats("sent", *every(0.1, 0, 9.9)),)))
    assert ticks(recording) == 100


def test_times_in_which_nobody_looked_have_a_lane_and_words(recording):
    missed = Missed(at(3.2), at(6.0), "Docker does not answer: start it.")
    shown = Recording(replace(recording.data, missed=(missed,)))
    told = "From 3.2 s to 6.0 s the brokers were not seen: Docker does not answer: start it."
    assert told in shown.show().words.splitlines()
    assert {"brokers", "not seen"} <= set(texts(shown))
    assert "not seen" not in texts(recording)
    assert repr(shown).endswith("; brokers not seen for 2.8 s")
