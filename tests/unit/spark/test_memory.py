"""A sink's memory does not survive its process: what a new one would have is what was there at first."""

import threading
from typing import Any

import numpy as np
import pytest

from threebrokers.spark.memory import Memory

NOTEBOOK = {
    "a set in the notebook": (
        "seen = set()\ndef save(n):\n    seen.add(n)\n    return sorted(seen)",
        ["seen"],
    ),
    "a number that is bound anew": (
        "last = None\ndef save(n):\n    global last\n    last = [*(last or []), n]\n    return last",
        ["last"],
    ),
    "a default": ("def save(n, seen=[]):\n    seen.append(n)\n    return list(seen)", ["seen"]),
    "an attribute of the function": (
        "def save(n):\n    save.seen = [*getattr(save, 'seen', []), n]\n    return save.seen",
        [],  # the name is there afterwards only
    ),
    "a closure": (
        "def make():\n    seen = []\n    def save(n):\n        seen.append(n)\n        return list(seen)\n"
        "    return save\nsave = make()",
        ["seen"],
    ),
    "a helper's list": (
        "seen = []\ndef note(n):\n    seen.append(n)\ndef save(n):\n    note(n)\n    return list(seen)",
        ["seen"],
    ),
    "an object": (
        "class Sink:\n    def __init__(self):\n        self.seen = []\n    def __call__(self, n):\n"
        "        self.seen.append(n)\n        return list(self.seen)\nsave = Sink()",
        ["seen"],
    ),
    "a class": (
        "class Seen:\n    all = []\ndef save(n):\n    Seen.all.append(n)\n    return list(Seen.all)",
        [],
    ),
}


def notebook(text: str, **more: object) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "__main__", **more}
    exec(text, names)  # noqa: S102  # a cell of a notebook
    return names


@pytest.mark.parametrize("name", NOTEBOOK)
def test_what_a_sink_kept_is_gone(name):
    text, changed = NOTEBOOK[name]
    save = notebook(text)["save"]
    memory = Memory(save)
    assert memory.changed() == []
    assert [save(1), save(2)] == [[1], [1, 2]]
    assert memory.again()(3) == [3]
    assert memory.again()(4) == [4]
    assert memory.changed() == changed


def test_what_other_machines_and_files_keep_is_the_same_for_a_new_process():
    class Database:
        """Cannot be copied, as a connection."""

        def __init__(self) -> None:
            self.rows: list[int] = []
            self.lock = threading.Lock()

    database = Database()
    text = "import json\ndef save(n):\n    db.rows.append(json.loads(str(n)))\n    return list(db.rows)"
    save = notebook(text, db=database)["save"]
    memory = Memory(save)
    save(1)
    assert memory.again()(2) == [1, 2] == database.rows
    assert memory.changed() == []


def test_a_function_of_a_library_is_itself():
    assert Memory(len).again() is len
    assert Memory(threading.Lock).changed() == []


def test_what_cannot_be_copied_is_as_it_is():
    text = (
        "class Sink:\n    def __reduce__(self):\n        raise TypeError\n"
        "    def __call__(self, n):\n        return n\nsave = Sink()"
    )
    save = notebook(text)["save"]
    assert Memory(save).again() is save


def test_tables_that_cannot_be_compared_have_changed():
    save = notebook("tables = [1]\ndef save(n):\n    tables[0] = n", __builtins__={})["save"]
    memory = Memory(save)
    save(np.array([1, 2]))
    assert memory.changed() == ["tables"]
