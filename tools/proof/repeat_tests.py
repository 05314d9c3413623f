"""Run tests that touch brokers many times, calm or beside busy loops, and tell which were ever red.

`make repeat-tests N=10 BUSY=2`.
"""

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from tools.proof import jobs, report, test
from tools.proof.jobs import Ended, Job

TOUCHING = (test.BROKERS, test.BROWSER, test.LAB, test.CONTAINERS, test.FAULTS)
# It ends with whoever started it, however that ends.
BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: pass"


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return 0 if no test was red in any run."""
    parser = argparse.ArgumentParser(description=__doc__)
    test.add_choice(parser)
    parser.add_argument("--times", type=int, default=10, help="how often each runs")
    parser.add_argument("--busy", type=int, default=0, help="how many busy loops run beside them")
    parser.add_argument("--part", action="append", default=[], choices=TOUCHING, help="only this part")
    asked = parser.parse_args(arguments)
    wanted = [
        job
        for job in test.plan(asked.lab, asked.without_labs, asked.docker)
        if job.part in (asked.part or TOUCHING)
    ]
    console = Console(highlight=False, width=report.WIDTH)
    with tempfile.TemporaryDirectory(prefix="threebrokers-tests-") as folder, busy_loops(asked.busy):
        pool = jobs.Pool(asked.lanes, Path(folder), partial(print, flush=True))
        ended = pool.run(repeated(wanted, asked.times))
        console.print(table(ended))
    return max((one.code for one in ended), key=abs, default=1)


def repeated(wanted: Sequence[Job], times: int) -> list[Job]:
    """Return each job so many times, all first runs before the second ones."""
    longest = max((job.expected for job in wanted), default=0.0) + 1
    return [
        replace(job, name=f"{job.name} (run {run})", expected=job.expected + longest * (times - run))
        for run in range(1, times + 1)
        for job in wanted
    ]


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """Keep so many processor cores busy until the block ends."""
    loops = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def table(ended: Sequence[Ended]) -> Table:
    """Return a row for each job: how often it was green, its seconds, and which tests were ever red."""
    shown = Table(box=box.SIMPLE_HEAD)
    for title in ("part", "what", "green", "seconds", "red"):
        shown.add_column(title, overflow="fold")
    jobs_: dict[tuple[str, str], list[Ended]] = {}
    for one in ended:
        jobs_.setdefault((one.job.part, one.job.name.partition(" (run ")[0]), []).append(one)
    for (part, name), runs in sorted(jobs_.items()):
        red = Counter(test for one in runs for test in report.red(one.results))
        seconds = sorted(one.seconds for one in runs)
        shown.add_row(
            part,
            name,
            f"{sum(one.code == 0 for one in runs)} of {len(runs)}",
            f"{seconds[0]:.0f} to {seconds[-1]:.0f}",
            ", ".join(f"{test} {count}×" for test, count in red.items()),
        )
    return shown
