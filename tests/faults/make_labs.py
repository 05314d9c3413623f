"""`make lab` with a real JupyterLab and without brokers, in a folder that stands in for the repo."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from tests.commands import kill
from threebrokers.app import make_lab

COMMAND = """
import sys
from pathlib import Path
from threebrokers import workspace
from threebrokers.app import jupyterlab, make_lab

class NoCluster:
    engine, access = "local", None
    def processes(self): return {}
    def up(self, say): pass
    def down(self): pass

make_lab.Cluster = NoCluster
for module in (jupyterlab, workspace):
    module.root = module.course = lambda: Path(sys.argv[1])
make_lab.sit(None, None, lambda text: print(text, flush=True))
"""
ADDRESS = "http://127.0.0.1:"
Start = Callable[..., subprocess.Popen[str]]


@contextmanager
def starting(folder: Path) -> Iterator[Start]:
    """Give a function that begins a `make lab` in a folder, in the home of that name there."""
    (folder / "labs").mkdir()
    nbformat.write(
        new_notebook(cells=[new_code_cell("1", id="one")]), folder / "labs" / "01_hello_kafka.ipynb"
    )
    begun: list[subprocess.Popen[str]] = []

    def start(home: str = "home") -> subprocess.Popen[str]:
        begun.append(
            subprocess.Popen(
                [sys.executable, "-c", COMMAND, str(folder)],
                env={**os.environ, "THREEBROKERS_HOME": str(folder / home), "BROWSER": "none"},
                stdout=subprocess.PIPE,
                text=True,
            )
        )
        return begun[-1]

    try:
        yield start
    finally:
        for command in begun:
            kill(command)
        make_lab.end_orphans(lambda text: None)


def told(command: subprocess.Popen[str]) -> list[str]:
    """Return what a `make lab` says until it has told its address."""
    assert command.stdout is not None
    lines: list[str] = []
    while not (lines and lines[-1].strip().startswith(ADDRESS)):
        line = command.stdout.readline()
        assert line, lines
        lines.append(line)
    return lines
