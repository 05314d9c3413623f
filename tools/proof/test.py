"""Run the tests side by side, and say what each part and each lab took: `make test`.

Everything about one lab: `make test LAB=04`. With Docker also what only containers can show:
`make test DOCKER=yes`; nothing but that: `make test-compose`. Every solution on containers, and
the tests that take minutes (marks slow_fault and weekly), too: `make test-all`.
"""

import argparse
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from rich.console import Console

from threebrokers.cluster import engine
from tools import ROOT
from tools.lessons import lesson as lessons
from tools.lessons.lesson import Lesson
from tools.proof import jobs, report
from tools.proof.jobs import Job
from tools.proof.steps import steps

QUICK, LINT, TOOLS, BROKERS, BROWSER = "quick tests", "lint", "kernels and tools", "brokers", "browser"
LAB, CONTAINERS, FAULTS = "lab", "containers", "faults"
WITHOUT_BROKERS = ("tests/unit", "tests/tools")
# A lab in which brokers are killed, stopped or cut off shows its engine; any other shows only Kafka.
BREAKS = re.compile(r"\bcluster\.(kill|stop|pause|cut|stall|slow)\(")
# Their experiments hold back what a broker answers to its clients; of containers only the cables to other
# brokers can be pulled (threebrokers/cluster/compose.py).
ONLY_LOCAL = frozenset({"10", "12"})
# What a step of the exercise pass, a solution and a file of tests take (s): it decides who begins first, and
# which files share brokers. To start three brokers for each file would cost as much as many a file.
STEP_SECONDS, SOLUTION_SECONDS, FILE_SECONDS = 1.5, 40.0, 17.0
# Those that take much longer, as measured in three lanes on two cores: one that begins late is waited for.
LONG = {
    "test_spark": 260.0,
    "test_contract": 136.0,
    "test_checks": 125.0,
    "test_grading": 71.0,
    "test_doctor": 57.0,
    "test_outages": 51.0,
    "test_shared_cluster": 50.0,
    "test_failover": 45.0,
    "test_elections": 39.0,
}
LONG_LABS = {"12": 337.0, "15": 322.0, "14": 285.0, "04": 253.0, "13": 247.0, "10": 240.0, "11": 227.0}
BROKER_RUNS = 4
# So many wrong answers of each exercise are tried beside everything else; all of them where one lab is tested
# by itself, and weekly.
FEW_ANSWERS = 2
# A lab that has the machine for itself tries its exercises on so many clusters.
LAB_SHARES = 3


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return 0 if everything passed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add_choice(parser)
    asked = parser.parse_args(arguments)
    chosen = plan(asked.lab, asked.without_labs, asked.docker)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="threebrokers-tests-") as folder:
        ended = jobs.Pool(asked.lanes, Path(folder), partial(print, flush=True)).run(chosen)
        report.show(
            ended, time.monotonic() - began, asked.lanes, Console(highlight=False, width=report.WIDTH)
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
        wanted += _of_no_lab(docker) if docker != "only" else []
        wanted += _each_file("tests/compose", CONTAINERS) if docker != "no" else []
    for number in [] if without_labs else labs or read:
        if labs and (
            own := sorted(map(str, (ROOT / "tests" / "unit" / "checks").glob(f"test_lab{number}*.py")))
        ):
            wanted.append(_pytest("checks", number, *own, lab=number))  # else they are among the quick tests
        if docker != "only":
            few = None if labs or docker == "all" else FEW_ANSWERS
            wanted += _of_lab(read[number], few, apart=len(labs) == 1)
        chosen = docker == "all" or (docker != "no" and breaks_brokers(read[number]))
        if chosen and number not in ONLY_LOCAL:
            words = (number, f"--engine={engine.COMPOSE}")
            wanted.append(_compare(CONTAINERS, number, *words, expected=SOLUTION_SECONDS))
    # Six brokers in containers, beside an engine that copies and deletes their images, starve each other. And
    # with each container a network comes or goes: Chromium then drops what it is fetching.
    alone = (CONTAINERS, BROWSER)
    return [replace(job, resource=CONTAINERS) if job.part in alone else job for job in wanted]


def breaks_brokers(lesson: Lesson) -> bool:
    """Tell whether a lesson does to brokers what each engine does in its own way, and is about them.

    One that is about Spark shows the same on each engine, and takes minutes.
    """
    code = [cell.source for cell in lesson.cells if cell.kind == "code"]
    return any(map(BREAKS.search, code)) and not any("threebrokers.spark" in source for source in code)


def _of_no_lab(docker: str) -> list[Job]:
    return [
        _pytest(QUICK, "without brokers", *WITHOUT_BROKERS, "-m", "not programs", gate=True),
        _pytest(LINT, "style, types, imports", "tests/lint", gate=True),
        _pytest(TOOLS, "without brokers", *WITHOUT_BROKERS, "-m", "programs", expected=FILE_SECONDS),
        *_of_faults(slow=docker == "all"),
        *_broker_runs(weekly=docker == "all"),
        *_each_file("tests/browser", BROWSER),
    ]


def _of_faults(*, slow: bool) -> list[Job]:
    chosen = {"without brokers": ("not cluster", 30.0), "on brokers": ("cluster", 100.0)}
    wanted = [
        _pytest(FAULTS, name, "tests/faults", "-m", f"{which} and not slow_fault", expected=seconds)
        for name, (which, seconds) in chosen.items()
    ]
    return (
        [*wanted, _pytest(FAULTS, "slow", "tests/faults", "-m", "slow_fault", expected=1500.0)]
        if slow
        else wanted
    )


def _of_lab(lesson: Lesson, answers: int | None, apart: bool) -> list[Job]:
    """Return the jobs of a lab: `apart` on brokers of their own, which is quicker if nothing else runs."""
    number = lesson.number
    tries = STEP_SECONDS * sum(1 for _ in steps(lesson, answers))
    if not apart:
        words = (number, "--exercises", *([f"--answers={answers}"] if answers is not None else []))
        return [_compare(LAB, number, *words, expected=LONG_LABS.get(number, SOLUTION_SECONDS + tries))]
    shares = [(n, LAB_SHARES) for n in range(1, LAB_SHARES + 1)]
    counts = {f"{n}/{of}": sum(1 for _ in steps(lesson, answers, (n, of))) for n, of in shares}
    return [
        _compare(LAB, number, number, expected=SOLUTION_SECONDS),
        *(_tried(number, share, STEP_SECONDS * count) for share, count in counts.items() if count),
    ]


def _tried(number: str, share: str, expected: float) -> Job:
    words = ("tests/cluster/test_exercises.py", f"--lesson={number}", f"--share={share}")
    return _pytest(LAB, f"{number}, exercises {share}", *words, lab=number, expected=expected)


def _compare(part: str, lab: str, *words: str, expected: float) -> Job:
    return Job(part, lab, (sys.executable, "-m", "tools", "nbval", *words), lab, expected)


def _broker_runs(*, weekly: bool) -> list[Job]:
    """Return jobs for the tests of brokers, about equally long; with those that take minutes if `weekly`."""
    which = () if weekly else ("-m", "not weekly")
    runs: list[list[Path]] = [[] for _ in range(BROKER_RUNS)]
    paths = [path for path in _tests("tests/cluster") if path.stem != "test_exercises"]
    for path in sorted(paths, key=_seconds, reverse=True):
        min(runs, key=lambda run: sum(map(_seconds, run))).append(path)
    return [
        _pytest(
            *(BROKERS, f"{n} of {BROKER_RUNS}", *which, *map(str, sorted(run))),
            expected=sum(map(_seconds, run)),
        )
        for n, run in enumerate(runs, 1)
    ]


def _each_file(folder: str, part: str) -> list[Job]:
    return [
        _pytest(part, path.stem.removeprefix("test_"), str(path), expected=2 * _seconds(path))
        for path in _tests(folder)
    ]


def _tests(folder: str) -> list[Path]:
    return [path.relative_to(ROOT) for path in sorted((ROOT / folder).glob("test_*.py"))]


def _seconds(path: Path) -> float:
    return LONG.get(path.stem, FILE_SECONDS)


def _pytest(
    part: str, name: str, *arguments: str, lab: str = "", expected: float = 10.0, gate: bool = False
) -> Job:
    return Job(part, name, (sys.executable, "-m", "pytest", "-q", *arguments), lab, expected, gate)
