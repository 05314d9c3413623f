"""Which questions come again: what was wrong, what was never asked, what was asked longest ago."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from threebrokers.progress import Answered
from threebrokers.quiz.review import review

QUESTION = """
["{lab}.q{count}"]
question = "?"
answers = [{{ answer = "a", why = ".", right = true }}, {{ answer = "b", why = "." }}]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for lab in range(5):
        text = "".join(QUESTION.format(lab=lab, count=count) for count in (1, 2, 3))
        (tmp_path / f"lab{lab:02}.toml").write_text(text, "utf-8")
    return tmp_path


def at(day: int, *, right: bool = True) -> Answered:
    return Answered("a", right, datetime(2026, 1, day, tzinfo=UTC))


def test_who_has_answered_nothing_is_asked_others_in_each_lab(folder):
    assert list(review("03", {}, folder)) == ["2.q1", "1.q2", "0.q3"]
    assert list(review("04", {}, folder)) == ["3.q1", "2.q2", "1.q3"]
    assert list(review("05", {}, folder)) == ["4.q1", "3.q2", "2.q3"]


def test_the_first_labs_ask_what_there_is(folder):
    assert list(review("00", {}, folder)) == []
    assert list(review("01", {}, folder)) == ["0.q1", "0.q2", "0.q3"]
    assert list(review("02", {}, folder)) == ["1.q1", "0.q2", "1.q2"]


def test_what_was_wrong_comes_first_then_what_was_never_asked_then_the_oldest(folder):
    known = {f"{lab}.q{count}": at(10 + lab) for lab in range(4) for count in (1, 2, 3)}
    assert list(review("04", known, folder)) == ["0.q1", "1.q3", "2.q2"]
    del known["3.q2"]
    assert next(iter(review("04", known, folder))) == "3.q2"
    known["1.q3"] = at(1, right=False)
    assert list(review("04", known, folder))[:2] == ["1.q3", "3.q2"]


def test_questions_of_this_lab_and_later_ones_never_come(folder):
    known = {"3.q1": at(1, right=False), "4.q1": at(1, right=False)}
    assert not {"3", "4"} & {name[0] for name in review("03", known, folder)}
