"""Which run of a cell a check judges: the learner's last try, and whether it can be judged."""

import ast
import builtins
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from threebrokers import cells
from threebrokers.cells import CellRun, Fault, History
from threebrokers.lab.outcomes import NotAttempted, NotYet, Skipped
from threebrokers.notebook import shell
from threebrokers.text import listed

# The ids that the build gives to the cells of a lesson; a cell that the learner adds has another one.
OF_THE_LESSON = ("code-", "check-", "exercise-", "task-", "text-")
VERDICTS = (NotAttempted.__name__, NotYet.__name__, Skipped.__name__)
CELL = "the cell of the exercise"
BELOW = f"{CELL}, or the one below it,"  # that one has the names, if the exercise's cell is a program

# What is expected, and where to look, if the text of an error holds such a part; it ends with a line break.
Errors = Mapping[str, tuple[str, str]]

_JUDGED: ContextVar[CellRun | None] = ContextVar("threebrokers_judged", default=None)


def attempt() -> CellRun | None:
    """Return the run of the exercise's cell that the running check judges.

    It says when that cell `began` and `ended` (s since 1970). None outside a notebook, and if no cell ran
    that could be the exercise's: a check then judges what it is given.
    """
    return _JUDGED.get()


def is_earlier(at: float, name: str) -> bool:
    """Tell whether what was made at this moment (s since 1970) is older than the try that made `name`.

    A cell of the learner's own that mends another answer is no new try of this one.
    """
    run, history = attempt(), cells.history()
    if run is None:
        return False
    if history is not None and not run.cell.startswith(OF_THE_LESSON) and name not in run.assigned:
        run = next((one for one in reversed(history.runs) if name in one.assigned), run)
    return at < run.began


def has_changed_since(at: float) -> bool:
    """Tell whether the judged cell has run with another text since this moment (s since 1970).

    A program's cell that is run once more as it was changes nothing of what the program has done.
    """
    run, history = attempt(), cells.history()
    if run is None or at >= run.began:
        return False
    runs = history.runs if history else ()
    before = [r for r in runs if (r.cell, r.program) == (run.cell, run.program) and r.began <= at]
    return not before or before[-1].source != run.source


@contextmanager
def judging(number: str, check: str) -> Iterator[None]:
    """Let `attempt()` return the run that the cell which runs now has judged, until the end."""
    history = cells.history()
    running = history.running if history else None
    names = given(running, check) if running else []
    if history is None:  # outside a notebook whoever calls the check may have told it: see `judged`
        yield
        return
    with judged(find(history, number, names)):
        yield


@contextmanager
def judged(run: CellRun | None) -> Iterator[None]:
    """Let `attempt()` return this run until the end."""
    token = _JUDGED.set(run)
    try:
        yield
    finally:
        _JUDGED.reset(token)


def expect_judgeable(number: str, check: str, known: Errors) -> None:
    """Raise an Outcome if the try cannot be judged: its cell ended in an error, or names do not exist.

    What is in the variables is then left from an earlier try, or was never there. `known` are the errors of
    which the exercise has more to say.
    """
    history, here = cells.history(), shell()
    running = history.running if history else None
    if history is None or running is None or here is None:
        return
    names = given(running, check)
    run = find(history, number, names)
    if run is not None and run is not running and run.fault and run.fault.kind not in VERDICTS:
        if blank := [f"`{name}`" for name in names if name in run.blanks]:
            raise _not_attempted(number, f"fill in the `...` of {listed(blank)} in its cell")
        raise _ended(run.fault, known)
    if run is not None and run is not running:
        _expect_not_anew(run, history, names)
    missing = [n for n in names if not (n in here.user_ns or n in running.assigned or hasattr(builtins, n))]
    if not missing:
        old = _of_elsewhere(history, running, names) if run is None else []
        if old and len(old) == len(names):  # else the exercise may be given some by other cells
            raise _not_attempted(number, f"run its cell first, which gives {listed(old)} another value")
        return
    named = listed([f"`{name}`" for name in missing])
    if run is None:
        raise _not_attempted(number, f"run its cell first, which gives {named} a value")
    exist = "does" if len(missing) == 1 else "do"
    where = CELL if run.assigned & set(names) else BELOW
    tried = next((one for one in reversed(history.runs) if missing[0] in one.assigned), None)
    if tried is not None and tried is not running and tried.fault and tried.fault.kind not in VERDICTS:
        raise _ended(tried.fault, known, f"the cell that should give {named} a value")
    raise NotYet(
        f"{named} {exist} not exist", f"{where} should give {named} a value", f"{where}: `{missing[0]} = …`"
    )


