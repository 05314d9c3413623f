"""The programs of one notebook."""

import functools
import os
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from threebrokers import notebook
from threebrokers.cluster import programs as register
from threebrokers.cluster.process import identify
from threebrokers.errors import LabError
from threebrokers.files import faults_told
from threebrokers.program.display import Box
from threebrokers.program.program import Program
from threebrokers.program.protocol import END_OF_TEXT


class Programs:
    """The programs that this notebook has started, by name; each gets the same lab."""

    def __init__(self, home: Path, number: str, opened: str) -> None:
        self._home, self._number, self._opened = home, number, opened
        self._all: dict[str, Program] = {}
        self._cells: dict[str, tuple[str, Callable[[Box], None]]] = {}

    def __getitem__(self, name: str) -> Program:
        """Return a program by its name. Raises LabError if its cell has not run."""
        if name not in self._all:
            raise LabError(
                f"There is no program '{name}' yet: run the cell that begins with %%program {name}."
            )
        return self._all[name]

    def run(self, name: str, text: str) -> Program:
        """Start a program; one of the same name that still runs is ended first.

        Raises LabError if the name is not a plain word.
        """
        name = name.strip()
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            raise LabError(f"A program's name is one plain word, not '{name}': say %%program worker_a.")
        return self._start(name, text, _Place(functools.partial(self._press, name)))

    def restart(self, name: str) -> Program:
        """Start a program again from its beginning, as its cell does, and show it there."""
        return self._start(self[name].name, *self._cells[name])

    def close(self) -> None:
        """End every program that still runs."""
        for program in self._all.values():
            _end(program)

    def _press(self, name: str, kind: str) -> None:
        """Stop or kill a program, as a button of its box says."""
        getattr(self[name], kind)()

    def _start(self, name: str, text: str, show: Callable[[Box], None]) -> Program:
        if name in self._all:
            _end(self._all[name])
        mark = f"{register.MARK}{self._home}"
        process = subprocess.Popen(
            [
                *(sys.executable, "-X", mark, "-u", "-m", "threebrokers.lab.program_child"),
                *(name, self._number, self._opened),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # the notebook's "interrupt" is not meant for it
            env={**os.environ, "THREEBROKERS_HOME": str(self._home), "PYTHONIOENCODING": "utf-8"},
        )
        identity = identify(process.pid, mark)
        try:
            with faults_told(self._home):
                register.note(self._home, name, identity)
        except LabError:  # a program that nobody remembers would outlive its notebook
            process.kill()
            process.wait()
            raise
        assert process.stdin is not None
        # The empty line stands for %%program, so that errors name the lines as the cell numbers them.
        with suppress(BrokenPipeError):  # it has died already, and its box says how
            process.stdin.write(b"\n" + text.encode() + END_OF_TEXT)
            process.stdin.flush()
        over = functools.partial(register.forget, self._home, identity)
        self._all[name], self._cells[name] = Program(name, process, show, over), (text, show)
        return self._all[name]


def _end(program: Program) -> None:
    for end in (program.stop, program.kill):
        try:
            end()
        except LabError:  # it has ended already, or does not end on request
            continue


class _Place:
    """Where a program's box is shown, again and again: with buttons while the program runs.

    The box of one that has ended needs no kernel, so that is what a saved notebook keeps. A page that was
    loaded again has lost the place; there the box with the buttons shows the end, too.
    """

    def __init__(self, press: Callable[[str], None]) -> None:
        self._press = press
        self._live: Any = None
        self._handle: Any = None

    def __call__(self, box: Box) -> None:
        if notebook.shell() is None:
            return
        if self._live is None:
            from threebrokers.program.widget import LiveBox  # programs have a lab too, and show nothing

            self._live = LiveBox(box, self._press)
            self._handle = notebook.show(self._live)
            return
        starts = box.code is None and not self._live.runs
        self._live.show(box)
        if starts or box.code is not None:
            self._handle.update(self._live if starts else box)
