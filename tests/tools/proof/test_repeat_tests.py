"""Tests that run many times: all first runs come before the second ones, and one red run is told."""

import io
from pathlib import Path

import psutil
import pytest
from rich.console import Console

from threebrokers.waiting import quiet_wait
from tools.proof import repeat_tests, test
from tools.proof.jobs import Ended, Job, Pool

RED = """<testsuite tests="1" failures="1"><testcase name="test_it"><failure message="no"/></testcase>
</testsuite>"""


def test_all_first_runs_come_before_the_second_ones(tmp_path):
    wanted = [Job("brokers", name, ("true",), expected=seconds) for name, seconds in (("a", 1), ("b", 9))]
    said: list[str] = []
    Pool(1, tmp_path, said.append).run(repeat_tests.repeated(wanted, 2))
    begun = [text for text in said if text.endswith("begins")]
    runs = ("b (run 1)", "a (run 1)", "b (run 2)", "a (run 2)")
    assert begun == [f"brokers: {name}: begins" for name in runs]


def test_all_that_touches_brokers_is_repeated():
    without = {test.QUICK, test.LINT, test.TOOLS}
    planned = {job.part for job in test.plan([], False, "yes")}
    assert planned - without == set(repeat_tests.TOUCHING)


@pytest.mark.programs
def test_busy_loops_are_busy_until_the_end():
    before = {process.pid for process in psutil.Process().children()}
    with repeat_tests.busy_loops(2):
        loops = [process for process in psutil.Process().children() if process.pid not in before]
        assert len(loops) == 2
        assert quiet_wait(lambda: all(sum(loop.cpu_times()[:2]) > 0.2 for loop in loops), 60)
    assert not any(loop.is_running() for loop in loops)


def test_the_table_counts_the_green_runs_and_names_what_was_ever_red(tmp_path: Path):
    (tmp_path / "1.xml").write_text(RED)
    runs = [
        Ended(Job("brokers", f"1 of 4 (run {run})", ()), code, 10.0 + run, "", tmp_path / f"{run}.xml")
        for run, code in ((0, 0), (1, 1), (2, 0))
    ]
    console = Console(file=io.StringIO(), width=110)
    console.print(repeat_tests.table(runs))
    told = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    row = "brokers 1 of 4 2 of 3 10 to 12 test_it 1×"
    assert row in [" ".join(line.split()) for line in told]
