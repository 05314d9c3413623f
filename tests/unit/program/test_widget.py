"""The box of a program that runs, without a page: what its buttons do, and where it is shown."""

import signal
import threading
from typing import Any

import pytest

from threebrokers import notebook
from threebrokers.errors import LabError
from threebrokers.program.display import Box
from threebrokers.program.programs import _Place
from threebrokers.program.widget import LiveBox
from threebrokers.waiting import quiet_wait

RUNS, ENDED = Box("clock", 17, None, "tick 1\n"), Box("clock", 17, 0, "tick 1\ntick 2\n")


def test_its_state_and_the_end_of_its_output_are_shown():
    box = LiveBox(RUNS, print)
    assert (box.name, box.state, box.output, box.runs) == ("clock", RUNS.state, "tick 1", True)
    box.show(ENDED)
    assert (box.state, box.output, box.runs) == ("✓ clock: ended by itself", "tick 1\ntick 2", False)


def test_a_saved_notebook_keeps_the_box_in_words():
    data, _ = LiveBox(RUNS, print)._repr_mimebundle_()
    assert data["text/plain"] == repr(RUNS)
    assert data["text/html"] == RUNS._repr_html_()
    assert "application/vnd.jupyter.widget-view+json" in data


@pytest.mark.parametrize(("kind", "words"), [("stop", "stopping …"), ("kill", "killing …")])
def test_a_pressed_button_does_what_it_says_and_says_what_it_does(kind, words):
    pressed, go_on = [], threading.Event()

    def press(kind: str) -> None:
        pressed.append(kind)
        go_on.wait(5)

    box = LiveBox(RUNS, press)
    box._told(None, {"kind": kind}, None)
    assert quiet_wait(lambda: (box.doing, box.note) == (kind, words) and pressed == [kind], 5)
    go_on.set()
    assert quiet_wait(lambda: (box.doing, box.note) == ("", ""), 5)


def test_what_cannot_be_stopped_is_told_in_its_box():
    def press(kind: str) -> None:
        raise LabError("The program clock did not end", "kill it")

    box = LiveBox(RUNS, press)
    box._told(None, {"kind": "stop"}, None)
    assert quiet_wait(lambda: box.note == "The program clock did not end: kill it.", 5)


def test_nothing_is_done_to_one_that_has_ended_nor_what_no_button_says():
    pressed: list[str] = []
    box = LiveBox(ENDED, pressed.append)
    box._told(None, {"kind": "kill"}, None)
    box.show(RUNS)
    box._told(None, {"kind": "interrupt"}, None)
    box._told(None, {"kind": "kill"}, None)
    assert quiet_wait(lambda: pressed == ["kill"], 5)


class Handle:
    def __init__(self, first: Any) -> None:
        self.shown = [first]

    def update(self, value: Any) -> None:
        self.shown.append(value)


def test_an_ended_program_leaves_a_box_that_needs_no_kernel_and_a_restarted_one_has_its_buttons(monkeypatch):
    handles: list[Handle] = []
    monkeypatch.setattr(notebook, "shell", object)
    monkeypatch.setattr(notebook, "show", lambda value: handles.append(Handle(value)) or handles[-1])
    show = _Place(print)
    again = Box("clock", 18, None, "")
    for box in (RUNS, Box("clock", 17, None, "tick 1\ntick 2\n"), ENDED, again, Box("clock", 18, None, "!")):
        show(box)
    (handle,) = handles
    live = handle.shown[0]
    assert isinstance(live, LiveBox)
    assert handle.shown == [live, ENDED, live]
    assert (live.state, live.output, live.runs) == (again.state, "!", True)
    show(Box("clock", 18, -signal.SIGTERM, ""))
    assert "stopped on request" in repr(handle.shown[-1])
    assert not live.runs  # where the page was loaded again
