"""The panel without brokers and without a browser: what it shows, what its buttons do, when it ends."""

import re
import threading
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from tests.states import after_a_kill, group, member, state
from tests.unit.logged_bench import LoggedBench
from threebrokers.cluster import action_log
from threebrokers.cluster.actions import Action
from threebrokers.cluster.link_faults import Fault
from threebrokers.errors import LabError
from threebrokers.panel import Panels, live
from threebrokers.panel.events import Event
from threebrokers.panel.frame import Scene, frame
from threebrokers.panel.replay import replay
from threebrokers.panel.static import still
from threebrokers.panel.widget import HERE, Panel
from threebrokers.recorder.labels import FONT, width
from threebrokers.waiting import quiet_wait


class Bench(LoggedBench):
    """Stands in for a cluster: it shows one look after the other, and notes what is done to it."""

    access = None

    def __init__(self, home):
        super().__init__(home)
        self.done, self.closed, self.looks = [], 0, [state(0.0)]
        self.go_on = threading.Event()
        self.go_on.set()
        self.blind, self.price, self.broken = None, None, []

    def poll(self, topics, groups=()):
        if self.blind:
            raise self.blind
        return self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]

    def close(self):
        self.closed += 1

    def quorum_impacts(self):
        if self.price:
            raise self.price
        return {1: "the quorum", 2: "", 3: ""}

    def faults(self):
        return self.broken

    def kill(self, broker, *, force=False):
        self.go_on.wait(5)
        if not force and self.quorum_impacts().get(broker):
            raise LabError("That costs the quorum.")
        self.done.append(("kill", broker, force))
        action_log.write(self.home, Action(1.0, "kill", broker))

    def cut(self, broker, *, force=False):
        self.done.append(("cut", broker, force))
        action_log.write(self.home, Action(1.0, "cut", broker, Fault("cut", broker).words))

    def heal(self, broker):
        self.done.append(("heal", broker))
        action_log.write(self.home, Action(2.0, "heal", broker))

    def start(self, broker):
        if broker == 3:
            raise OSError(28, "No space left on device")
        self.done.append(("start", broker))


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


@pytest.fixture
def shown(bench):
    made = Panels()
    yield made.watch(bench, ["failsafe"], [])
    made.end()


def press(panel, kind, broker, **more):
    panel._told(panel, {"kind": kind, "broker": broker, **more}, [])


def told(panel):
    return [event["words"] for event in panel.frame["events"]]


def test_a_panel_shows_something_at_once_and_says_it_in_words(shown):
    assert [b["state"] for b in shown.frame["brokers"]] == ["up", "up", "up"]
    assert repr(shown).startswith("Broker 1: up at 127.0.0.1:19092, leads 4 of 13 partitions.\n")
    assert shown._repr_mimebundle_()[0]["text/plain"] == repr(shown)
    assert 'class="tb tb-still"' in shown._repr_mimebundle_()[0]["text/html"]
    assert shown.frame["brokers"][0]["cost"] == "the quorum"


def test_a_still_shows_what_the_panel_shows(bench, shown):
    drawing = still(shown.frame).drawing
    assert drawing.count("★ leader") == 13
    assert "♛ active controller" in drawing
    assert "all 3 brokers are up" in drawing, "what happened last"
    folded = still(
        {**shown.frame, "topics": [{"name": "many", "rows": [], "summary": "50 partitions", "trouble": True}]}
    )
    assert "✕ 50 partitions" in folded.drawing
    assert "<table" not in folded.drawing


def test_a_still_keeps_the_last_words_and_leaves_out_what_only_ears_need():
    look = after_a_kill(3.0)
    told = frame(
        look, Scene(begun=0.0, events=[Event(n, f"event <{n}>") for n in range(9)], costs={1: "the quorum"})
    )
    drawing = still(told).drawing
    assert re.findall(r"event &lt;(\d)&gt;", drawing) == ["4", "5", "6", "7", "8"]
    assert "tb-hidden" not in drawing
    assert "<button" not in drawing
    ET.fromstring(drawing)


def test_a_still_says_which_links_are_broken(shown):
    assert "tb-links-told" not in still(shown.frame).drawing
    down = frame(after_a_kill(3.0), Scene(begun=0.0))
    assert "tb-links-told" not in still(down).drawing, "where nobody is, no link is broken"
    cut = Action(1.0, "cut", 1, "from the other brokers and the quorum")
    drawing = still(frame(state(2.0), Scene(begun=0.0, actions=[cut]))).drawing
    assert '<p class="tb-links-told">Links: 1–2 cut, 1–3 cut, 2–3 whole.</p>' in drawing


def test_a_still_lists_members_as_the_panel_does():
    readers = group(member("reader 1", 0, 1), member("reader 2"))
    drawing = still(frame(replace(state(2.0), groups=(readers,)), Scene(begun=0.0))).drawing
    assert re.findall(r"<li><b>(reader \d)</b> ([^<]+)", drawing) == [
        ("reader 1", "failsafe 0, 1"),
        ("reader 2", "reads nothing"),
    ]


