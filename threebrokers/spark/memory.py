"""A function as a new process would have it: what it has kept in memory meanwhile is not there."""

import functools
import io
import pickle
from collections import Counter, OrderedDict, defaultdict, deque
from types import CellType, FunctionType, MethodType
from typing import Any

from pyspark.cloudpickle import Pickler

# What is copied, with all that is in it. Brokers, modules, files are the same for a new process.
KEPT = (
    type(None), bool, int, float, complex, str, bytes, bytearray, tuple, list, dict, set, frozenset,
    deque, Counter, OrderedDict, defaultdict, CellType, MethodType, functools.partial,
)  # fmt: skip
NOTEBOOK = "__main__"


class Memory:
    """What a function of a notebook can reach and change, as it is now; `again` has it so once more.

    A function that cannot be copied keeps what it has.
    """

    def __init__(self, function: Any) -> None:
        self._function = function
        self._others: list[object] = []
        written = io.BytesIO()
        try:
            _Writer(written, self._others).dump(function)  # type: ignore[no-untyped-call]
        except (pickle.PicklingError, TypeError, AttributeError, RecursionError):
            written = io.BytesIO()
        self._copy = written.getvalue()

    def again(self) -> Any:
        """Return the function as it was when this memory was made, with the values of that time."""
        return _Reader(self._copy, self._others).load() if self._copy else self._function

    def changed(self) -> list[str]:
        """Return the names of the values that are others now than those in `again`, in order."""
        now, then = _names(self._function), _names(self.again())
        return sorted(
            name for name, value in then.items() if not (name[:2] == "__" or _same(now.get(name), value))
        )


class _Writer(Pickler):
    def __init__(self, file: io.BytesIO, others: list[object]) -> None:
        super().__init__(file)  # type: ignore[no-untyped-call]
        self._others = others

    def persistent_id(self, thing: object) -> int | None:
        kind = type(thing)
        named = thing if kind is FunctionType or isinstance(thing, type) else kind
        if kind in KEPT or getattr(named, "__module__", "") == NOTEBOOK:
            return None
        self._others.append(thing)
        return len(self._others) - 1


class _Reader(pickle.Unpickler):
    """Reads what this process has just written itself; nothing comes from a file or another program."""

    def __init__(self, copy: bytes, others: list[object]) -> None:
        super().__init__(io.BytesIO(copy))
        self._others = others

    def persistent_load(self, place: int) -> object:
        return self._others[place]


def _names(function: Any) -> dict[str, object]:
    """Return the values that are kept for a function, by the names that its author knows."""
    found = dict(vars(function)) if hasattr(function, "__dict__") else {}
    inner = getattr(function, "__func__", function)
    code = getattr(inner, "__code__", None)
    if code is None:
        return found
    found |= inner.__globals__ | (inner.__kwdefaults__ or {})
    given = inner.__defaults__ or ()
    first = code.co_argcount - len(given)
    found |= dict(zip(code.co_varnames[first : code.co_argcount], given, strict=True))
    for name, cell in zip(code.co_freevars, inner.__closure__ or (), strict=True):
        found[name] = cell.cell_contents
    return found


def _same(now: object, then: object) -> bool:
    if type(then) not in KEPT or type(then) in (MethodType, CellType, functools.partial):
        return True  # it was not copied, or cannot be compared
    try:
        return bool(now == then)
    except (TypeError, ValueError):  # a list of tables
        return False
