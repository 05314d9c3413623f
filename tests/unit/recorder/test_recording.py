"""Recordings written by hand: what follows from them, and that they keep."""

import gzip
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.recordings import KILL, PAUSE, START, a_kill_and_a_pause, at, beats, every, state
from threebrokers.cluster.actions import Action
from threebrokers.errors import LabError
from threebrokers.kafka.state import (
    BrokerState,
    ClusterState,
    GroupState,
    MemberState,
    PartitionState,
    TopicState,
)
from threebrokers.recorder import Recording
from threebrokers.recorder.data import Burst, Flow, Holding, Mark, Missed, RecordingData

PAUSE_BEFORE = Action(at(1.5), "pause", 2)


@pytest.fixture
def recording():
    return a_kill_and_a_pause()


def test_the_silence_after_an_act_is_what_came_before_the_next_action(recording):
    assert recording.longest_gap("delivered", after=KILL).seconds == pytest.approx(1.95)
    assert recording.longest_gap("delivered", after=PAUSE).seconds == pytest.approx(0.8, abs=0.03)
    assert recording.longest_gap("delivered", after=START).seconds == pytest.approx(0.02)
    assert recording.longest_gap("delivered") == recording.longest_gap("delivered", after=KILL)


def test_an_action_is_found_by_its_kind(recording):
    assert recording.action("kill") == recording.action("kill", 2) == KILL


def test_an_action_that_is_not_there_is_complained_of(recording):
    with pytest.raises(
        LabError, match=r"has no cut: it has kill\(2\) at 3.0 s, start\(2\) at 7.4 s and pause"
    ):
        recording.action("cut")
    with pytest.raises(LabError, match=r"has no kill of broker 1: it has kill\(2\)"):
        recording.action("kill", 1)
    nothing = Recording(RecordingData(at(0), at(1)))
    with pytest.raises(LabError, match="has no kill: nothing was done to any broker in it"):
        nothing.action("kill")


def test_an_action_that_somebody_repeated_is_not_guessed(recording):
    twice = Recording(replace(recording.data, actions=(KILL, START, Action(at(9.0), "kill", 1))))
    with pytest.raises(
        LabError, match=r"more than one kill: it has kill\(2\) at 3.0 s and kill\(1\) at 9.0 s"
    ):
        twice.action("kill")
    assert twice.action("kill", 1).at == at(9.0)


def test_sending_is_not_delivering(recording):
    assert recording.longest_gap("sent", after=KILL).seconds == pytest.approx(0.02)
    assert recording.longest_gap("acknowledged", after=KILL).seconds == pytest.approx(1.98)


def test_a_silence_that_begins_just_before_its_act_belongs_to_it(recording):
    flow = beats("delivered", *every(0.02, 2.0, 2.92), *every(0.02, 5.0, 6.0))
    recording = Recording(
        replace(recording.data, flows=(flow,), actions=(Action(at(0.5), "start", 1), KILL, START))
    )
    assert recording.longest_gap("delivered", after=KILL).seconds == pytest.approx(2.08)


@pytest.mark.parametrize(
    ("begins", "actions", "after"),
    [
        (2.5, (KILL,), KILL),  # the machine was busy when the broker was killed
        (2.0, (KILL,), None),  # it had come too late to be the cause
        (2.5, (Action(at(3.0), "start", 1),), None),
        (2.5, (PAUSE_BEFORE, KILL), PAUSE_BEFORE),
    ],
)
def test_a_silence_that_an_act_found_begun_belongs_to_it_if_nothing_else_explains_it(
    recording, begins, actions, after
):
    flow = beats("delivered", *every(0.02, 1.0, begins), *every(0.02, 5.0, 6.0))
    recording = Recording(replace(recording.data, flows=(flow,), actions=actions))
    assert recording.longest_gap("delivered").after == after


def test_a_short_silence_that_was_half_over_does_not_belong_to_the_action(recording):
    flow = beats("delivered", *every(0.02, 1.0, 2.8), *every(0.02, 3.1, 6.0))
    recording = Recording(replace(recording.data, flows=(flow,)))
    assert (recording.longest_gap("delivered").seconds, recording.longest_gap("delivered").after) == (
        pytest.approx(0.3),
        None,
    )


def test_of_a_silence_in_which_something_was_done_the_rest_is_measured(recording):
    """A busy machine: all that came before the next action came at once."""
    flow = beats("delivered", *every(0.02, 0.0, 1.0), 7.3, 7.9, 7.92)
    recording = Recording(replace(recording.data, flows=(flow,)))
    assert recording.longest_gap("delivered").after is None
    found = recording.longest_gap("delivered", after=KILL)
    assert (found.start, found.seconds, found.after) == (KILL.at, pytest.approx(4.3), KILL)