def _expect_not_anew(run: CellRun, history: History, names: list[str]) -> None:
    """Raise NotYet if another cell of the lesson has used one of the names since."""
    for later in history.runs:
        elsewhere = later.cell != run.cell and later.cell.startswith(OF_THE_LESSON)
        if later.began <= run.began or later.fault or not elsewhere:
            continue
        if anew := [name for name in names if name in run.assigned & later.assigned]:
            raise NotYet(
                f"`{anew[0]}` is not the exercise's any more: another cell of the page has set it since",
                "it should be what the exercise's cell makes of it",
                f"{CELL}: run it again, then the check",
            )


def _of_elsewhere(history: History, running: CellRun, names: list[str]) -> list[str]:
    """Return the names whose values only other cells of the lesson have set."""
    others = (run for run in history.runs if run is not running and run.cell.startswith(OF_THE_LESSON))
    there = frozenset().union(*(run.assigned for run in others)) - running.assigned
    return [f"`{name}`" for name in names if name in there]


def find(history: History, number: str, names: list[str]) -> CellRun | None:
    """Return the last run of the cell of exercise `number`, or of one of the learner's own in its place.

    In its place stands a cell of theirs, not of the lesson, that assigns one of the `names` which the check
    is given; or, if the names were made of a program, the cell with that program. Where the front end tells
    no ids, only the names and that program decide.
    """
    own, wanted = f"exercise-{number.replace('.', '-')}", set(names)
    makers = [run for run in history.runs if not run.program and run.assigned & wanted]
    runs_it = _programs_of(makers[-1]) if makers else frozenset()
    programs = frozenset(run.program for run in history.runs) - {""}
    for run in reversed(history.runs):
        if run.cell == own:
            return run
        if run.cell.startswith(OF_THE_LESSON):
            continue
        if run.program in runs_it or (run in makers and not _programs_of(run) & programs):
            return run
    return None


def _programs_of(run: CellRun) -> frozenset[str]:
    """Return what may be the names of programs that a cell runs by a helper: `killed_twice(lab, "careful")`.

    All texts of a cell with such a call: the name may also stand behind a word, or in a variable.
    """
    nodes = list(ast.walk(run.code))
    helped = any(isinstance(n, ast.Call) and n.args and ast.unparse(n.args[0]) == "lab" for n in nodes)
    texts = [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return frozenset(texts if helped else ())


def given(run: CellRun, check: str) -> list[str]:
    """Return the names that a cell passes to `lab.check.<check>(…)`, in order."""
    calls = [node for node in ast.walk(run.code) if isinstance(node, ast.Call) and _is(node.func, check)]
    passed = [value for call in calls for value in (*call.args, *(word.value for word in call.keywords))]
    return list(dict.fromkeys(value.id for value in passed if isinstance(value, ast.Name)))


def _is(function: ast.expr, check: str) -> bool:
    return (
        isinstance(function, ast.Attribute)
        and function.attr == check
        and isinstance(function.value, ast.Attribute)
        and function.value.attr == "check"
    )


def _not_attempted(number: str, what: str) -> NotAttempted:
    return NotAttempted(f"Exercise {number} is not attempted yet: {what}.")


def _ended(fault: Fault, known: Errors, cell: str = CELL) -> NotYet:
    if fault == cells.INTERRUPTED:
        return NotYet(
            f"{cell} was interrupted before its end",
            "it should end by itself, so that there is a whole answer to judge",
            "what that cell waits for: mend it and run it again",
        )
    line = f" in line {fault.line}" if fault.line else ""
    if fault.called_from:
        line += f" (called from line {fault.called_from})"
    own = fault.kind == "LabError"  # a whole sentence
    said = ": ".join(part for part in ("" if own else fault.kind, fault.text) if part)
    if own:
        look = "the sentence under that cell: mend what it names, and run the cell again"
    else:
        look = f"{f'line {fault.line} of ' if fault.line else ''}that cell: mend it and run it again"
    callback = " (often this is a callback that failed)" if fault.kind == "SystemError" else ""
    usual = "it should run to its end before there is an answer to judge", look
    advice = next((advice for part, advice in known.items() if part in f"{fault.text}\n"), usual)
    return NotYet(f"{cell} ended in an error{line}: {said.rstrip('.')}{callback}", *advice)
