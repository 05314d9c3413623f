"""Values of learners: of the right kind, whoever made them, or named in a sentence."""

import functools
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future
from decimal import Decimal
from types import FunctionType
from typing import Annotated, Any

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import DataFrame
from pyspark.sql.connect.streaming.query import StreamingQuery as ConnectedQuery
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from threebrokers.lab.outcomes import NotYet
from threebrokers.lab.values import fitted
from threebrokers.recorder import Recording
from threebrokers.recorder.timeline import TimeLine


class Reader:
    def __call__(self) -> None:
        return None

    def method(self) -> None:
        return None


@pytest.mark.parametrize(
    ("value", "hint", "right"),
    [
        (np.int64(9), int, 9),
        (np.array(9), int, 9),
        (pd.Series([True, False, True]).sum(), int, 2),
        (9.0, int, 9),
        (np.float64(9), int, 9),
        (np.float32(0.5), float, 0.5),
        (3, float, 3.0),
        (Decimal("296.00"), int, 296),
        (np.bool_(True), bool, True),
        (np.str_("x"), str, "x"),
        ((1, 2), list[int], [1, 2]),
        ({1: "a"}.keys(), list[int], [1]),
        (deque([1]), list, [1]),
        (range(2), list[int], [0, 1]),
        (np.array([1, 2]), list[int], [1, 2]),
        (pd.Series([1, 2]), list[int], [1, 2]),
        ([np.int64(1)], list[int], [1]),
        (["a", None], list[Any], ["a", None]),
        (Counter("aab"), dict[str, int], {"a": 2, "b": 1}),
        (pd.Series({"a": 1}), dict[str, int], {"a": 1}),
        ({"a": np.float64(1)}, dict[str, float], {"a": 1.0}),
        (None, int | None, None),
        (np.int32(1), int | None, 1),
    ],
)
def test_a_right_value_is_right_whoever_made_it(value: object, hint: Any, right: object) -> None:
    found = fitted("n", value, hint)
    assert found == right
    assert type(found) is type(right)


@pytest.mark.parametrize("hint", [FunctionType, Callable, Callable[..., Any]])
@pytest.mark.parametrize(
    "value", [print, functools.partial(print), Reader(), Reader().method, lambda: None, Reader]
)
def test_whatever_can_be_called_is_a_function(value: object, hint: Any) -> None:
    assert fitted("read_new", value, hint) is value


@pytest.mark.parametrize(
    ("value", "hint", "said"),
    [
        ("9", int, "`n` is '9' (str); it should be a whole number, without quotes"),
        ("nine", int, "`n` is 'nine' (str); it should be a whole number. "),
        (0.5, int, "`n` is 0.5 (float); it should be a whole number"),
        (float("nan"), int, "`n` is nan (float); it should be a whole number"),
        (np.float64(0.5), int, "`n` is 0.5 (float64); it should be a whole number"),
        (Decimal("0.5"), int, "`n` is Decimal('0.5') (Decimal); it should be a whole number"),
        (True, int, "`n` is True (bool); it should be a whole number"),
        (np.bool_(True), int, "`n` is True (bool); it should be a whole number"),
        (1, bool, "`n` is 1 (int); it should be True or False"),
        (b"x", str, "`n` is b'x' (bytes); it should be text, which .decode() makes of bytes"),
        (["1", "2"], list[int], "`n[0]` is '1' (str); it should be a whole number, without quotes"),
        ({"a": "1"}, dict[str, float], "`n['a']` is '1' (str); it should be a number, without quotes"),
        ({b"a": 1}, dict[str, int], "`a key of n` is b'a' (bytes); it should be text"),
        (Reader, int, "`n` is the class Reader; it should be a whole number"),
        ("abc", list, "`n` is 'abc' (str); it should be a list"),
        ((i for i in "ab"), list, "which gives each item only once; it should be a list"),
        (3, Callable, "`n` is 3 (int); it should be a function"),
        (Future(), dict, "the promise of an answer; it should be a dictionary; .result() of a future"),
        (
            {"t": Future()},
            str,
            "`n` is a dictionary of futures, as an admin call returns it; it should be text",
        ),
        ({"t": Future()}, dict, "dictionary of futures"),
        (
            pd.DataFrame({"a": [1]}),
            DataFrame,
            "`n` is a DataFrame of pandas; it should be a DataFrame of Spark",
        ),
        (None, DataFrame, "`n` is None (nothing was returned or kept); it should be a DataFrame of Spark"),
        (None, DataFrame, "a DataFrame of Spark; show(…) and save(…) return None: each in a line of its own"),
        (None, StreamingQuery, "a StreamingQuery of Spark; awaitTermination(), watch_query(…) and a batch's"),
        (True, StreamingQuery, "of Spark; awaitTermination(…) returns only whether it has ended"),
        (DataStreamWriter.__new__(DataStreamWriter), ConnectedQuery, "of Spark, which its start() returns"),
        (TimeLine("t", (), (), None), Recording, "a Recording; show() returns only its picture"),  # type: ignore[arg-type]
        (None, pd.DataFrame, "it should be a DataFrame of pandas. Look"),
        (list(range(10_000)), int, "`n` is [0, 1, 2, 3, 4, 5, ...] (list)"),
    ],
)
def test_a_value_of_another_kind_is_named(value: object, hint: Any, said: str) -> None:
    with pytest.raises(NotYet) as seen:
        fitted("n", value, hint)
    assert said in str(seen.value)
    assert "\n" not in str(seen.value)


def test_a_kind_can_have_words_of_its_own() -> None:
    topic = Annotated[str, "the name of a topic"]
    assert fitted("orders", "orders", topic) == "orders"
    with pytest.raises(NotYet) as caught:
        fitted("orders", {"orders": Future[None]()}, topic)
    assert "a dictionary of futures, as an admin call returns it; it should be the name of a topic." in str(
        caught.value
    )


def test_anything_fits_where_anything_is_asked() -> None:
    assert fitted("n", np.int64(3), object) is not None
    assert fitted("n", ..., Any) is ...
