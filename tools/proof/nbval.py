"""Run the solutions again, on a bench of their own without Java on the PATH, and compare with what they hold.

Compared are the cells tagged nbval-check-output: those of the checks.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from threebrokers.cluster import engine
from tools import ROOT
from tools.lessons import run
from tools.lessons.execution import CELL_SECONDS
from tools.proof import environment

START_SECONDS = 120


def command(notebooks: list[Path], results: str = "") -> list[str]:
    """Return the pytest call that compares these notebooks; `results` names a file for pytest's XML."""
    times = [f"--nbval-cell-timeout={CELL_SECONDS}", f"--nbval-kernel-startup-timeout={START_SECONDS}"]
    times += [f"--junitxml={results}"] if results else []
    options = ["-q", "--nbval-lax", "--nbval-current-env", *times, "--maxfail=1"]
    return [sys.executable, "-m", "pytest", *options, *map(str, notebooks)]


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return pytest's answer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lesson", nargs="*", metavar="02", help="only these")
    parser.add_argument("--engine", choices=engine.NAMES, default=engine.LOCAL, help="what runs the brokers")
    parser.add_argument("--junitxml", default="", metavar="FILE", help="where pytest writes its results")
    words = "then try every exercise of these lessons, on the same brokers"
    parser.add_argument("--exercises", action="store_true", help=words)
    parser.add_argument(
        "--answers",
        type=int,
        metavar="4",
        help="of each exercise at most so many wrong answers, with no cell before them that they do not need",
    )
    asked = parser.parse_args(arguments)
    only = asked.lesson
    if run.main([*only, "--check"]):  # a notebook that was not executed holds nothing to compare
        return 1
    found = sorted((ROOT / "solutions").glob("*.ipynb"))
    chosen = [path for path in found if not only or path.stem[:2] in only]
    with environment.bench(asked.engine) as home:
        code = subprocess.run(command(chosen, asked.junitxml), cwd=ROOT).returncode
        if asked.exercises:
            numbers = [path.stem[:2] for path in chosen]
            tried = subprocess.run(try_exercises(home, numbers, asked.answers, asked.junitxml), cwd=ROOT)
            code = code or tried.returncode
        return code


def try_exercises(home: Path, numbers: list[str], answers: int | None, results: str) -> list[str]:
    """Return the pytest call that tries the exercises of these lessons on brokers of this home."""
    options = [f"--home={home}", *(f"--lesson={number}" for number in numbers)]
    if answers is not None:
        options.append(f"--answers={answers}")
    if results:
        options.append(f"--junitxml={Path(results).with_suffix('.exercises.xml')}")
    return [sys.executable, "-m", "pytest", "-q", "tests/cluster/test_exercises.py", *options]
