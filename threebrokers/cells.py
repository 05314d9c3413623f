"""The cells that ran in this kernel: what each one said, when it ran, and how it ended."""

import ast
import functools
import re
from dataclasses import dataclass, field
from types import CodeType, TracebackType
from typing import Any

from threebrokers import clock
from threebrokers.notebook import shell

MOST = 500  # runs that are remembered
LONGEST = 240  # letters of an error's text
# Spark begins with which task or query failed, and so long that the reason would be cut off.
WHAT_FAILED = re.compile(
    r"^.*(most recent failure: Lost task [^:]*|\] terminated with exception): (.*\. Reason: )?"
)
# Java says so of what another thread of it has met; the reason is the last cause.
AWAITED, CAUSED = "Exception thrown in awaitResult", "Caused by: "
# Python's traceback in what Java says of a function that it has called: its first line, and its end.
TRACEBACK, BEHIND = "Traceback (most recent call last):", re.compile(r"^===|\s*;?\s*SQLSTATE: ", re.MULTILINE)
# Spark's name of the error, before the sentence that says the same.
CONDITION = re.compile(r"^\[[A-Z0-9_.]+\] ")


@dataclass(frozen=True)
class Fault:
    """The error in which a cell ended: its class, the first line of its text, and the cell's line (or 0).

    `line` is the innermost one of the cell, where there is something to mend: in a function that the cell
    defines, maybe. Then `called_from` is the line outside all functions from which it was reached, else 0.
    """

    kind: str
    text: str
    line: int = 0
    called_from: int = 0


@dataclass
class CellRun:
    """One run of a notebook cell. Moments in s since 1970; `ended` is None while it still runs.

    `cell` is the id that the front end gave it, or empty; `fault` says what ended it before its last line.
    """

    cell: str
    source: str
    began: float
    ended: float | None = None
    fault: Fault | None = None

    @functools.cached_property
    def code(self) -> ast.Module:
        """What Python runs of it; an empty module if it cannot be read."""
        here = shell()
        try:
            return ast.parse(here.transform_cell(self.source) if here else self.source)
        except (SyntaxError, ValueError):
            return ast.Module(body=[], type_ignores=[])

    @functools.cached_property
    def statements(self) -> tuple[CodeType, ...]:
        """Its outermost statements, each ready to be run by itself."""
        return tuple(
            compile(ast.Module(body=[node], type_ignores=[]), "<cell>", "exec") for node in self.code.body
        )

    @functools.cached_property
    def assigned(self) -> frozenset[str]:
        """The names that it gives a value at its outermost level, also inside `for`, `with` and `if`."""
        found = _Names(self.code).found
        return frozenset(found or re.findall(r"^(\w+)\s*=(?!=)", self.source, re.MULTILINE))

    @property
    def program(self) -> str:
        """The name of the program in it (`%%program name`), which runs as a process of its own; or empty."""
        first = self._lines[0].split()
        return first[1] if len(first) > 1 and first[0] == "%%program" else ""

    @property
    def program_text(self) -> str:
        """What a program does: all lines but the first."""
        return self._lines[2]

    @property
    def _lines(self) -> tuple[str, str, str]:
        return self.source.lstrip().partition("\n")

    @functools.cached_property
    def blanks(self) -> frozenset[str]:
        """The names that it sets to `...`."""
        set_to_dots = [
            node
            for node in ast.walk(self.code)
            if isinstance(node, ast.Assign) and getattr(node.value, "value", None) is ...
        ]
        targets = [target for node in set_to_dots for target in node.targets]
        return frozenset(target.id for target in targets if isinstance(target, ast.Name))


INTERRUPTED = Fault("KeyboardInterrupt", "")


def fault_of(error: BaseException) -> Fault:
    """Say in plain values what an error is: the error itself would keep all that its frames hold."""
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    text = said(str(error))
    outer, line = _lines(error.__traceback__)
    if isinstance(error, SyntaxError) and not line:  # Python could not read the cell
        line = error.lineno or 0
    return Fault(
        type(error).__name__,
        text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…",
        line,
        outer if outer != line else 0,
    )


