"""Time lines of recordings written by hand: the picture, and the same in words."""

import base64
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from tests.recordings import KILL, a_kill_and_a_pause, at, beats, every, state
from threebrokers.cluster.actions import Action
from threebrokers.errors import LabError
from threebrokers.kafka.state import GroupState, MemberState
from threebrokers.recorder import Recording
from threebrokers.recorder.data import Burst, Flow, Mark, Missed, RecordingData
from threebrokers.recorder.gaps import Gap
from threebrokers.recorder.lanes import broker_lanes, committed_lanes, flow_lanes, group_lanes, quorum_lane
from threebrokers.recorder.rows import Row
from threebrokers.recorder.shapes import BAD, Scale, Sheet
from threebrokers.recorder.spans import Lane
from threebrokers.recorder.topic_lanes import topic_lanes

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def recording():
    return a_kill_and_a_pause()


def drawn(recording):
    """Every shape and every text of the picture."""
    return [*ElementTree.fromstring(recording.show().svg).iter()]


def texts(recording):
    return texts_of(recording.show())


def texts_of(shown):
    return [shape.text for shape in ElementTree.fromstring(shown.svg).iter(f"{SVG}text")]


def spans(lane):
    """What was so from when to when (s); whether it was seen."""
    began = at(0)
    return [(round(s.start - began, 1), round(s.end - began, 1), *told(s.drawn)) for s in lane.spans]


def told(drawn):
    return drawn.told, drawn.seen


def test_each_broker_has_its_states(recording):
    one, two, three = broker_lanes(recording.data)
    assert spans(one) == [(0, 13, "● up", True)] == spans(three)
    # Between two looks nobody saw when it changed.
    assert spans(two) == [(0, 3.0, "● up", True), (3.1, 7.4, "✕ down", True), (7.5, 13, "● up", True)]


def test_a_broker_that_was_started_is_starting_and_later_silent():
    def silent(seconds, since):
        one, two, three = state(seconds).brokers
        return replace(state(seconds), brokers=(one, replace(two, state="unknown", since=at(since)), three))

    looks = (state(0), silent(1.5, 1.2), silent(2, 1.2), state(3), silent(9, 8.5), silent(9.5, 8.5))
    recording = RecordingData(at(0), at(9.5), states=looks, actions=(Action(at(1), "start", 2),))
    _, two, _ = broker_lanes(recording)
    assert spans(two) == [
        (0, 0, "● up", True),
        (1.5, 2, "◔ starting", True),
        (3, 3, "● up", True),
        (9, 9.5, "? silent", True),
    ]
    assert two.spans[1].drawn.look == "unknown"


def test_a_broker_that_is_up_and_not_counted_is_shown_so():
    cut = replace(state(1), brokers=tuple(replace(b, registered=b.id != 2) for b in state(1).brokers))
    recording = RecordingData(at(0), at(3), states=(state(0), cut, state(2)))
    assert [words for _, _, words, _ in spans([*broker_lanes(recording)][1])] == [
        "● up",
        "● up, not registered",
        "● up",
    ]


def test_no_leader_is_a_conclusion_and_a_new_one_is_seen(recording):
    [led] = topic_lanes(recording.data)
    assert spans(led) == [
        (0, 3.0, "broker 2 leads, all 3 replicas in sync", True),
        (3.1, 4.8, "no leader (broker 2 cannot serve)", False),
        (4.9, 7.4, "broker 3 leads, 2 of 3 in sync, without broker 2", True),
        (7.5, 13, "broker 3 leads, all 3 replicas in sync", True),
    ]
    assert [span.drawn.look for span in led.spans] == ["", "gone", "short", ""]
    assert [span.drawn.line for span in led.spans] == [(2,), (), (3,), (3,)]


def test_a_partition_without_a_leader_was_seen_so():
    [led] = topic_lanes(RecordingData(at(0), at(2), states=(state(0, leader=None),)))
    assert spans(led) == [(0, 2, "no leader", True)]