def test_a_silence_that_was_there_already_counts_beside_the_short_ones_after_it(recording):
    """The machine stood still just before the kill, so the long silence was the previous action's."""
    before = Action(at(1.5), "start", 1)
    flow = beats("delivered", *every(0.02, 0.0, 2.7), *every(0.05, 5.0, 6.0))
    recording = Recording(replace(recording.data, flows=(flow,), actions=(before, KILL)))
    assert recording.longest_gap("delivered").after == before
    found = recording.longest_gap("delivered", after=KILL)
    assert (found.start, found.seconds, found.after) == (KILL.at, pytest.approx(2.0), KILL)


def test_a_silence_that_belongs_to_a_later_action_is_not_measured_after_the_one_before(recording):
    """Both were done while the machine was busy, and the second one began the silence."""
    flow = beats("delivered", *every(0.02, 0.0, 2.9), *every(0.02, 7.0, 7.9))
    second = Action(KILL.at + 0.1, "kill", 1)
    recording = Recording(replace(recording.data, flows=(flow,), actions=(KILL, second)))
    assert recording.longest_gap("delivered", after=second).seconds == pytest.approx(4.1)
    with pytest.raises(LabError, match="nothing to measure"):
        recording.longest_gap("delivered", after=KILL)


def test_one_of_two_producers_may_end(recording):
    flows = (beats("sent", *every(0.02, 0, 5)), beats("sent", *every(0.02, 0, 13), client="producer 2"))
    assert [gap for gap in Recording(replace(recording.data, flows=flows)).gaps() if gap.kind == "sent"] == []


def test_a_silence_is_of_one_partition_while_another_goes_on(recording):
    busy = beats("delivered", *every(0.02, 0.0, 13.0), partition=1)
    recording = Recording(replace(recording.data, flows=(*recording.flows, busy)))
    found = recording.longest_gap("delivered", after=KILL)
    assert (found.partition, found.seconds) == (0, pytest.approx(1.95))
    assert recording.longest_gap("delivered", after=KILL, partition=1).seconds == pytest.approx(0.02)


def test_what_never_came_back_is_a_silence_that_is_not_over(recording):
    flows = (recording.flows[0], beats("delivered", *every(0.02, 0.0, 10.0)))
    recording = Recording(replace(recording.data, flows=flows))
    found = recording.longest_gap("delivered", after=PAUSE)
    assert (found.seconds, found.over) == (pytest.approx(3.0, abs=0.03), False)
    assert "3.00 s or more without a delivery" in str(found)


def test_who_has_all_answers_is_not_silent_while_another_goes_on(recording):
    """Its partition, too: a reader of it has read everything."""
    first = [beats(kind, *every(0.02, 0.0, 3.0)) for kind in ("sent", "acknowledged", "delivered")]
    second = [
        beats(kind, *every(0.02, 0.0, 13.0), client="producer 2", partition=1)
        for kind in ("sent", "acknowledged", "delivered")
    ]
    alone = Recording(replace(recording.data, flows=(*first, *second)))
    assert [gap for gap in alone.gaps() if gap.kind in ("acknowledged", "delivered")] == []
    waits = beats("acknowledged", *every(0.02, 0.0, 2.9))  # five records have no answer
    unheard = Recording(replace(recording.data, flows=(first[0], waits, *second)))
    found = unheard.longest_gap("acknowledged", after=None)
    assert (found.client, found.over) == ("producer 1", False)
    assert found.seconds == pytest.approx(0.1, abs=0.03)


def test_the_end_of_a_producer_is_no_silence(recording):
    flows = tuple(beats(kind, *every(0.02, 0.0, 10.0)) for kind in ("sent", "acknowledged", "delivered"))
    assert [
        gap for gap in Recording(replace(recording.data, flows=flows)).gaps() if gap.kind != "leader"
    ] == []


def test_nobody_leads_while_the_leader_that_is_told_is_down(recording):
    found = recording.longest_gap("leader", after=KILL)
    assert (found.topic, found.partition) == ("beat", 0)
    assert (found.start, found.seconds) == (at(3.1), pytest.approx(1.8))
    assert recording.longest_gap("leader", after=PAUSE).seconds == 0
    assert recording.longest_gap("quorum").seconds == 0


def test_nothing_follows_from_a_leader_that_only_does_not_answer():
    quiet = replace(state(1), brokers=(BrokerState(2, "unknown", at(0)),))
    assert Recording(RecordingData(at(0), at(2), states=(state(0), quiet, state(2)))).gaps(0) == []


