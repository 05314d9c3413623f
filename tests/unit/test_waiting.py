"""Waits: bounded, with a reason, and the same plain text in every run."""

import re
import threading
from types import SimpleNamespace

import pytest

from threebrokers import waiting
from threebrokers.errors import LabError
from threebrokers.grading.kernel import Kernel
from threebrokers.waiting import _Notice, poll, quiet_wait, wait_until

WAITS = """
from threebrokers.waiting import shown
for n in range(3):
    with shown("it", n):
        pass
with shown("what has no bound"):
    pass
"""


def test_the_first_true_value_is_returned():
    values = iter([None, 0, [], "here"])
    assert wait_until(lambda: next(values), what="it", within=10, otherwise="-") == "here"


def test_what_does_not_come_is_told_with_the_next_step():
    with pytest.raises(LabError, match=r"Waited 0.2 s for the moon, and it did not come: look up\."):
        wait_until(lambda: None, what="the moon", within=0.2, otherwise="look up.")


def test_a_look_happens_even_when_there_is_no_time():
    assert list(poll(lambda: 1, 0)) == [1]


def test_the_notice_has_a_constant_text():
    assert repr(_Notice("17 things")) == repr(_Notice("")) == ""


def test_the_notice_is_safe_and_gone_when_done():
    assert _Notice("<b>17</b>")._repr_html_() == "<i>Waiting for &lt;b&gt;17&lt;/b&gt; …</i>"
    assert _Notice("")._repr_html_() == ""


def test_a_wait_says_how_long_it_lasts_already(monkeypatch):
    told, later = [], threading.Event()

    class Handle:
        def update(self, notice):
            told.append(notice._repr_html_())
            if len(told) == 4:
                later.set()

    line = waiting._Line(Handle())
    monkeypatch.setattr(waiting, "TICK_SECONDS", 0.01)
    monkeypatch.setattr(waiting, "_line_here", lambda: line)
    with waiting.shown("the moon", 60):
        assert later.wait(10)
    assert told[0] == "<i>Waiting for the moon (at most 60 s) …</i>"
    for text in told[1:3]:
        assert re.fullmatch(r"<i>Waiting for the moon: \d+ s of at most 60 s …</i>", text)
    assert told[-1] == ""


def test_a_wait_inside_another_one_is_the_one_that_is_shown(monkeypatch):
    told = []
    line = waiting._Line(SimpleNamespace(update=lambda notice: told.append(notice._repr_html_())))
    monkeypatch.setattr(waiting, "TICK_SECONDS", 0.01)
    monkeypatch.setattr(waiting, "_line_here", lambda: line)
    with waiting.shown("the sun"), waiting.shown("the moon"):
        assert quiet_wait(lambda: sum("moon" in text for text in told) > 5, 10)
    assert "sun" in told[0]
    inner = next(place for place, text in enumerate(told) if "moon" in text)
    assert {"moon" in text for text in told[inner : inner + 6]} == {True}


@pytest.mark.programs
def test_all_waits_of_a_cell_share_one_line_that_is_empty_first_and_last(tmp_path):
    told = []
    with Kernel(tmp_path) as kernel:
        for _ in range(2):
            kernel.client.execute_interactive(WAITS, output_hook=told.append)
    shown = [(m["msg_type"], m["content"]["data"]["text/html"]) for m in told if "data" in m["content"]]
    waits = [text for n in range(3) for text in (f"<i>Waiting for it (at most {n} s) …</i>", "")]
    waits += ["<i>Waiting for what has no bound …</i>", ""]
    assert shown == [("display_data", ""), *(("update_display_data", text) for text in waits)] * 2
