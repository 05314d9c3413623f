"""Run the tests side by side, and say what each part and each lab took: `make test`.

Everything about one lab: `make test LAB=04`. With Docker also what only containers can show:
`make test DOCKER=yes`; nothing but that: `make test-compose`. Every solution on containers, too:
`make test-all`.
"""

import argparse
import re
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import FrameType

from rich.console import Console

from threebrokers.cluster import engine
from tools import jobs, test_report
from tools import lesson as lessons
from tools.build import ROOT
from tools.jobs import Job
from tools.lesson import Lesson
from tools.steps import steps

QUICK, TOOLS, BROKERS, BROWSER = "quick tests", "kernels and tools", "brokers", "browser"
SOLUTION, EXERCISES, CONTAINERS = "solution", "exercises", "containers"
EXERCISE_TESTS = "tests/cluster/test_exercises.py"
WITHOUT_BROKERS = ("tests", *(f"--ignore=tests/{folder}" for folder in ("cluster", "compose", "browser")))
# A lab in which brokers are killed, stopped or cut off shows its engine; any other shows only Kafka.
BREAKS = re.compile(r"\bcluster\.(kill|stop|pause|cut|stall|slow)\(")
# About what a step of the exercise pass, a solution and a file of tests take: it decides who begins first.
STEP_SECONDS, SOLUTION_SECONDS, FILE_SECONDS = 1.5, 40.0, 30.0
LONG = {"test_contract": 150.0}


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return 0 if everything passed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add_choice(parser)
    asked = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, end)
    chosen = plan(asked.lab, asked.without_labs, asked.docker)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="threebrokers-tests-") as folder:
        ended = jobs.Pool(asked.lanes, Path(folder), partial(print, flush=True)).run(chosen)
        test_report.show(
            ended, time.monotonic() - began, asked.lanes, Console(highlight=False, soft_wrap=True)
        )
    return max((one.code for one in ended), key=abs, default=1)


def add_choice(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose jobs."""
    parser.add_argument("--lab", action="append", default=[], metavar="04", help="only what is of this lab")
    parser.add_argument("--without-labs", action="store_true", help="only what is of no lab")
    parser.add_argument(
        "--docker", choices=("no", "yes", "only", "all"), default="no", help="on containers, too"
    )
    parser.add_argument("--lanes", type=int, default=jobs.lanes(), help="how many jobs run side by side")


def plan(labs: Sequence[str], without_labs: bool, docker: str) -> list[Job]:
    """Return the jobs that are wanted; `docker` is no, yes, only or all.

    Raises SystemExit if there is no such lab.
    """
    read = {lesson.number: lesson for lesson in map(lessons.read, lessons.lessons(ROOT))}
    if unknown := sorted(set(labs) - read.keys()):
        raise SystemExit(f"✗ There is no lab {', '.join(unknown)}: the labs are {', '.join(read)}.")
    wanted: list[Job] = []
    if not labs:
        wanted += _of_no_lab() if docker != "only" else []
        wanted += _files("tests/compose", CONTAINERS) if docker != "no" else []
    for number in [] if without_labs else labs or read:
        if labs and (own := sorted(map(str, (ROOT / "tests").glob(f"test_lab{number}*.py")))):
            wanted.append(_pytest("checks", number, *own, lab=number))  # else they are among the quick tests
        wanted += _of_lab(read[number]) if docker != "only" else []
        if docker == "all" or (docker != "no" and breaks_brokers(read[number])):
            wanted.append(_solution(read[number], CONTAINERS, engine.COMPOSE))
    return wanted


def breaks_brokers(lesson: Lesson) -> bool:
    """Tell whether a lesson does to brokers what each engine does in its own way."""
    return any(BREAKS.search(cell.source) for cell in lesson.cells if cell.kind == "code")


def _of_no_lab() -> list[Job]:
    return [
        _pytest(QUICK, "without brokers", *WITHOUT_BROKERS, "-m", "not programs", gate=True),
        _pytest(TOOLS, "without brokers", *WITHOUT_BROKERS, "-m", "programs", expected=FILE_SECONDS),
        *_files("tests/cluster", BROKERS),
        *_files("tests/browser", BROWSER),
    ]


def _of_lab(lesson: Lesson) -> list[Job]:
    number = lesson.number
    tries = STEP_SECONDS * sum(1 for _ in steps(lesson))
    return [
        _solution(lesson, SOLUTION, engine.LOCAL),
        _pytest(EXERCISES, number, EXERCISE_TESTS, f"--lesson={number}", lab=number, expected=tries),
    ]


def _solution(lesson: Lesson, part: str, engine_name: str) -> Job:
    command = (sys.executable, "-m", "tools.compare", lesson.number, f"--engine={engine_name}")
    return Job(part, lesson.number, command, lesson.number, SOLUTION_SECONDS)


def _files(folder: str, part: str) -> list[Job]:
    """Return a job for each file of tests: each starts brokers of its own."""
    paths = sorted((ROOT / folder).glob("test_*.py"))
    names = [path for path in paths if path.name != Path(EXERCISE_TESTS).name]
    return [
        _pytest(
            part,
            path.stem.removeprefix("test_"),
            f"{folder}/{path.name}",
            expected=LONG.get(path.stem, FILE_SECONDS),
        )
        for path in names
    ]


def _pytest(
    part: str, name: str, *arguments: str, lab: str = "", expected: float = 10.0, gate: bool = False
) -> Job:
    return Job(part, name, (sys.executable, "-m", "pytest", "-q", *arguments), lab, expected, gate)


def end(number: int, _frame: FrameType | None) -> None:
    """End the program through the blocks that end brokers."""
    sys.exit(128 + number)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
