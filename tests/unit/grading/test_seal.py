"""Answers travel as plain values, and what a notebook changed in the course's code is seen."""

import builtins
import collections
import dis
import hashlib
import json
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from IPython.core.interactiveshell import InteractiveShell

from threebrokers.grading import seal
from threebrokers.lab import outcomes


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


def test_what_a_check_takes_as_a_number_or_a_list_is_plain() -> None:
    taken = [Decimal("9.5"), range(2), {1: 2}.keys(), {1: 2}.values(), collections.deque([3])]
    assert [seal.decoded(seal.encoded(value)) for value in taken] == [9.5, [0, 1], [1], [2], [3]]


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


FORGED = "forged"
LOADS = ("LOAD_GLOBAL", "LOAD_NAME")
BY_NAME = [
    "def eval(*_): return 'forged'",
    "def exec(source, names): names['result'] = lambda _: 'forged'",
    "import builtins as real\n__builtins__ = {**vars(real), 'eval': lambda *_: 'forged'}",
    "import json\njson.dumps = lambda *_: 'forged'",
    "import sys, types\nsys.modules['hashlib'] = types.SimpleNamespace(sha256=None)",
]


@pytest.fixture
def ask(ipython: InteractiveShell, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Ask the seal after a cell has run in a shell whose lab was opened; return what comes back."""
    shell = ipython
    monkeypatch.setattr(InteractiveShell, "_instance", shell)
    shell.user_ns["lab"] = SimpleNamespace(opened="x", opened_at=1.0, check=SimpleNamespace())
    # So that what a cell replaces is put back.
    monkeypatch.setattr(json, "dumps", json.dumps)
    monkeypatch.setitem(sys.modules, "hashlib", hashlib)
    source = Path(seal.__file__).read_text("utf-8")

    def told(call: str, cell: str = "") -> str:
        if cell:
            assert shell.run_cell(cell, store_history=True).success
        asked = shell.user_expressions({"seal": seal.question(source, call)})["seal"]
        return str(asked.get("data", {}).get("text/plain", ""))

    return told


def test_what_the_seal_tells_comes_back_from_a_real_shell(ask: Callable[..., str]) -> None:
    before = seal.heard(ask("opened('01')"))
    assert (before["opened"], before["checks"]) == ("x", "01")
    after = seal.heard(ask("result(['hash', 'inf'])", "hash, inf = 'a', float('inf')\n3"))
    assert (after["genuine"], after["text"]) == (False, "3")
    assert [seal.decoded(one) for one in json.loads(after["answers"])] == ["a", float("inf")]
    assert seal.changed(before["prints"], after["prints"]) == []
    assert seal.heard(ask("result(['own'])", "own = object()"))["answers"] == ""
    assert seal.changed(before["prints"], seal.heard(ask("seen()"))["prints"]) == []


def test_only_the_courses_own_class_is_genuine_and_not_one_of_its_name(ask: Callable[..., str]) -> None:
    named = (
        f"class Solved:\n    __module__, __qualname__ = {outcomes.__name__!r}, 'Solved'\n    number = '1.1'"
    )
    real = f"import {outcomes.__name__} as real\nreal.Solved('1.1', '', '')"
    for cell, genuine in ((f"{named}\nSolved()", False), (real, True)):
        told = seal.heard(ask("result([])", cell))
        assert (told["genuine"], told["number"]) == (genuine, "1.1")


@pytest.mark.parametrize("cell", BY_NAME)
def test_no_name_of_a_hand_in_stands_for_what_the_seal_uses(ask: Callable[..., str], cell: str) -> None:
    before = seal.heard(ask("opened('01')"))
    told = ask("result([])", f"{cell}\n3")
    assert FORGED not in told
    if told:
        after = seal.heard(told)
        replaced = seal.changed(before["prints"], after["prints"])
        assert after["text"] == "3"
        assert bool(replaced) == ("json" in cell or "modules" in cell)


def _forges(source: str, names: dict[str, Any]) -> None:
    names["result"] = lambda _: FORGED


@pytest.mark.parametrize(("name", "fake"), [("exec", _forges), ("repr", lambda _: FORGED), ("dict", _forges)])
def test_a_replaced_function_of_pythons_own_gives_no_proof(
    ask: Callable[..., str], monkeypatch: pytest.MonkeyPatch, name: str, fake: object
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(builtins, name, fake)
        told = ask("result([])")
    with pytest.raises(SyntaxError):
        seal.heard(told)


def test_the_seal_names_all_of_python_that_it_uses_in_a_kernel() -> None:
    code = compile(Path(seal.__file__).read_text("utf-8"), "seal", "exec")
    parts = [part for part in seal._nested(code) if part.co_name not in ("heard", "decoded", "changed")]
    words = [step for part in parts for step in dis.get_instructions(part) if step.opname in LOADS]
    used = {step.argval for step in words} & vars(builtins).keys()
    assert used - {"__name__"} <= {*seal.FUNCTIONS.split(), *seal.CLASSES.split()}