def test_the_quorum_has_no_leader_while_that_one_is_paused(recording):
    states = tuple(state(n / 10, quorum=2, paused=[2] if 10 <= n < 18 else ()) for n in range(30))
    found = Recording(replace(recording.data, states=states)).longest_gap("quorum")
    assert (found.start, found.seconds) == (at(1.0), pytest.approx(0.8))


def test_gaps_are_what_stands_out(recording):
    found = [(gap.kind, gap.after) for gap in recording.gaps()]
    assert found == [("acknowledged", KILL), ("delivered", KILL), ("leader", KILL), ("delivered", PAUSE)]


def test_a_slow_rhythm_is_no_gap(recording):
    slow = beats("sent", *every(1.0, 0, 13))
    assert Recording(replace(recording.data, states=(), flows=(slow,))).gaps() == []
    late = beats("sent", 0, 0.1, 0.2, 0.3, 0.4, 1.6, 1.7)
    assert [gap.seconds for gap in Recording(replace(recording.data, states=(), flows=(late,))).gaps()] == [
        1.2
    ]


def test_the_rhythm_of_bursts_counts_the_records_inside():
    bursts = (Burst(at(0), at(0.1), 6), *(Burst(at(n), at(n), 1) for n in (1, 2, 3)))
    flow = Flow("p", "sent", "beat", None, bursts)
    assert flow.rhythm() == pytest.approx(0.02)
    assert flow.records == 9


@pytest.mark.parametrize("kind", ["deliverd", "", "broker"])
def test_an_unknown_kind_is_named(recording, kind):
    with pytest.raises(LabError, match="knows sent, acknowledged, failed, delivered, processed, leader"):
        recording.longest_gap(kind)


def test_too_little_to_measure_is_said(recording):
    with pytest.raises(LabError, match="Fewer than two records were processed"):
        recording.longest_gap("processed")
    with pytest.raises(LabError, match=r"between cut\(1\) and the next action"):
        recording.longest_gap("delivered", after=Action(at(20), "cut", 1))


def test_a_saved_recording_is_the_same_again(recording, tmp_path):
    path = recording.save(tmp_path / "recording.json.gz")
    assert Recording.load(path).data == recording.data
    assert Recording.load(path).gaps() == recording.gaps()


def unpacked(path):
    return json.loads(gzip.decompress(path.read_bytes()))


def test_what_was_concluded_stands_apart_from_what_was_seen(recording, tmp_path):
    whole = unpacked(recording.save(tmp_path / "recording.json.gz"))
    assert set(whole) == {"format", "seen", "concluded"}
    assert [(gap["kind"], gap["after"]["at"]) for gap in whole["concluded"]][:3] == [
        ("acknowledged", at(3)),
        ("delivered", at(3)),
        ("leader", at(3)),
    ]
    assert "no leader" not in json.dumps(whole["seen"])


PACKED = gzip.compress(b"x" * 9_000)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"\xff\x00",
        PACKED,
        PACKED[:30],
        PACKED[:20] + b"?" + PACKED[21:],
        *map(gzip.compress, [b"", b"{}", b"[]", b"\xff", b'{"format":"threebrokers recording 1"}']),
        gzip.compress(b'{"format":"threebrokers recording 2","seen":2,"concluded":[]}'),
    ],
)
def test_another_file_is_no_recording(tmp_path, content):
    path = tmp_path / "other.json.gz"
    path.write_bytes(content)
    with pytest.raises(LabError, match=r"^The file .* is no recording of this course \(.+\): choose"):
        Recording.load(path)


def test_a_recording_that_another_version_saved_is_read(recording, tmp_path):
    path = recording.save(tmp_path / "recording.json.gz")
    whole = unpacked(path)
    del whole["seen"]["missed"]
    whole["seen"]["states"][0]["weather"] = "fine"
    path.write_bytes(gzip.compress(json.dumps(whole).encode()))
    assert Recording.load(path).data == recording.data


def test_a_file_that_is_not_there_is_named(tmp_path, recording):
    with pytest.raises(LabError, match=r"nowhere\.json cannot be read"):
        Recording.load(tmp_path / "nowhere.json")
    (tmp_path / "file").write_text("")
    with pytest.raises(LabError, match="cannot be written"):
        recording.save(tmp_path / "file" / "recording.json.gz")


SECONDS = st.integers(0, 10_000).map(lambda ms: at(ms / 1000))
OFFSETS = st.none() | st.integers(0, 2**50)
PLACES = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 3)), max_size=3, unique=True).map(tuple)
BROKER = st.none() | st.integers(1, 3)
COMMITTED = st.dictionaries(st.tuples(st.sampled_from("ab"), st.integers(0, 3)), st.integers(0, 9)).map(
    lambda places: tuple(sorted((*place, offset) for place, offset in places.items()))
)
STATES = st.sampled_from(["up", "down", "paused", "unknown"])
NUMBERS = st.lists(st.integers(1, 3), max_size=3, unique=True).map(tuple)


