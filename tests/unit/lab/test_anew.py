"""An exercise's cell as it would run in a new process: nothing remembered, another hash(), nothing sent."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from threebrokers import cells
from threebrokers.lab import anew, attempt
from threebrokers.lab.attempt import judging

Define = Callable[[str], Callable[..., Any] | None]


@pytest.fixture
def define(ipython: InteractiveShell, monkeypatch: pytest.MonkeyPatch, tmp_path) -> Iterator[Define]:
    """Run the cell of exercise 9.1, call its `place` once, and return what `place` is in a new process."""
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))
    shell = ipython
    for module in (cells, attempt, anew):
        monkeypatch.setattr(module, "shell", lambda: shell)
    cells._history.cache_clear()
    cells.history()
    shell.user_ns["answer"] = found = []

    def judge() -> None:
        with judging("9.1", "three"):
            found.append(anew.defined_anew("place"))

    shell.user_ns["judge"] = judge

    def send(source: str) -> Callable[..., Any] | None:
        shell.run_cell(source, store_history=True, cell_id="exercise-9-1")
        shell.run_cell("judge()", store_history=True, cell_id="check-9-1")
        return found.pop() if found else None

    yield send
    cells._history.cache_clear()


def test_what_a_function_remembers_is_gone(define: Define) -> None:
    source = "seen = {}\ndef place(s):\n    return seen.setdefault(s, len(seen))\nplace('A')\nplace('B')"
    place = define(source)
    assert place is not None
    assert place("C") == 2  # the cell's own calls are made again
    place = define("seen = {}\ndef place(s):\n    return seen.setdefault(s, len(seen))\n")
    assert place is not None
    assert place("B") == 0


def test_hash_of_a_text_is_another_one_and_of_a_number_is_not(define: Define) -> None:
    place = define("def place(s):\n    return hash(s)")
    assert place is not None
    assert place("IBM") != hash("IBM")
    assert place(("IBM", 1)) != hash(("IBM", 1))
    assert place(7) == hash(7)
    assert place((7, 8)) == hash((7, 8))


def test_a_table_that_is_built_by_statements_is_there(define: Define) -> None:
    place = define("table = {}\nfor n, s in enumerate('ABC'):\n    table[s] = n\nplace = table.get")
    assert place is not None
    assert place("C") == 2


def test_nothing_is_sent_or_printed_a_second_time(define: Define, capsys: pytest.CaptureFixture[str]) -> None:
    assert define("place = 1") is None
    define("from confluent_kafka import Producer\nsender = Producer({'log_level': 0})\n")
    place = define("def place(s):\n    return 1\n\nprint('once')\nplace.left = sender.flush(0)")
    assert capsys.readouterr().out == "once\n"
    assert place is not None
    assert not hasattr(place, "left")


def test_outside_a_notebook_nobody_knows() -> None:
    assert anew.defined_anew("place") is None