def test_times_have_room_on_one_line():
    sheet = (HERE / "widget.css").read_text("utf-8")
    column = re.findall(r"\.tb-at \{[^}]*?(?:flex: 0 0 |flex-basis: )([\d.]+)em", sheet)
    gaps = re.findall(r"\.tb-events li \{[^}]*?gap: ([\d.]+)em", sheet)
    assert len(column) == len(gaps) == 2, "wide and narrow"
    assert re.search(r"\.tb-at \{[^}]*white-space: nowrap", sheet)
    hours = width("9999.9 s") / FONT
    assert [float(c) + float(g) >= hours for c, g in zip(column, gaps, strict=True)] == [True, True]


def test_new_looks_are_drawn(bench, shown):
    bench.looks.append(after_a_kill(3.0))
    assert quiet_wait(lambda: shown.frame["brokers"][1]["state"] == "down", 5)
    assert "broker 2 is gone: its process has ended" in told(shown)


def test_a_button_acts_in_the_background(bench, shown):
    bench.go_on.clear()
    press(shown, "kill", 2)  # returns at once, although the kill takes its time
    assert shown.frame["brokers"][1]["busy"] == "killing …"
    press(shown, "kill", 2)  # pressed twice
    bench.go_on.set()
    assert quiet_wait(lambda: shown.frame["brokers"][1]["busy"] == "", 5)
    assert bench.done == [("kill", 2, False)]
    assert "you killed broker 2" in told(shown)
    press(shown, "start", 2)
    assert quiet_wait(lambda: bench.done[-1] == ("start", 2), 5)


def test_links_are_cut_and_mended_by_buttons(bench, shown):
    bench.looks = [state(5.0)]
    press(shown, "cut", 3, force=True)
    assert quiet_wait(lambda: shown.frame["brokers"][2]["word"] == "cut off", 5)
    assert shown.frame["links"]["words"] == "links: 1–2 whole, 1–3 cut, 2–3 cut"
    press(shown, "heal", 3)
    assert quiet_wait(lambda: shown.frame["links"]["words"] == "links: all whole", 5)
    assert bench.done == [("cut", 3, True), ("heal", 3)]
    press(shown, "stall", 3)
    assert not quiet_wait(lambda: len(bench.done) > 2, 0.2), "that has no button"


def test_a_panel_for_a_room_is_told_so(bench):
    made = Panels()
    assert [made.watch(bench).big, made.watch(bench, big=True).big] == [False, True]
    made.end()


def test_what_a_button_cannot_do_stands_among_the_events(bench, shown):
    press(shown, "kill", 1)
    assert quiet_wait(lambda: "could not kill broker 1: That costs the quorum." in told(shown), 5)
    press(shown, "kill", 1, force=True)
    assert quiet_wait(lambda: bench.done == [("kill", 1, True)], 5)
    press(shown, "start", 3)
    words = "could not start broker 3: OSError: [Errno 28] No space left on device"
    assert quiet_wait(lambda: words in told(shown), 5)


def test_a_panel_whose_first_look_fails_leaves_nothing(bench, monkeypatch):
    panels = []

    def made(*words):
        panels.append(Panel(*words))
        return panels[0]

    bench.blind = LabError("Docker does not answer: start it.")
    monkeypatch.setattr(live, "Panel", made)
    with pytest.raises(LabError, match="Docker does not answer"):
        Panels().watch(bench)
    assert bench.closed == 1
    action_log.write(bench.home, Action(1.0, "kill", 2))
    assert bench.readers[0].read() == [], "it holds the log no longer"
    assert panels[0].comm is None, "it is taken away"
    panels[0].close()  # as Python does it at the end
    assert bench.closed == 1


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (LabError("Docker does not answer: start it."), "Docker does not answer: start it."),
        (KeyError("state"), "KeyError: 'state'"),
    ],
)
def test_looks_that_fail_are_told_and_the_panel_goes_on(bench, shown, fault, words):
    bench.blind = fault
    assert quiet_wait(lambda: f"the brokers cannot be seen: {words}" in told(shown), 5)
    alarm = f"The brokers cannot be seen, this is how they were: {words}"
    assert shown.frame["alarm"] == alarm
    assert repr(shown).startswith(f"{alarm}\nBroker 1: up")
    since = shown.frame["time"]
    assert quiet_wait(lambda: shown.frame["time"] != since, 5), "the page would say that the kernel is busy"
    assert told(shown).count(f"the brokers cannot be seen: {words}") == 1
    bench.blind = None
    assert quiet_wait(lambda: "the brokers are seen again" in told(shown), 5)
    assert shown.frame["alarm"] == ""