@st.composite
def any_state(draw, moment):
    topics = draw(st.lists(st.sampled_from(["a", "b", "with-dash.and_dot"]), max_size=2, unique=True))
    return ClusterState(
        at=moment,
        brokers=tuple(
            BrokerState(
                n, draw(st.sampled_from(["up", "down", "paused"])), draw(SECONDS), draw(st.booleans())
            )
            for n in (1, 2, 3)
        ),
        quorum_leader=draw(BROKER),
        quorum_leader_epoch=draw(st.integers(-1, 9)),
        topics=tuple(
            TopicState(
                topic,
                tuple(
                    PartitionState(
                        topic,
                        number,
                        draw(BROKER),
                        draw(st.integers(0, 9)),
                        (1, 2, 3),
                        draw(NUMBERS),
                        draw(OFFSETS),
                        draw(OFFSETS),
                        tuple((n, draw(st.integers(0, 99))) for n in draw(NUMBERS)),
                        draw(NUMBERS),
                        draw(OFFSETS),
                        draw(NUMBERS),
                    )
                    for number in range(draw(st.integers(0, 2)))
                ),
            )
            for topic in topics
        ),
        groups=tuple(
            GroupState(name, "Stable", draw(BROKER), (MemberState("m", "c", draw(PLACES)),), draw(COMMITTED))
            for name in draw(st.lists(st.sampled_from(["g", "h"]), max_size=2, unique=True))
        ),
        last_response_at=draw(st.sampled_from([None, moment, at(-1)])),
        asked_at=draw(st.none() | SECONDS),
        informed=draw(st.booleans()),
    )


@given(st.data())
def test_any_recording_is_the_same_after_json(data):
    from threebrokers.recorder import file

    moments = sorted(data.draw(st.lists(SECONDS, max_size=4, unique=True)))
    times = sorted(data.draw(st.lists(SECONDS, max_size=6).filter(lambda found: len(found) % 2 == 0)))
    bursts = tuple(Burst(*ends, 3) for ends in zip(times[::2], times[1::2], strict=True))
    recording = RecordingData(
        began=at(0),
        ended=at(10),
        states=tuple(data.draw(any_state(moment)) for moment in moments),
        actions=(Action(at(1.234), "cut", 2, "from clients"),),
        marks=(Mark(at(2), 'a "mark" → é'),),
        flows=(Flow("p", "sent", "a", None, bursts, ((0, 4), (2, 9))),),
        missed=(Missed(at(3), at(4.5), "Docker does not answer."),),
        holdings=(Holding(at(2), "A", "g", "assigned", (("a", 0), ("a", 1))),),
    )
    assert file.loads(file.dumps(recording, [])) == recording


def test_five_minutes_stay_below_five_megabytes(tmp_path):
    """Ten looks a second at 13 partitions that all move and are committed, and 50 records a second."""
    name, count = "a-topic-with-a-name-of-forty-characters-x", 13
    first, read = state(0).topics[0].partitions[0], ("high_watermark", "last_stable_offset")

    def look(n):
        ends = ((1, 9_000_000 + 7 * n), (2, 9_000_000 + 7 * n), (3, 9_000_000 + 7 * n - 1))
        partitions = (
            replace(
                first, topic=name, id=number, log_end_offsets=ends, **dict.fromkeys(read, 9_000_000 + 7 * n)
            )
            for number in range(count)
        )
        told = state(n / 10)
        moved = tuple((name, number, 9_000_000 + 5 * n) for number in range(count))
        groups = (replace(told.groups[0], committed=moved),)
        brokers = tuple(replace(b, rss=200_000_000 + n // 50 * 1_000_000) for b in told.brokers)
        topics = (TopicState(name, tuple(partitions)),)
        return replace(told, topics=topics, groups=groups, brokers=brokers)

    beat = every(0.02, 0, 300)
    flows = [beats("sent", *beat)]
    for kind in ("acknowledged", "delivered", "processed"):
        flows += [beats(kind, *beat[number::count], partition=number) for number in range(count)]
    recording = Recording(
        RecordingData(at(0), at(300), states=tuple(map(look, range(3000))), flows=tuple(flows))
    )
    assert recording.save(tmp_path / "recording.json.gz").stat().st_size < 5_000_000


def test_a_recording_plays_again_without_a_cluster(recording, tmp_path):
    panel = Recording.load(recording.save(tmp_path / "recording.json.gz")).replay()
    assert len(panel.times) == len(recording.states)
    assert "broker 2" in str(panel.marks[0][1])
    with pytest.raises(LabError, match="nothing to play"):
        Recording(RecordingData(at(0), at(1))).replay()
