"""Keys lead through a demo, and what its acts tell is shown; nothing here needs a broker."""

import threading

import pytest

from tests.recordings import a_kill_and_a_pause
from threebrokers.demo.lines import doing, fact, truth
from threebrokers.demo.performance import Performance
from threebrokers.demo.script import Script, Step
from threebrokers.errors import LabError

RIGHT = "0.5 s · 2 s · 4 s · until the network is mended"
STEPS = [
    Step("Calm", "It is calm.", "Wait."),
    Step("Vote", "Vote now.", "Hands.", vote="4.a"),
    Step("Kill", "It is killed.", "Count.", act="kill", press="kill it"),
    Step("Drawn", "The line.", "Look.", timeline="kill"),
    Step("So", "So it was.", "Ask.", reveal="4.a"),
]


class Performer:
    """Tells three lines, and waits between the first two until it is let go."""

    recorded = False

    def __init__(self, fault=None):
        self.go_on, self.begun, self.rested, self.done, self.fault = (
            threading.Event(),
            threading.Event(),
            0,
            [],
            fault,
        )

    def perform(self, act, ended):
        yield doing("Killing it.")
        self.begun.set()
        assert self.go_on.wait(20)
        if self.fault:
            raise self.fault
        if ended():
            return
        yield fact("silence", 2.04)
        yield truth("4.a", RIGHT)
        self.done.append(act)

    def recording(self, act):
        return a_kill_and_a_pause() if act in self.done else None

    def rest(self):
        self.rested += 1


@pytest.fixture
def performer():
    return Performer()


@pytest.fixture
def demo(performer):
    return Performance("04", Script("Two seconds", ["sensor"], STEPS), performer)


def press(demo, *keys):
    for key in keys:
        demo.press(key)


def test_at_rest_the_key_begins(demo):
    scene = demo.scene()
    assert (scene["position"], scene["steps"], scene["next"]) == (0, 5, "begin")
    assert "heading" not in scene


def test_an_act_is_shown_before_it_is_done(demo, performer):
    press(demo, "next", "next", "next")
    scene = demo.scene()
    assert (scene["heading"], scene["state"], scene["next"]) == ("Kill", "ready", "kill it")
    assert not performer.begun.is_set()


def test_while_an_act_goes_on_the_key_does_nothing(demo, performer):
    press(demo, "next", "next", "next", "next")
    assert performer.begun.wait(20)
    press(demo, "next", "next")
    scene = demo.scene()
    assert (scene["position"], scene["state"], scene["next"]) == (3, "running", "")
    assert [line["kind"] for line in scene["lines"]] == ["doing"]
    performer.go_on.set()
    demo.wait(20)
    scene = demo.scene()
    assert scene["state"] == "done"
    assert scene["lines"][-1] == {"kind": "fact", "words": "silence", "value": "2.0 s"}
    assert scene["next"] == "next step"


def test_the_answer_is_shown_when_it_is_revealed_and_not_before(demo, performer):
    performer.go_on.set()
    press(demo, "next", "next")
    asked = demo.scene()["question"]
    assert not asked["revealed"]
    assert not any(answer["true"] for answer in asked["answers"])
    press(demo, "next", "next")
    demo.wait(20)
    press(demo, "next")
    assert "<img" in demo.scene()["timeline"]
    press(demo, "next")
    told = demo.scene()["question"]
    assert told["truth"] == RIGHT
    assert "client's own patience" in told["why"]
    press(demo, "back", "back", "back")
    assert not demo.scene()["question"]["revealed"]
    assert not any(answer["true"] for answer in demo.scene()["question"]["answers"])


def test_looking_back_does_nothing_again(demo, performer):
    performer.go_on.set()
    press(demo, "next", "next", "next", "next")
    demo.wait(20)
    press(demo, "back", "next")
    assert demo.scene()["state"] == "done"
    assert performer.done == ["kill"]
    press(demo, "next", "next", "next")
    assert demo.scene()["next"] == ""
    assert demo.scene()["position"] == 5