def said(text: str) -> str:
    """Return what an error says, of all that Spark and py4j write around it; "" if that is nothing."""
    own = _python_error(text)
    lines = [own] if own else [line.strip() for line in text.splitlines() if line.strip()]
    # py4j begins with the number of an object, which says nothing.
    if len(lines) > 1 and lines[0].startswith("An error occurred while calling"):
        lines = [lines[1].removeprefix(": "), *lines[2:]]
    causes = [line.removeprefix(CAUSED) for line in lines if line.startswith(CAUSED)]
    if lines and AWAITED in lines[0] and causes:
        lines = causes[-1:]
    return CONDITION.sub("", WHAT_FAILED.sub("", lines[0])) if lines else ""


def _python_error(text: str) -> str:
    """Return the line with the error behind the last traceback of Python in a text; "" without one."""
    _, found, trace = text.rpartition(TRACEBACK)
    # The lines of a traceback itself are indented.
    ends = (line for line in BEHIND.split(trace)[0].splitlines() if line.strip() and not line[0].isspace())
    return next(ends, "").strip() if found else ""


def _lines(trace: TracebackType | None) -> tuple[int, int]:
    """Return the cell's outermost and its innermost line in a traceback, 0 where that is not known.

    Each cell is compiled as a file of its own, and so are the functions that it defines.
    """
    here, file, outer, line = shell(), None, 0, 0
    while trace is not None:
        frame, code = trace.tb_frame, trace.tb_frame.f_code
        if here is not None and frame.f_globals is here.user_ns:
            if code.co_name == "<module>":
                file, outer = code.co_filename, trace.tb_lineno
            if code.co_filename == file:
                line = trace.tb_lineno
        trace = trace.tb_next
    return outer, line


@dataclass
class History:
    """The last cells that ran, oldest first; the one that runs now is among them."""

    runs: list[CellRun] = field(default_factory=list)

    def began(self, info: Any) -> None:
        """Note that a cell begins (IPython's event pre_run_cell)."""
        if info.silent:
            return
        if before := self.running:  # nobody was told how it ended
            before.ended, before.fault = clock.now(), INTERRUPTED
        self.runs = [*self.runs[1 - MOST :], CellRun(info.cell_id or "", info.raw_cell or "", clock.now())]

    def ended(self, result: Any) -> None:
        """Note how a cell ended (IPython's event post_run_cell)."""
        run = self.running
        if run is None or (result is not None and result.info.silent):
            return
        run.ended = clock.now()
        if result is None:  # it was interrupted where IPython does not expect it
            run.fault = INTERRUPTED
        elif error := result.error_before_exec or result.error_in_exec:
            run.fault = fault_of(error)

    @property
    def running(self) -> CellRun | None:
        """The cell that runs now."""
        return self.runs[-1] if self.runs and self.runs[-1].ended is None else None


def history() -> History | None:
    """Return the history of this notebook, which begins with the first call; None outside a notebook."""
    here = shell()
    return _history(here) if here else None


@functools.lru_cache(maxsize=1)
def _history(here: Any) -> History:
    kept = History()
    here.events.register("pre_run_cell", kept.began)
    here.events.register("post_run_cell", kept.ended)
    return kept


class _Names(ast.NodeVisitor):
    """Gathers what a cell assigns; what functions and classes assign inside is theirs."""

    def __init__(self, code: ast.AST) -> None:
        self.found: set[str] = set()
        self.visit(code)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self.found.add(node.id)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.found.add(node.name)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.found.add(node.name)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.found.add(node.name)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        return

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for part in (node.iter, *node.ifs):  # its target is its own
            self.visit(part)

    def visit_alias(self, node: ast.alias) -> None:
        self.found.add((node.asname or node.name).partition(".")[0])