def test_two_that_believe_they_lead_are_both_shown():
    [led] = topic_lanes(RecordingData(at(0), at(2), states=(state(0, leader=3, stale=(2,)),)))
    believes = "broker 2 believes that it leads, but a newer leader was elected"
    assert spans(led) == [(0, 2, f"broker 3 leads, {believes}, all 3 replicas in sync", True)]
    assert led.spans[0].drawn.words == ("broker 3 · ⚑ 2 stale",)


def test_leaders_of_many_partitions_are_counted():
    def thirteen(seconds, down=()):
        told = state(seconds, down=down)
        one = told.topics[0].partitions[0]
        many = tuple(replace(one, id=n, leader=n % 3 + 1) for n in range(13))
        return replace(told, topics=(replace(told.topics[0], partitions=many),))

    looks = (thirteen(0), thirteen(1, down=[2]))
    [led] = topic_lanes(RecordingData(at(0), at(2), states=looks))
    assert (led.name, spans(led)[0][2]) == (
        "beat led by",
        "broker 1 leads 5, broker 2 leads 4, broker 3 leads 4 of 13, all 3 replicas in sync",
    )
    assert [span.drawn.words for span in led.spans] == [
        ("broker 1 leads 5 of 13",),
        ("✕ no leader · 4 of 13", "✕ no leader"),
    ]
    assert [span.drawn.line for span in led.spans] == [(1,), (1,)], "the colour of most leaders"
    assert [(span.drawn.look, span.drawn.seen) for span in led.spans] == [("", True), ("gone", False)]


def test_brokers_that_lead_equally_many_share_the_line():
    told = with_partitions(0, 4)
    [topic] = told.topics
    pairs = tuple(replace(p, leader=p.id % 2 + 2) for p in topic.partitions)
    look = replace(told, topics=(replace(topic, partitions=pairs),))
    [led] = topic_lanes(RecordingData(at(0), at(1), states=(look,)))
    assert (led.spans[0].drawn.words, led.spans[0].drawn.line) == (("brokers 2 and 3 lead 2 each",), (2, 3))


def test_old_news_is_not_drawn_as_seen():
    old = replace(state(1), last_response_at=at(0))
    [led] = topic_lanes(RecordingData(at(0), at(3), states=(state(0), old, state(2))))
    assert [span.drawn.look for span in led.spans] == ["", "absent", ""]


def test_a_poll_that_was_missed_is_no_change():
    missed = replace(state(0.5), last_response_at=at(0))
    [led] = topic_lanes(RecordingData(at(0), at(3), states=(state(0), missed, state(1))))
    assert spans(led) == [(0, 3, "broker 2 leads, all 3 replicas in sync", True)]


def test_a_topic_that_comes_later_is_blank_before():
    recording = RecordingData(at(0), at(3), states=(state(0, topics=()), state(1), state(2)))
    [led] = topic_lanes(recording)
    assert [(start, end) for start, end, *_ in spans(led)] == [(1, 3)]


def with_partitions(seconds, count, *, missing=(), topic="beat", **more):
    """A state of a topic with so many partitions; `missing` are (partition, broker) pairs out of the ISR."""
    told = state(seconds, **more)
    [one] = told.topics[0].partitions
    isr = {n: tuple(b for b in (1, 2, 3) if (n, b) not in missing) for n in range(count)}
    many = tuple(replace(one, topic=topic, id=n, isr=isr[n]) for n in range(count))
    return replace(told, topics=(replace(told.topics[0], name=topic, partitions=many),))


def test_of_many_partitions_it_is_said_in_how_many_replicas_are_out_of_sync():
    look = with_partitions(0, 13, missing=[(4, 1), (4, 3), (5, 1)])
    [led] = topic_lanes(RecordingData(at(0), at(1), states=(look,)))
    words = "broker 2 leads 13 of 13, 1 of 3 in sync in 2 partitions, without brokers 1 and 3"
    assert spans(led)[0][2] == words
    assert led.spans[0].drawn.words == ("broker 2 leads 13 of 13 · 1 of 3 in sync", "1 of 3 in sync")


