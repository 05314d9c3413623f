"""What the warden asks in a hand-in's kernel: whether the course's code there is still its own.

The text of this module is sent along with each question and runs in names of its own: so nothing of it stands
in the kernel, where a hand-in could replace it. For that reason it uses there nothing but Python's own
functions below, each of which the question looks at first, and `sys`.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # whatever is imported in the kernel could be a hand-in's
    from collections.abc import Iterator, Mapping
    from types import CodeType, FunctionType, ModuleType
    from typing import Any
else:
    CodeType, FunctionType, ModuleType = type((lambda: 0).__code__), type(lambda: 0), type(sys)

# Whose functions and classes are compared: what a check calls, and what calls a check.
GUARDED = (
    *("threebrokers", "confluent_kafka", "builtins", "IPython.core", "ipykernel", "psutil", "json"),
    *("ast", "hashlib", "types"),
)
OWN = "threebrokers"
OUTCOMES = "threebrokers.lab.outcomes"
INSIDE = (OWN, "confluent_kafka", "IPython.core.interactiveshell", "ipykernel")  # methods of classes, too
CODE = (FunctionType, type(id), type, ModuleType, property, staticmethod)
DEEPEST = 20
MODULE, COURSE, CELL, OTHER = "module", "course", "cell", "other"  # where something was written
PASSING = ("_", "__")
AS_LISTS = ("range", "dict_keys", "dict_values", "deque")  # a check takes them where it wants a list

# What of Python this module may use in the kernel.
FUNCTIONS = "__import__ callable dir eval exec getattr hasattr hash id isinstance repr sorted vars"
CLASSES = "KeyError RecursionError TypeError ValueError bool bytes dict float frozenset int list map property"
CLASSES += " set staticmethod str tuple type"
# IPython looks a name up in the hand-in's names first, and a hand-in may replace what is in `builtins`. So
# this uses no name but its own, and gets from literals what tells a true function of Python's from another:
# its name and its module as C keeps them, and of a class that it was not made by Python code (bit 9).
QUESTION = """(
lambda held, name, module, flags, title: (
    lambda names: (held["exec"]({source!r}, names), held["eval"]({call!r}, names))[1]
)({{"__name__": "seal", "__builtins__": held}})
if [1 for one in {functions!r} if name(held[one]) != one or module(held[one]) is not module(held["eval"])]
+ [1 for one in {classes!r} if title(held[one]) != one or flags(held[one]) & 512] == []
and [1 for system in [held["__import__"]("sys")] if module(system.intern) is system]
else "")(
    {{one: all[one] for all in [(lambda: 0).__builtins__] for one in {names!r}}},
    [].append.__class__.__dict__["__name__"].__get__,
    [].append.__class__.__dict__["__self__"].__get__,
    ().__class__.__class__.__dict__["__flags__"].__get__,
    ().__class__.__class__.__dict__["__name__"].__get__,
)"""


def question(source: str, call: str) -> str:
    """Return the expression that computes `call`, which may use all names of this module's `source`.

    It gives an empty text or an error where Python's own functions were replaced.
    """
    functions, classes = FUNCTIONS.split(), CLASSES.split()
    names = functions + classes
    return QUESTION.format(source=source, call=call, functions=functions, classes=classes, names=names)


def heard(text: str) -> dict[str, Any]:
    """Return what one of the next three has told, as it came back; the answers are JSON, or an empty text.

    Raises ValueError, SyntaxError or TypeError.
    """
    import ast  # not in the kernel
    import json

    told = ast.literal_eval(ast.literal_eval(text))
    told["prints"] = ast.literal_eval(told["prints"])
    if told.get("answers"):
        told["answers"] = json.dumps(ast.literal_eval(told["answers"]))
    return dict(told)


def opened(check: str) -> str:
    """Return what tells this opening of the lab, and the prints, before a hand-in has run any cell."""
    lab = _shell().user_ns["lab"]
    dir(lab.check)  # so its checks are loaded
    told = {"opened": lab.opened, "opened_at": lab.opened_at, "checks": check}
    return repr(told | {"prints": repr(dict(prints()))})


def seen() -> str:
    """Return the prints now."""
    return repr({"prints": repr(dict(prints()))})


def result(names: list[str]) -> str:
    """Return what the last cell gave, the answers that its check got, and the prints now."""
    now = repr(dict(prints()))  # first: to look at values can run code of the hand-in
    shell = _shell()
    value = shell.last_execution_result.result
    kind = type(value)
    try:
        answers = repr([encoded(shell.user_ns[name]) for name in names])
    except (TypeError, ValueError, KeyError, RecursionError):
        answers = ""
    told = {
        "genuine": kind is getattr(sys.modules.get(OUTCOMES), "Solved", None),  # a name can be anybody's
        "number": str(getattr(value, "number", "")),
        "text": repr(value)[:1000],
        "answers": answers,
        "prints": now,
    }
    return f"{told!r}"  # without a name


def encoded(value: Any, depth: int = 0) -> Any:
    """Return a plain value as JSON can hold it. Raises TypeError for any other one."""
    if depth > DEEPEST:
        raise TypeError
    if type(value).__module__.partition(".")[0] == "numpy" and getattr(value, "shape", None) == ():
        value = value.item()
    if value is None or type(value) in (str, int, bool):
        return value
    kind, of_python = type(value).__name__, type(value).__module__ in ("builtins", "collections")
    if type(value) is float or (type(value).__module__, kind) == ("decimal", "Decimal"):
        return {"float": float(value).hex()}
    if type(value) is bytes:
        return {"bytes": value.hex()}
    if type(value) in (list, tuple, set, frozenset) or (of_python and kind in AS_LISTS):
        return {"list" if kind in AS_LISTS else kind: [encoded(one, depth + 1) for one in value]}
    if isinstance(value, dict) and of_python:
        return {"dict": [[encoded(k, depth + 1), encoded(v, depth + 1)] for k, v in value.items()]}
    if type(value).__module__.startswith(("pandas.", "numpy")) and hasattr(value, "tolist"):
        return {"list": [encoded(one, depth + 1) for one in value.tolist()]}
    raise TypeError


def decoded(told: Any) -> Any:
    """Return the value of which `encoded` made this. Raises ValueError, KeyError or TypeError."""
    if not isinstance(told, dict):
        return told
    [(kind, held)] = told.items()
    if kind == "float":
        return float.fromhex(held)
    if kind == "bytes":
        return bytes.fromhex(held)
    if kind == "dict":
        return {decoded(k): decoded(v) for k, v in held}
    return {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}[kind](map(decoded, held))


def changed(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return the names of what was replaced, removed, or put into the course's own code.

    Modules that are loaded later are no matter, unless a function in them was written in a cell.
    """
    found = [name for name, mark in before.items() if now.get(name) != mark]
    known = {name.partition(":")[0] for name in before}
    for name in now.keys() - before.keys():
        where, origin = name.partition(":")[0], now[name].rpartition(" ")[2]
        put_in = (where in known and where.startswith(OWN)) or where.startswith("lab")
        if (put_in and origin == OTHER) or origin == CELL:
            found.append(name)
    return sorted(found)


