"""Whether a learner's value is of the kind that a check takes, whoever made it: numpy, pandas, Spark."""

import collections.abc
import numbers
import reprlib
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from decimal import Decimal
from functools import partial
from typing import Any

from threebrokers.lab.outcomes import NotYet

CELL = "the cell of the exercise, above"
KINDS = {
    str: "text",
    bytes: "bytes",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    list: "a list",
    tuple: "a tuple",
    dict: "a dictionary",
    collections.abc.Callable: "a function",
    types.NoneType: "None",
}
SCALARS = (str, bytes, int, float, bool)
# Two libraries have a DataFrame, and their names alone do not tell them apart.
LIBRARIES = {"pyspark": "Spark", "pandas": "pandas", "numpy": "numpy", "polars": "polars"}
# Why a learner has something else: what is wanted, the kind of the value, and which call returned it.
KEPT = {
    ("a DataFrame of Spark", "DataFrame"): ", which toPandas() returns: leave it out",
    ("a whole number", "Row"): ": its first value is [0]",
    ("a DataFrame of Spark", "NoneType"): "; show(…) and save(…) return None: each in a line of its own",
    (
        "a StreamingQuery of Spark",
        "NoneType",
    ): "; awaitTermination(), watch_query(…) and a batch's save() return None",
    ("a StreamingQuery of Spark", "bool"): "; awaitTermination(…) returns only whether it has ended",
    ("a StreamingQuery of Spark", "DataStreamWriter"): ", which its start() returns",
    ("a Recording", "TimeLine"): "; show() returns only its picture: in a line of its own",
}


class _OtherKindError(Exception):
    """The value is of another kind."""


def fitted(name: str, value: Any, hint: Any) -> Any:
    """Return the value as the annotation `hint` wants it: np.int64(3) as 3, a tuple as a list.

    Raises NotYet, which calls it `name`, if it is of another kind. Of an `Annotated[str, "a topic's name"]`
    it says these words.
    """
    words = ""
    if typing.get_origin(hint) is typing.Annotated:
        hint, words = typing.get_args(hint)
    parts = _parts(hint)
    if object in parts or Any in parts:
        return value
    plain = _plain(value)
    if isinstance(plain, Iterator) and {_origin(part) for part in parts} >= {dict, list}:
        raise _once(
            name, plain, "a dictionary or a list", "dict(…) around it if it gives pairs; else list(…)"
        )
    for part in parts:
        try:
            return _as(name, plain, part)
        except _OtherKindError:
            continue
    kinds = words or " or ".join(_kind(_origin(part)) for part in parts)
    # What a future or bytes can be made into is some text, and not the one that the words ask for.
    advice = "" if words and str in parts else _advice(plain, parts)
    raise NotYet(f"`{name}` is {told(value)}", f"it should be {kinds}{advice}", CELL)


def told(value: object) -> str:
    """Say what a value is, in a few words."""
    if value is None:
        return "None (nothing was returned or kept)"
    if isinstance(value, Future):
        return "a future, which is the promise of an answer"
    if isinstance(value, Mapping) and _futures(value.values()):
        return "a dictionary of futures, as an admin call returns it"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    kind = type(value)
    if library := _library(kind):
        if getattr(value, "shape", None) == ():
            return f"{_plain(value)!r} ({kind.__name__})"
        return f"a {kind.__name__} of {library}"
    return f"{' '.join(_SHORT.repr(value).split())} ({kind.__name__})"


def _parts(hint: Any) -> tuple[Any, ...]:
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        return tuple(part for each in typing.get_args(hint) for part in _parts(each))
    return (types.NoneType,) if hint is None else (hint,)


def _origin(part: Any) -> Any:
    origin = typing.get_origin(part) or part
    return collections.abc.Callable if origin is types.FunctionType else origin


def _plain(value: Any) -> Any:
    """Return Python's own value for one number, truth or text of numpy."""
    if type(value).__module__.partition(".")[0] == "numpy" and getattr(value, "shape", None) == ():
        return value.item()
    return value


def _as(name: str, value: Any, part: Any) -> Any:
    """Return the value as `part` wants it. Raises _OtherKindError, or NotYet for what it holds."""
    origin, arguments = _origin(part), typing.get_args(part)
    if origin in _MAKERS:
        return _MAKERS[origin](value)
    if origin is list:
        return _listed(name, value, arguments)
    if origin is dict:
        return _mapped(name, value, arguments)
    if origin is tuple and type(value) is list:
        return tuple(value)
    if not isinstance(value, origin) and not _is_twin(type(value), origin):
        raise _OtherKindError
    return value


