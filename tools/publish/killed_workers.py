"""Workers killed between read, work and commit, one for each way to commit: for docs/guarantees.md."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from threebrokers.errors import LabError
from threebrokers.lab.lab import Lab
from threebrokers.lab.orders import COUNT
from threebrokers.lab.scenarios import Ending, killed_between_statements, killed_twice
from tools import ROOT
from tools.lessons import code_names, lesson
from tools.publish.verdicts import Repeated, Say, by_name, repeat, section, table

LESSON = ROOT / "lessons" / "06_consumers.py"  # its programs are the workers
COMMIT_SECONDS = 2.0  # as in the lesson
START_SECONDS = 30.0
KILLS = 2
HEADING = "A worker is killed between read, work and commit"
HEADINGS = (HEADING,)
TEXT = f"""
Workers read {COUNT} orders and write an invoice for each: the programs of lab 06. Each is killed twice and
started again. The first time, order 7 is read and its invoice not written (the worker with
automatic commits, every {COMMIT_SECONDS:.0f} s, has committed it by then); the second time, the invoice of
order 13 is written, and nothing was committed after it. For the worker with a database that is just before
the `INSERT` of order 7, and just before the `COMMIT` of order 13. *Lost* has no invoice, *twice* has more
than one.
"""
SEE = """
Who commits before the work loses an order, who commits after it does one again, and a client that commits by
itself does both. It loses none if it may commit only what the program has stored after the work
(`enable.auto.offset.store=false`); but all since its last commit is done again. Nothing is lost or done again
where work and offset are in one transaction.
"""


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
    "work, then `store_offsets()`, committed by the client": ("worker", _told("work, then store")),
    "work and offset in one transaction of the database": ("bookkeeper", _in_the_database),
}
Done = Mapping[str, Account]


def measured(lab: Lab, runs: int, say: Say) -> Repeated[Done]:
    """Kill a worker of each way so many times, all ways at the same time; return what each has done."""
    # There is no job yet, so each program ends at once; it is known by its name then.
    for name, (program, _) in _named().items():
        lab.programs.run(name, text_of(LESSON, program)).wait(within=START_SECONDS)
    return repeat(lab, runs, HEADING, partial(_once, lab), told, say)


def written(found: Repeated[Done]) -> list[str]:
    """Return the section of the page."""
    rows = by_name(found.runs)
    return [section(HEADING, TEXT, found.told, table("worker", Account._fields, rows), see=SEE)]


def sections(lab: Lab, runs: int, say: Say) -> list[str]:
    """Measure, and return the section of the page."""
    return written(measured(lab, runs, say))


def told(run: Done) -> str:
    """Return in a line what was lost, and done again."""
    return ", ".join(f"{way}: {of.lost} lost, {of.twice} twice" for way, of in run.items())


def _once(lab: Lab) -> Done:
    """Kill a worker of each way. Raises LabError if one was not killed as often as it is told."""
    with ThreadPoolExecutor(len(WAYS)) as pool:
        killed = zip(WAYS, _named().items(), strict=True)
        under_way = {way: pool.submit(kill, lab, name) for way, (name, (_, kill)) in killed}
    done = {}
    for way, future in under_way.items():
        ending, done[way] = future.result()
        if ending.killed != KILLS or ending.fault:
            raise LabError(
                f"the worker '{way}' was killed {ending.killed} times, not {KILLS}",
                ending.fault or "the machine has too much to do",
            )
    return done


def _named() -> dict[str, tuple[str, Run]]:
    """Return the ways by the names under which their programs run."""
    return {f"worker_{number}": way for number, way in enumerate(WAYS.values())}


def text_of(path: Path, name: str) -> str:
    """Return the text of a program of a lesson, with its solution. Raises KeyError if there is none."""
    cells = [cell.source for cell in lesson.read(path).cells if cell.kind == "code" and not cell.is_tried]
    return dict(held for source in cells if (held := code_names.program(source)))[name]