def two_topics():
    beat, other = with_partitions(0, 13), with_partitions(0, 2, topic="another")
    look = replace(beat, topics=(*other.topics, *beat.topics))
    return RecordingData(at(0), at(2), states=(look,), flows=(beats("delivered", 1, partition=7),))


def test_each_topic_has_one_lane_and_the_one_that_carried_records_comes_first():
    assert [lane.name for lane in topic_lanes(two_topics())] == ["beat led by", "another led by"]


def test_the_partitions_of_a_topic_have_lanes_on_demand():
    names = [lane.name for lane in topic_lanes(two_topics(), partitions="another")]
    assert names == ["beat led by", "another led by", "another-0 led by", "another-1 led by"]
    recording = Recording(two_topics())
    assert "beat-12 led by" in texts_of(recording.show(partitions="beat"))
    assert "beat-12 led by" not in texts_of(recording.show())
    with pytest.raises(LabError, match=r"no topic 'bat'.*another and beat"):
        recording.show(partitions="bat")


def test_the_quorum_of_a_paused_leader_has_none():
    recording = RecordingData(at(0), at(3), states=(state(0), state(1, paused=[1]), state(2, quorum=3)))
    assert [(words, seen) for _, _, words, seen in spans(quorum_lane(recording))] == [
        ("broker 1", True),
        ("no active controller: broker 1 cannot serve", False),
        ("broker 3", True),
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
    assert list(committed_lanes(recording)) == []
    whole, a, b = group_lanes(recording)
    assert [words for _, _, words, _ in spans(whole)] == [
        "Stable · 1 member · coordinator 1",
        "PreparingRebalance · 2 members · coordinator 1",
        "Stable · 1 member · coordinator 1",
        "✕ no coordinator answers",
    ]
    assert [words for _, _, words, _ in spans(a)] == ["8 partitions", "partitions 0, 1", "not in the group"]
    assert [words for _, _, words, _ in spans(b)] == ["nothing", "partitions 0, 1", "not in the group"]


def test_what_a_group_committed_has_a_lane():
    def committed(seconds, *offsets):
        told = state(seconds)
        pairs = tuple(("beat", n, offset) for n, offset in enumerate(offsets))
        return replace(told, groups=(replace(told.groups[0], committed=pairs),))

    looks = (committed(0), committed(1, 20), committed(2, 40))
    [one] = committed_lanes(RecordingData(at(0), at(3), states=looks))
    assert (one.name, [(point.at, point.words, point.told) for point in one.points]) == (
        "committed",
        [(at(1), "20", "committed: offset 20"), (at(2), "40", "committed: offset 40")],
    )
    [*names] = committed_lanes(RecordingData(at(0), at(3), states=(committed(0, 1, 2),)))
    assert [lane.name for lane in names] == ["committed · beat-0", "committed · beat-1"]
    assert not any(lane.points for lane in names), "nobody saw when that was committed"
    [many] = committed_lanes(RecordingData(at(0), at(3), states=(committed(0, *range(9)),)))
    assert (many.name, spans(many)[0][2]) == ("committed, sum", "offsets, summed up 36")


def cut_off(recording):
    """A recording of brokers 2, which was cut off from 1 s to 2 s, and is not registered at 1.5 s."""
    apart = replace(state(1.5), brokers=tuple(replace(b, registered=b.id != 2) for b in state(1.5).brokers))
    actions = (Action(at(0.9), "cut", 2, "from the clients"), Action(at(1.9), "heal", 2))
    states = (state(0), state(1), apart, state(2))
    return replace(recording, states=states, actions=actions, flows=(), marks=(), ended=at(3))


def test_a_broker_that_is_cut_off_is_drawn_so(recording):
    one, two, _ = broker_lanes(cut_off(recording.data))
    assert spans(one) == [(0, 3, "● up", True)]
    assert spans(two) == [
        (0, 0, "● up", True),
        (1, 1, "✂ cut off from the clients", True),
        (1.5, 1.5, "✂ cut off from the clients, not registered", True),
        (2, 3, "● up", True),
    ]
    assert two.spans[1].drawn.look == "cut"


def test_who_is_registered_is_not_known_while_nobody_answers():
    nobody = replace(
        state(1),
        brokers=tuple(replace(b, registered=False) for b in state(1).brokers),
        last_response_at=at(0),
    )
    one, *_ = broker_lanes(RecordingData(at(0), at(2), states=(state(0), nobody)))
    assert spans(one) == [(0, 2, "● up", True)]


def test_an_active_controller_that_nobody_was_asked_for_is_not_missing():
    nobody = replace(state(1, quorum=None), last_response_at=at(0))
    recording = Recording(RecordingData(at(0), at(3), states=(state(0), nobody, state(2))))
    words = [words for _, _, words, _ in spans(quorum_lane(recording.data))]
    assert words == ["broker 1", "nothing told", "broker 1"]
    assert recording.longest_gap("quorum").seconds == 0


def unclean(recording):
    """Broker 2 led alone and could be read up to offset 15; then broker 3 leads, up to offset 5."""

    def look(seconds, leader, epoch, high):
        told = state(seconds, leader=leader, isr=[leader])
        [p] = told.topics[0].partitions
        p = replace(p, leader_epoch=epoch, high_watermark=high, log_end_offsets=((leader, high),))
        return replace(told, topics=(replace(told.topics[0], partitions=(p,)),))

    looks = (look(0, 2, 1, 15), look(1, 3, 2, 5), look(2, 3, 2, 5))
    return Recording(replace(recording, states=looks, actions=(), marks=(), flows=(), ended=at(3)))


def test_an_unclean_election_has_a_lane_with_a_word_for_it(recording):
    shown = unclean(recording.data)
    [found] = shown.unclean_elections()
    assert (found.leader, found.readable_before, found.readable_after) == (3, 15, 5)
    words = "⚠ broker 3 leads, was not in sync: offsets 5–14 lost"
    assert {"unclean election", words} <= set(texts(shown))
    told = "unclean election in partition 0 of beat: broker 3 leads and was not in sync; records are lost"
    whole = f"{told}: readable up to offset 15 before, 5 now"
    assert f"unclean election: at 1.0 s {whole}." in shown.show().words.splitlines()
    assert not [words for words in texts(recording) if "not in sync" in words]
    kill = Action(at(0.5), "kill", 2)
    [said] = Recording(replace(shown.data, actions=(kill,))).show().said
    assert said.startswith("At 0.5 s: kill broker 2: ")
    assert whole in said


def test_unclean_elections_of_one_look_are_one_mark(recording):
    looks = []
    for look in unclean(recording.data).states:
        [topic] = look.topics
        pair = tuple(replace(topic.partitions[0], id=n) for n in (0, 1))
        looks.append(replace(look, topics=(replace(topic, partitions=pair),)))
    shown = Recording(replace(unclean(recording.data).data, states=tuple(looks)))
    assert len(shown.unclean_elections()) == 2
    assert [words for words in texts(shown) if words.startswith("⚠")] == ["⚠ 2 partitions of the topic"]


def test_a_loss_that_is_seen_later_belongs_to_its_election(recording):
    before, led, known = unclean(recording.data).states
    [p] = led.topics[0].partitions
    silent = replace(led, topics=(replace(led.topics[0], partitions=(replace(p, high_watermark=None),)),))
    down = tuple(
        replace(s, brokers=tuple(replace(b, state="down") if b.id == 2 else b for b in s.brokers))
        for s in (before, replace(before, at=at(0.5), last_response_at=at(0.5)), silent, known)
    )
    [found] = Recording(replace(recording.data, states=down)).unclean_elections()
    assert (found.at, found.leader, found.readable_before, found.readable_after) == (at(1), 3, 15, 5)


def test_a_flow_has_a_lane_with_its_gaps(recording):
    delivered, acknowledged, sent = flow_lanes(recording.data, recording.gaps())
    assert (sent.name, sent.gaps, sent.records) == ("sent", (), 651)
    assert [gap.after for gap in acknowledged.gaps] == [KILL]
    assert [gap.seconds for gap in delivered.gaps] == pytest.approx([1.95, 0.8])


def test_several_clients_are_named(recording):
    other = beats("sent", 1, 2, client="producer 2")
    lanes = flow_lanes(replace(recording.data, flows=(*recording.flows, other)), [])
    assert [lane.name for lane in lanes] == [
        "delivered",
        "acknowledged",
        "sent · producer 1",
        "sent · producer 2",
    ]


def test_gaps_are_hatched_and_labelled_with_their_length(recording):
    hatched = [shape for shape in drawn(recording) if shape.get("fill") == "url(#h)"]
    legend = 1
    assert len(hatched) == 1 + 3 + legend  # no leader, three silences
    assert {"1.95 s", "1.98 s"} <= {words.split(" without")[0] for words in texts(recording)}


def lengths(*gaps):
    """The lengths that are written at these (start, seconds) gaps in 20 s."""
    found = tuple(Gap("delivered", at(start), seconds) for start, seconds in gaps)
    sheet = Sheet()
    Row(sheet, Lane("delivered", gaps=found, records=9), Scale(at(0), at(20)), 0).draw()
    return re.findall(r">([\d.]+ s)", "".join(sheet.svg()))


def test_each_gap_has_its_length_in_a_crowd_too():
    """Once the number of 1.82 s was left out, and that of 0.56 s beside it stood there."""
    assert lengths((3, 0.5)) == ["0.50 s"]
    assert lengths((19.4, 0.5)) == ["0.50 s"]
    assert lengths((3, 0.6), (3.7, 0.9), (4.7, 0.7)) == ["0.70 s", "0.90 s", "0.60 s"]  # from the right
    crowd = [(3 + n * 0.35, 0.3 + n / 100) for n in range(12)]
    assert sorted(lengths(*crowd)) == [f"{seconds:.2f} s" for _, seconds in crowd]


def test_the_short_silence_after_a_clean_stop_has_a_number_too():
    heard = [*every(0.05, 0, 3.0), *every(0.05, 3.4, 6)]
    flows = (beats("sent", *every(0.05, 0, 6)), beats("delivered", *heard))
    stop = Action(at(3.0), "stop", 2)
    recording = Recording(RecordingData(at(0), at(6), states=(state(0),), actions=(stop,), flows=flows))
    assert [gap.kind for gap in recording.gaps()] == []
    assert "0.40 s" in texts(recording)
    later = replace(recording.data, actions=(replace(stop, at=at(0.5)),))
    assert "0.40 s" not in texts(Recording(later)), "so much later it is not the stop's doing"


def test_a_pause_of_the_own_program_looks_unlike_a_silence_of_brokers(recording):
    late = beats("sent", *every(0.02, 0, 3), *every(0.02, 5, 6))
    shown = Recording(replace(recording.data, flows=(late,), states=(), actions=()))
    legend = 1
    assert [shape.get("fill") for shape in drawn(shown)].count("url(#o)") == 1 + legend
    assert "your own program sent nothing" in texts(shown)
    assert "your own program sent nothing" not in texts(recording)


def test_records_that_came_twice_are_counted_as_such():
    def flow(kind, *runs):
        count = sum(b - a + 1 for a, b in runs)
        return Flow("c", kind, "beat", 0, (Burst(at(1), at(2), count),), tuple(runs))

    def note(*flows):
        [lane] = [lane for lane in flow_lanes(RecordingData(at(0), at(3), flows=flows), []) if lane.more]
        return lane.name, lane.note, lane.more

    told = flow("acknowledged", (10, 14), (16, 20))
    assert note(told, flow("delivered", (10, 20))) == (
        "delivered",
        "1 extra",
        "1 record has an offset of which no producer here was told: "
        "a retry stored a record twice, or another program wrote.",
    )
    assert note(told, flow("delivered", (10, 14), (12, 14)))[1:] == (
        "3 again",
        "3 records came again, from the same offset.",
    )
    assert note(told, flow("delivered", (0, 14)))[1:] == (
        "10 older",
        "10 records were stored before the first that was sent here.",
    )
    shown = Recording(RecordingData(at(0), at(3), flows=(told, flow("delivered", (10, 20)))))
    assert "⚠ 1 extra" in texts(shown)
    unknown = replace(told, bursts=(Burst(at(1), at(2), 11),))  # stored, and nobody told where
    lanes = flow_lanes(RecordingData(at(0), at(3), flows=(unknown, flow("delivered", (10, 20)))), [])
    assert [lane.more for lane in lanes] == ["", ""]


def test_a_few_bursts_say_how_many_records_they_hold():
    flow = Flow("c", "delivered", "beat", 0, (Burst(at(1), at(1.01), 20),))
    assert "20" in texts(Recording(RecordingData(at(0), at(10), flows=(flow, beats("sent", 5)))))


def test_actions_and_marks_have_a_line_each(recording):
    lines = [shape for shape in drawn(recording) if shape.get("stroke-dasharray") in ("4 3", "1.5 3")]
    paths = [shape for shape in lines if shape.tag == f"{SVG}path"]
    assert [shape.get("stroke") == BAD for shape in paths] == [False, True, False, True]
    assert {"kill broker 2", "start broker 2", "pause broker 3", "✎ now I kill it"} <= set(texts(recording))


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
    assert recording.show().said == (
        "At 2.5 s: your note: now I kill it.",
        "At 3.0 s: kill broker 2: a new leader at most 1.9 s later; 1.98 s without an acknowledgement; "
        "1.95 s without a delivery.",
        "At 7.4 s: start broker 2: in sync again at most 0.1 s later.",
        "At 10.0 s: pause broker 3 of everything: 0.80 s without a delivery.",
    )
    rows = recording.show().rows
    assert words == [*recording.show().said, *rows]
    assert "broker 2: from 0.0 s ● up; from 3.1 s ✕ down; from 7.5 s ● up." in rows
    assert (
        "beat led by: from 0.0 s broker 2 leads, all 3 replicas in sync; "
        "from 3.1 s concluded: no leader (broker 2 cannot serve); "
        "from 4.9 s broker 3 leads, 2 of 3 in sync, without broker 2; "
        "from 7.5 s broker 3 leads, all 3 replicas in sync."
    ) in rows
    assert rows[0].startswith(
        "delivered: 515 records; "
        "concluded: 1.95 s without a delivery (consumer 1, beat-0), after kill broker 2, from 3.0 s; "
    )
    assert str(recording.show()) == recording.show()._repr_mimebundle_()["text/plain"]


def test_in_words_only_the_longest_gaps_are_told_one_by_one(recording):
    heard, at_last = [], 0.0
    for number in range(10):
        heard += every(0.02, at_last, at_last + 1)
        at_last += 1.6 + number / 100
    shown = Recording(RecordingData(at(0), at(30), flows=(beats("sent", *heard),)))
    [line] = [line for line in shown.show().rows if "concluded" in line]
    first, *more = line.split("; concluded: ")[1:]
    assert first.startswith("0.63 s without anything sent")
    assert more[5:] == ["3 shorter gaps."]


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
    assert len(recording.show().rows) >= 4 + count
    assert drawn(recording)


@pytest.mark.parametrize("seconds", [0.0, 0.05, 3600.0])
def test_a_recording_of_nothing_is_drawn(seconds):
    recording = Recording(RecordingData(at(0), at(seconds)))
    assert drawn(recording)
    assert len([words for words in texts(recording) if words.endswith(" s")]) <= 14
    assert recording.show().said == ("Nothing was done to any broker.",)


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