def _is_twin(kind: type, wanted: type) -> bool:
    # Spark has two classes of a name, one of them for Spark Connect, and neither is the other's parent.
    return (kind.__name__, _library(kind)) == (wanted.__name__, "Spark")


def _number(value: Any) -> float:
    # True is an int to Python, and no number to anybody else. Spark adds up decimals as Decimal.
    if type(value) is bool or not isinstance(value, numbers.Real | Decimal):
        raise _OtherKindError
    return float(value)


def _whole(value: Any) -> int:
    # 9.0 is what pandas makes of a column's 9.
    if not _number(value).is_integer():
        raise _OtherKindError
    return int(value)


def _called(value: Any) -> Callable[..., Any]:
    if callable(value):
        return value  # type: ignore[no-any-return]
    raise _OtherKindError


def _of(kind: type, value: Any) -> Any:
    if isinstance(value, kind):
        return value
    raise _OtherKindError


_MAKERS: dict[Any, Callable[[Any], Any]] = {
    int: _whole,
    float: _number,
    collections.abc.Callable: _called,
    **{kind: partial(_of, kind) for kind in (bool, str, bytes)},
}


def _listed(name: str, value: Any, arguments: tuple[Any, ...]) -> list[Any]:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise _OtherKindError
    if isinstance(value, Iterator):
        raise _once(name, value, "a list", "list(…) around it")
    column: Any = getattr(value, "tolist", None)  # of numpy or pandas
    if not isinstance(value, collections.abc.Sized) or (_library(type(value)) and column is None):
        raise _OtherKindError
    items = list(value) if column is None else column()
    wanted = arguments[0] if arguments else Any
    if wanted not in SCALARS or not isinstance(items, list):
        return items
    return [fitted(f"{name}[{place}]", item, wanted) for place, item in enumerate(items)]


def _once(name: str, value: object, kind: str, look_at: str) -> NotYet:
    """Say that a value is used up when it was read, and what it should be in its place."""
    return NotYet(
        f"`{name}` is {told(value)}, which gives each item only once",
        f"it should be {kind}, so that it can be read again",
        look_at,
    )


def _mapped(name: str, value: Any, arguments: tuple[Any, ...]) -> dict[Any, Any]:
    if _library(type(value)) == "pandas" and getattr(value, "ndim", 0) == 1:
        value = value.to_dict()
    if not isinstance(value, Mapping) or _futures(value.values()):
        raise _OtherKindError
    of_key, of_value = arguments or (Any, Any)
    found = dict(value)
    if of_key in SCALARS:
        found = {fitted(f"a key of {name}", key, of_key): held for key, held in found.items()}
    if of_value in SCALARS:
        found = {key: fitted(f"{name}[{key!r}]", held, of_value) for key, held in found.items()}
    return found


def _kind(kind: Any) -> str:
    library = _library(kind)
    article = "an" if kind.__name__[0] in "AEIOU" else "a"
    return KINDS.get(kind) or f"{article} {kind.__name__}{f' of {library}' if library else ''}"


def _library(kind: Any) -> str:
    return LIBRARIES.get(str(getattr(kind, "__module__", "")).partition(".")[0], "")


def _advice(value: Any, parts: tuple[Any, ...]) -> str:
    wanted = {_origin(part) for part in parts}
    if isinstance(value, str) and wanted & {int, float} and _is_number(value):
        return ", without quotes"
    if isinstance(value, bytes) and str in wanted:
        return ", which .decode() makes of bytes"
    if isinstance(value, Future) or (isinstance(value, Mapping) and _futures(value.values())):
        return "; .result() of a future waits for the answer and returns it"
    kinds = (KEPT.get((_kind(kind), type(value).__name__), "") for kind in wanted)
    return next(filter(None, kinds), "")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _futures(values: Iterable[object]) -> bool:
    return any(isinstance(value, Future) for value in values)


class _Short(reprlib.Repr):
    """Shows at most 40 letters of a value, and of long lists only the first items."""

    def repr(self, x: object) -> str:
        text = super().repr(x)
        return text if len(text) <= 40 else f"{text[:37]}…"


_SHORT = _Short()
_SHORT.maxstring = _SHORT.maxother = 60