def test_what_an_act_breaks_in_the_panel_does_not_reach_who_acted(bench, shown):
    bench.price = LabError("Docker does not answer: start it.")
    bench.kill(2, force=True)
    assert bench.done == [("kill", 2, True)]
    words = "what the buttons cost is not known: Docker does not answer: start it."
    assert quiet_wait(lambda: words in told(shown), 5)
    assert "you killed broker 2" in told(shown)
    bench.price = None
    bench.kill(2)
    assert quiet_wait(lambda: shown.frame["brokers"][0]["cost"] == "the quorum", 5)


def test_what_another_program_does_is_told(bench, shown):
    action_log.write(bench.home, Action(1.0, "pause", 3))
    assert quiet_wait(lambda: "you paused broker 3" in told(shown), 5)
    bench.blind = LabError("Docker does not answer: start it.")
    assert quiet_wait(lambda: shown.frame["alarm"], 5)
    action_log.write(bench.home, Action(2.0, "resume", 3))
    assert quiet_wait(lambda: "you let broker 3 go on" in told(shown), 5), "also while nothing can be seen"


def test_what_was_done_before_the_panel_is_not_told(bench, tmp_path):
    action_log.write(tmp_path, Action(1.0, "pause", 3))
    made = Panels()
    panel = made.watch(bench)
    action_log.write(tmp_path, Action(2.0, "resume", 3))
    assert quiet_wait(lambda: "you let broker 3 go on" in told(panel), 5)
    assert "you paused broker 3" not in told(panel)
    made.end()


def test_a_cut_from_before_the_panel_is_shown_and_not_told_as_done_now(bench):
    bench.broken = [Fault("cut", 3)]
    made = Panels()
    panel = made.watch(bench)
    made.end()
    assert (panel.frame["brokers"][2]["word"], panel.frame["brokers"][1]["word"]) == ("cut off", "up")
    assert not [words for words in told(panel) if "cut" in words]


def test_a_picture_that_cannot_be_drawn_is_told_with_the_next_one(bench, shown, monkeypatch):
    with monkeypatch.context() as broken:
        broken.setattr(live, "frame", lambda state, scene: dict[str, str]()["nothing"])
        bench.kill(2)
        bench.looks.append(after_a_kill(3.0))
        assert quiet_wait(lambda: len(bench.looks) == 1, 5)
    assert quiet_wait(lambda: "the panel could not be drawn: KeyError: 'nothing'" in told(shown), 5)


def test_only_buttons_that_there_are_are_obeyed(bench, shown):
    press(shown, "reset", 1)
    press(shown, "kill", "1")
    assert not quiet_wait(lambda: bench.done, 0.2)


def test_kafkas_own_topics_are_shown_only_when_they_are_named(bench):
    own = state(0.0).topics[0]
    bench.looks = [state(0.0, topics=(own, type(own)("__consumer_offsets", own.partitions)))]
    made = Panels()
    every, named = made.watch(bench), made.watch(bench, ["__consumer_offsets"])
    made.end()
    assert [t["name"] for t in every.frame["topics"]] == ["failsafe"]
    assert "__consumer_offsets" in [t["name"] for t in named.frame["topics"]]


def test_a_panel_that_has_ended_keeps_its_last_picture(bench, shown):
    before = shown.frame
    shown.end()
    assert shown.ended == "This panel has ended: run its cell again."
    assert bench.closed == 1
    action_log.write(bench.home, Action(1.0, "kill", 2))
    assert bench.readers[0].read() == [], "it holds the log no longer"
    press(shown, "kill", 2)
    assert not quiet_wait(lambda: bench.done, 0.2)
    assert shown.frame == before


def test_a_cell_that_runs_again_closes_its_panel_and_no_other(bench, monkeypatch):
    made = Panels()
    running = iter([("a", 1), ("b", 2), ("a", 3), ("", 0), ("", 0)])
    monkeypatch.setattr(live, "running_cell", lambda: next(running))
    a, b, again, *outside = [made.watch(bench) for _ in range(5)]
    assert a.comm is None
    assert all(panel.comm is not None for panel in (b, again, *outside))
    made.end()
    assert all(panel.ended for panel in (b, again, *outside))


def test_a_recording_is_played_without_a_cluster():
    actions = [Action(10.4, "kill", 2)]
    panel = replay([after_a_kill(12.4), state(10.0), state(10.5)], actions)
    assert panel.times == [0.0, 0.5, 2.4]
    assert panel.marks == [[0.4, "you killed broker 2"]]
    assert not panel.frame["buttons"]
    assert [len(told(panel)), panel.frame["brokers"][1]["state"]] == [1, "up"]
    panel.position = 1
    assert told(panel)[-1] == "you killed broker 2"
    panel.position = 2
    assert panel.frame["brokers"][1]["note"] == "killed by you 2.0 s ago"
    assert "at most 2.0 s after the kill" in told(panel)[-1]
    panel.position = 0
    assert len(told(panel)) == 1
    panel.opened = {"failsafe": False}
    assert panel.frame["topics"][0]["rows"] == []


def test_an_empty_recording_cannot_be_played():
    with pytest.raises(LabError, match="nothing to play"):
        replay([])
