"""Waits: bounded, with a reason, and the same plain text in every run."""

import pytest

from threebrokers.errors import BenchError
from threebrokers.waiting import _Notice, poll, wait_until


def test_the_first_true_value_is_returned():
    values = iter([None, 0, [], "here"])
    assert wait_until(lambda: next(values), what="it", within=10, otherwise="-") == "here"


def test_what_does_not_come_is_told_with_the_next_step():
    with pytest.raises(BenchError, match=r"Waited 0.2 s for the moon, and it did not come: look up\."):
        wait_until(lambda: None, what="the moon", within=0.2, otherwise="look up.")


def test_a_look_happens_even_when_there_is_no_time():
    assert list(poll(lambda: 1, 0)) == [1]


def test_the_notice_has_a_constant_text():
    notice = _Notice(value="Waiting for 17 things")
    assert repr(notice) == ""
    notice.close()
