"""Workers killed between read, work and commit, one for each way to commit: for docs/guarantees.md."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from threebrokers.errors import LabError
from threebrokers.lab.lab import Lab
from threebrokers.lab.orders import COUNT
from threebrokers.lab.scenarios import Ending, killed_between_statements, killed_twice
from tools import ROOT
from tools.lessons import code_names, lesson

LESSON = ROOT / "lessons" / "06_consumers.py"  # its programs are the workers
COMMIT_SECONDS = 2.0  # as in the lesson
START_SECONDS = 30.0
KILLS = 2


class Account(NamedTuple):
    """What one worker has done in the end: how many of its orders; the page's columns, in order."""

    orders: int
    once: int
    lost: int
    twice: int


Run = Callable[[Lab, str], tuple[Ending, Account]]


def _told(way: str) -> Run:
    """Return what runs lab 06's `worker`, which commits in this way."""

    def run(lab: Lab, program: str) -> tuple[Ending, Account]:
        topic = program.replace("_", "-")  # each has its own: they run at the same time
        runs = killed_twice(lab, program, way=way, commit_seconds=COMMIT_SECONDS, topic=topic)
        twice = {entry.number for entry in runs.balance.processed_again}
        return runs, account(len(runs.balance.unprocessed), len(twice))

    return run


def _in_the_database(lab: Lab, program: str) -> tuple[Ending, Account]:
    books = killed_between_statements(lab, program)
    return books, account(len(books.missing), len(books.twice))


def account(lost: int, twice: int) -> Account:
    """Return the account of a worker that has left out some orders and has done others again."""
    return Account(COUNT, COUNT - lost - twice, lost, twice)


# The program of the lesson, and what kills it, in the words of the page.
WAYS: dict[str, tuple[str, Run]] = {
    "`enable.auto.commit`": ("worker", _told("automatic")),
    "commit, then work": ("worker", _told("commit, then work")),
    "work, then commit": ("worker", _told("work, then commit")),
    "work and offset in one transaction of the database": ("bookkeeper", _in_the_database),
}
Accounts = Mapping[str, Sequence[Account]]


def measured(lab: Lab, runs: int, say: Callable[[str], None]) -> Accounts:
    """Kill a worker of each way so many times, all ways at the same time; return what each has done."""
    found: dict[str, list[Account]] = {way: [] for way in WAYS}
    named = {way: f"worker_{number}" for number, way in enumerate(WAYS)}
    for way, (program, _) in WAYS.items():  # there is no job yet, so it ends at once; it is known by name
        lab.programs.run(named[way], text_of(LESSON, program)).wait(within=START_SECONDS)
    for run in range(1, runs + 1):
        with ThreadPoolExecutor(len(WAYS)) as pool:
            under_way = {way: pool.submit(kill, lab, named[way]) for way, (_, kill) in WAYS.items()}
        for way, future in under_way.items():
            ending, done = future.result()
            if ending.killed != KILLS or ending.fault:
                raise LabError(
                    f"The worker '{way}' was killed {ending.killed} times, not {KILLS}",
                    ending.fault or "run it again when the machine has less to do",
                )
            found[way].append(done)
        told = ", ".join(f"{way}: {of[-1].lost} lost, {of[-1].twice} twice" for way, of in found.items())
        say(f"run {run} of {runs}, workers: {told}")
        lab.close()  # its producers are not used again
    return found


def text_of(path: Path, name: str) -> str:
    """Return the text of a program of a lesson, with its solution. Raises KeyError if there is none."""
    cells = [cell.source for cell in lesson.read(path).cells if cell.kind == "code" and not cell.is_tried]
    return dict(held for source in cells if (held := code_names.program(source)))[name]
