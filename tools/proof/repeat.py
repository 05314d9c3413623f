"""Run a lesson's solution many times and count how often each experiment showed what it promises."""

import argparse
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from threebrokers.grading.kernel import Kernel, Reply
from tools import ROOT
from tools.lessons import lesson as lessons
from tools.lessons.execution import CELL_SECONDS
from tools.lessons.lesson import Cell, Lesson
from tools.proof import environment, expectations
from tools.proof.incidents import unasked

WIDTH = 110


@dataclass
class Row:
    """How often something came out as promised, and how long its cell took each time (s)."""

    passed: int = 0
    seconds: list[float] = field(default_factory=list)


@dataclass
class Tally:
    """What all runs of one lesson showed: rows by name in order of the lesson, and what failed, in words."""

    rows: dict[str, Row] = field(default_factory=dict)
    answers: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    failures: list[str] = field(default_factory=list)

    def take(self, run: int, cell: Cell, own: list[expectations.Promise], reply: Reply) -> None:
        """Count one cell of one run."""
        for promise in own:
            row = self.rows[promise.name]
            row.passed += promise.kept(reply)
            row.seconds.append(reply.seconds)
        for place, truth in enumerate(expectations.truths(reply)):
            self.answers[f"Prediction {place + 1} of cell {cell.place}"][truth] += 1
        if reply.error:
            first = cell.source.partition("\n")[0]
            message = reply.message.strip().partition("\n")[0]
            self.failures.append(f"run {run}, cell '{first}': {reply.error}: {message}")

    def settle(self) -> None:
        """See whether each prediction had the same answer every time."""
        for name, counted in self.answers.items():
            if len(counted) > 1:
                told = ", ".join(f"'{answer}' {count} times" for answer, count in counted.most_common())
                self.failures.append(f"{name} had more than one answer: {told}")


def repeat(lesson: Lesson, times: int, console: Console, boxed: Sequence[str] = ()) -> Tally:
    """Run a lesson's solution so many times; a run ends at its first cell that fails, as Run All does.

    `boxed` are words of a command that starts each kernel.
    """
    owners = {cell.place: exercise for exercise in lesson.exercises for cell in exercise.cells}
    cells = [cell for cell in lesson.cells if cell.kind == "code" and not cell.is_tried]
    own = {cell.place: expectations.of(cell, owners.get(cell.place)) for cell in cells}
    tally = Tally({promise.name: Row() for cell in cells for promise in own[cell.place]})
    for run in range(1, times + 1):
        seconds, before = 0.0, len(tally.failures)
        with Kernel(lesson.path.parent, boxed) as kernel:
            for cell in cells:
                reply = _sent(kernel, cell)
                seconds += reply.seconds
                tally.take(run, cell, own[cell.place], reply)
                if reply.error and "raises-exception" not in cell.tags:
                    break
        said = tally.failures[-1] if len(tally.failures) > before else "all came true"
        console.print(f"run {run} of {times}: {seconds:.1f} s, {said}")
    tally.settle()
    return tally


def table(tally: Tally, times: int) -> Table:
    """Return the pass table."""
    made = Table("what", "came true", "median s", box=box.SIMPLE_HEAD)
    for name, row in tally.rows.items():
        sign = "✓" if row.passed == times else "✗"
        median = f"{statistics.median(row.seconds):.1f}" if row.seconds else "–"
        made.add_row(name, f"{sign} {row.passed} of {times}", median)
    for name, counted in tally.answers.items():
        answer, count = counted.most_common(1)[0]
        made.add_row(f"{name}: '{answer}'", f"{'✓' if count == times else '✗'} {count} of {times}", "")
    return made


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Run the command line; return 0 if everything came true every time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lesson", metavar="04", help="the lesson")
    parser.add_argument("--times", type=int, default=20, help="how often (20)")
    chosen = parser.parse_args(arguments)
    found = [path for path in lessons.lessons(root) if path.stem[:2] == chosen.lesson]
    if not found:
        print(
            f"There is no lesson '{chosen.lesson}': see lessons/ (make repeat LAB=04 N=20).", file=sys.stderr
        )
        return 2
    console = Console(highlight=False, markup=False, soft_wrap=True, width=WIDTH)
    with environment.bench() as home:
        tally = repeat(lessons.read(found[0]), chosen.times, console)
        felt = unasked(home)
    console.print(table(tally, chosen.times))
    for sentence in tally.failures:
        console.print(f"✗ {sentence}")
    console.print(f"Without being asked: {felt}.")
    return int(bool(tally.failures) or any(row.passed < chosen.times for row in tally.rows.values()))


def _sent(kernel: Kernel, cell: Cell) -> Reply:
    try:
        return kernel.run(cell.solved, f"cell-{cell.place}", CELL_SECONDS)
    except (TimeoutError, RuntimeError) as fault:
        return Reply(type(fault).__name__, str(fault), seconds=CELL_SECONDS)
