"""A demo's recording plays without brokers: frames and lines in order, in its own time."""

import pytest

from tests.recordings import a_kill_and_a_pause, at
from threebrokers.demo.lines import Line, doing, fact
from threebrokers.demo.played import Played, Player, Told, load, save
from threebrokers.errors import LabError


@pytest.fixture
def acts():
    told = (
        Told(at(2.9), doing("Killing it.")),
        Told(at(5.0), fact("silence", 1.95)),
        Told(at(14), fact("all", 3)),
    )
    return {"kill": Played(a_kill_and_a_pause().data, told)}


def test_it_is_kept_in_a_file(acts, tmp_path):
    save(tmp_path / "a.json.gz", acts)
    assert load(tmp_path / "a.json.gz") == acts


@pytest.mark.parametrize("content", [b"", b"no gzip", b"\x1f\x8b\x08\x00broken"])
def test_a_damaged_file_is_a_sentence(tmp_path, content):
    (tmp_path / "a.json.gz").write_bytes(content)
    with pytest.raises(LabError, match="recording of this demo cannot be read"):
        load(tmp_path / "a.json.gz")


def test_lines_come_when_they_came(acts):
    player, seen = Player(acts, speed=1000), []
    player.watch(seen.append)
    [killed, silence, last] = player.perform("kill")
    assert (killed, silence) == (Line("doing", "Killing it."), Line("fact", "silence", "1.9 s"))
    assert last.value == "3"
    assert len(seen) == len(acts["kill"].seen.states) + 1
    assert not any(frame["buttons"] for frame in seen)


def test_a_line_stands_beside_the_state_of_its_moment(acts):
    player, seen = Player(acts, speed=1000), []
    player.watch(seen.append)
    lines = player.perform("kill")
    next(lines)
    assert seen[-1]["brokers"][1]["state"] == "up"
    next(lines)
    assert seen[-1]["brokers"][1]["state"] == "down"
    assert seen[-1]["topics"][0]["rows"][0]["copies"][2]["kind"] == "leader"


def test_it_stops_when_nobody_wants_the_rest(acts):
    assert list(Player(acts, speed=1000).perform("kill", lambda: True)) == []


def test_only_acts_that_were_played_have_a_recording_until_it_rests(acts):
    player = Player(acts, speed=1000)
    assert player.recording("kill") is None
    list(player.perform("kill"))
    assert player.recording("kill").action("kill", 2)
    player.rest()
    assert player.recording("kill") is None


def test_nothing_to_play_is_said():
    with pytest.raises(LabError, match="holds no act"):
        Player({})
