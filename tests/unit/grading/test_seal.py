"""Answers travel as plain values, and what a notebook changed in the course's code is seen."""

import collections
from typing import Any

import numpy as np
import pandas as pd
import pytest

from threebrokers.grading import seal


@pytest.mark.parametrize(
    "value",
    [
        None, "text", 3, True, 0.1, b"\x00", [1, [2]], (1, "a"), {1, 2}, {1: "a", (2, 3): [None]},
        {"dict": 1}, float("inf"),
    ],
)  # fmt: skip
def test_a_plain_value_comes_back_as_it_was(value: object) -> None:
    assert seal.decoded(seal.encoded(value)) == value


def test_numbers_of_numpy_and_columns_of_pandas_are_plain() -> None:
    assert seal.decoded(seal.encoded(np.int64(3))) == 3
    assert seal.decoded(seal.encoded(pd.Series([1, 2]))) == [1, 2]
    assert seal.decoded(seal.encoded(collections.Counter("aab"))) == {"a": 2, "b": 1}


class Text(str):
    """What looks like text and answers as it likes."""

    __slots__ = ()


def test_an_object_or_a_class_of_their_own_is_no_plain_value() -> None:
    for value in (object(), Text("a"), [object()], print):
        with pytest.raises(TypeError):
            seal.encoded(value)


def test_a_value_without_an_end_is_refused() -> None:
    held: list[Any] = []
    held.append(held)
    with pytest.raises(TypeError):
        seal.encoded(held)


BEFORE = {"threebrokers.lab.exercise:": "1 module", "threebrokers.lab.exercise:Check": "2 a course"}


@pytest.mark.parametrize(
    ("now", "found"),
    [
        ({}, []),
        ({"threebrokers.lab.exercise:Check": "3 a course"}, ["threebrokers.lab.exercise:Check"]),
        ({"threebrokers.lab.exercise:isinstance": "4  other"}, ["threebrokers.lab.exercise:isinstance"]),
        ({"threebrokers.lab.exercise:later": "4  course"}, []),
        ({"threebrokers.recorder.page:show": "5 b other"}, []),
        ({"threebrokers.recorder.page:show": "5 b cell"}, ["threebrokers.recorder.page:show"]),
        ({"lab.check:greetings_sent": "6 other"}, ["lab.check:greetings_sent"]),
        ({"shell:run_cell": "7 cell"}, ["shell:run_cell"]),
    ],
)
def test_what_was_replaced_or_put_in_is_named(now: dict[str, str], found: list[str]) -> None:
    assert seal.changed(BEFORE, BEFORE | now) == found


def test_what_was_taken_away_is_named() -> None:
    assert seal.changed(BEFORE, {}) == sorted(BEFORE)