def test_rest_ends_an_act_brings_all_back_and_forgets(demo, performer):
    press(demo, "next", "next", "next", "next")
    assert performer.begun.wait(20)
    press(demo, "rest")
    assert "all brokers come back" in demo.scene()["busy"]
    press(demo, "next")
    performer.go_on.set()
    demo.wait(20)
    scene = demo.scene()
    assert (scene["position"], scene["busy"], performer.rested, performer.done) == (0, "", 1, [])


def test_a_fault_is_a_sentence_and_the_demo_goes_on(performer, demo):
    performer.fault = LabError("Waited 20 s for a new leader, and it did not come", "try again")
    performer.go_on.set()
    press(demo, "next", "next", "next", "next")
    demo.wait(20)
    scene = demo.scene()
    assert scene["state"] == "failed"
    told = "Waited 20 s for a new leader, and it did not come: press B, and begin again."
    assert scene["lines"][-1]["words"] == told
    press(demo, "next")
    assert demo.scene()["missing"]


class Failing:
    """Its first act does not come to what it waits for, and its second needs what the first makes."""

    recorded = False

    def __init__(self, fault):
        self.fault, self.kept = fault, {}

    def perform(self, act, ended):
        yield doing("Waiting.")
        if act == "begin":
            raise self.fault
        yield fact("sensor", self.kept["sensor"])

    def recording(self, act):
        return None

    def rest(self):
        pass


LAB = "Waited 30 s for 30 readings, and it did not come"
NEXT = "press B, and begin again."


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (LabError(LAB, "run the cell again, or see with `threebrokers status`."), f"{LAB}: {NEXT}"),
        (
            LabError("There is no topic 'a': run the cell that makes it again."),
            f"There is no topic 'a'. P{NEXT[1:]}",
        ),
        (LabError("It did not happen; run the cell again."), f"It did not happen. P{NEXT[1:]}"),
        (OSError("broken"), f"An error that no act foresees (OSError: broken): {NEXT}"),
    ],
)
def test_after_a_failed_act_all_that_is_left_is_to_begin_again(fault, told):
    steps = [Step(name, "It is.", "Say.", act=name, press="do it") for name in ("begin", "kill")]
    demo = Performance("04", Script("Two seconds", ["sensor"], steps), Failing(fault))
    press(demo, "next", "next")
    demo.wait(20)
    scene = demo.scene()
    assert (scene["state"], scene["next"], scene["again"]) == ("failed", "", True)
    assert scene["lines"][-1]["words"] == told
    press(demo, "next", "next")
    demo.wait(20)
    scene = demo.scene()
    assert (scene["heading"], scene["state"], scene["next"], scene["again"]) == ("kill", "failed", "", True)
    assert [line["words"] for line in scene["lines"]] == [f"An earlier act failed: {NEXT}"]
    press(demo, "back")
    assert (demo.scene()["next"], demo.scene()["again"]) == ("next step", False)
    press(demo, "rest")
    demo.wait(20)
    assert (demo.scene()["next"], demo.scene()["again"]) == ("begin", False)


def test_a_key_that_is_none_does_nothing(demo):
    press(demo, "kill", "")
    assert demo.scene()["position"] == 0


def test_after_the_end_no_key_does_anything(demo):
    demo.end()
    press(demo, "next")
    assert demo.scene()["position"] == 0
    assert demo.scene()["next"] == ""


def test_a_scene_that_is_told_late_never_follows_a_newer_one(demo: Performance, performer: Performer) -> None:
    begun, newer, heard = threading.Event(), threading.Event(), list[dict]()
    performer.rest = lambda: begun.wait(20)

    def hear(scene: dict) -> None:
        if scene["busy"]:
            begun.set()
            newer.wait(0.5)  # in which a newer one would come by
        heard.append(scene)
        newer.set()

    demo.listen(hear)
    newer.clear()
    demo.press("next")
    newer.clear()
    demo.press("rest")
    demo.wait(20)
    assert [scene["position"] for scene in heard] == [0, 1, 1, 0]