def prints() -> Iterator[tuple[str, str]]:
    """Yield a mark of each function and class of the guarded modules, of the lab, and of IPython's shell."""
    for name, module in sorted(sys.modules.items()):
        if name.startswith(GUARDED):
            yield f"{name}:", f"{id(module)} {MODULE}"
            for attribute, value in list(getattr(module, "__dict__", {}).items()):
                if attribute not in PASSING and (isinstance(value, CODE) or _is_check(value)):
                    yield from _of_value(f"{name}:{attribute}", value)
    yield from _of_lab(_shell().user_ns.get("lab"))
    yield from _of_shell(_shell())


def _of_lab(lab: Any) -> Iterator[tuple[str, str]]:
    yield "lab:", f"{id(lab)} {type(lab).__qualname__}"
    for attribute, value in list(getattr(lab, "__dict__", {}).items()):
        if not attribute.startswith("_") or hasattr(type(lab), attribute):
            yield f"lab:{attribute}", f"{id(value)} {OTHER}"
    for attribute, value in list(getattr(getattr(lab, "check", None), "__dict__", {}).items()):
        yield f"lab.check:{attribute}", f"{id(value)} {OTHER}"


def _of_shell(shell: Any) -> Iterator[tuple[str, str]]:
    """Yield what a cell has put into IPython."""
    for attribute, value in list(vars(shell).items()):
        if callable(value) and _origin(value) == CELL:
            yield f"shell:{attribute}", f"{id(value)} {CELL}"
    hooks = [*shell.input_transformers_cleanup, *shell.input_transformers_post, *shell.ast_transformers]
    calls = [getattr(call, "__func__", call) for each in shell.events.callbacks.values() for call in each]
    for one in (*hooks, *calls):
        if CELL in (_origin(one), _origin(type(one))):
            yield f"shell:{getattr(one, '__name__', type(one).__name__)}", f"{id(one)} {CELL}"


def _of_value(name: str, value: Any) -> Iterator[tuple[str, str]]:
    yield name, f"{id(value)} {_code(value)} {_origin(value)}"
    if isinstance(value, ModuleType) or not name.startswith(INSIDE):
        return
    if isinstance(value, type) or _is_check(value):
        for attribute, own in list(vars(value).items()):
            inner = own.fget if isinstance(own, property) else getattr(own, "__func__", own)
            if callable(inner):
                yield f"{name}.{attribute}", f"{id(own)} {_code(inner)} {_origin(inner)}"


def _origin(value: Any) -> str:
    """Say where something was written: in a cell, in the course, or elsewhere; modules are told apart."""
    if isinstance(value, ModuleType):
        return MODULE
    code = getattr(value, "__code__", None)
    if isinstance(code, CodeType) and "ipykernel_" in code.co_filename:
        return CELL
    module = str(getattr(value, "__module__", ""))
    if module == "__main__":
        return CELL
    return COURSE if module.startswith(OWN) or _is_check(value) else OTHER


def _is_check(value: Any) -> bool:
    return type(value).__module__.startswith("threebrokers.lab.exercise")


def _code(value: Any) -> str:
    code = getattr(value, "__code__", None)
    if not isinstance(code, CodeType):
        return ""
    parts = []
    for one in _nested(code):
        plain = [constant for constant in one.co_consts if not isinstance(constant, CodeType)]
        parts += [one.co_code, repr((one.co_names, plain))]
    return str(hash(tuple(parts)))


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)


def _shell() -> Any:
    interactive: Any = sys.modules["IPython.core.interactiveshell"]
    return interactive.InteractiveShell._instance
