"""Waits: bounded, with a reason, and the same plain text in every run."""

import pytest

from threebrokers.errors import LabError
from threebrokers.waiting import _Notice, poll, wait_until
from tools.proof.kernel import Kernel

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
