"""The command line, run in this process or in one of its own."""

import io
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any

from threebrokers.app import cli


@dataclass(frozen=True)
class Ended:
    """What a command printed, and its exit code."""

    exit_code: int
    output: str
    stderr: str


def run(*words: str) -> Ended:
    """Run one command; only a fault that nobody foresaw is raised."""
    with redirect_stdout(io.StringIO()) as output, redirect_stderr(io.StringIO()) as stderr:
        try:
            code = cli.app(words)
        except SystemExit as ended:  # argparse ends so
            code = int(ended.code or 0)
    return Ended(code, output.getvalue(), stderr.getvalue())


def kill(program: subprocess.Popen[Any]) -> None:
    """Kill a program whose output a test has read, and take back what it held."""
    program.kill()
    program.wait()
    assert program.stdout is not None
    program.stdout.close()


# What takes long to import, and what only a notebook, a download or a compose cluster needs.
NOTEBOOKS = {"IPython", "anywidget", "ipywidgets", "nbformat", "traitlets"}
SLOW = NOTEBOOKS | {"docker", "kafka", "matplotlib", "pandas", "pydantic", "pyspark", "requests"}
SCRIPT = """
import sys
from importlib.metadata import entry_points
[command] = entry_points(group="console_scripts", name="threebrokers")
try:
    sys.exit(command.load()())
finally:
    print(*{name.partition(".")[0] for name in sys.modules}, file=sys.stderr)
"""


def imported(*words: str) -> set[str]:
    """Run one command as its script does and return the packages that it has imported."""
    done = subprocess.run([sys.executable, "-c", SCRIPT, *words], capture_output=True, text=True, check=True)
    return set(done.stderr.split())
