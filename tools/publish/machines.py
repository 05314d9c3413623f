"""Measure what each lab and a room of learners need of a machine, and write it into docs/machines.md.

`make machines` runs each solution in a box of 4 GB and two processors, which takes root, and as long as all
labs one after the other. `make room LEARNERS=8` lets learners work side by side. Each writes its own part.
"""

import argparse
import os
import platform
import re
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil
from rich.console import Console

from threebrokers.files import write_whole
from threebrokers.text import counted
from tools import ROOT
from tools.bench import room
from tools.bench.memory_box import memory_box
from tools.lessons import lesson as lessons
from tools.proof import environment, repeat

PAGE = ROOT / "docs" / "machines.md"
GIGABYTES, MINUTES, AT_ONCE = 4.0, 10.0, 2
LABS, ROOM = "## Each lab on a small machine", "## Learners on one server"
ROW = re.compile(r"^\| (\d+)", re.MULTILINE)


@dataclass(frozen=True)
class Need:
    """What one lab took in its box: memory (bytes), processes ended for want of it, and what failed."""

    stem: str
    memory: int
    killed: int
    failures: tuple[str, ...]

    def row(self) -> str:
        """Return its row of the page."""
        sign = "✓ yes" if not self.failures and not self.killed else "✗ no"
        return f"| {self.stem} | {self.memory / 1e6:,.0f} | {self.killed} | {sign} |"


def need(path: Path, limit: int, console: Console) -> Need:
    """Run a lesson's solution once in a box of so many bytes, brokers and Spark included."""
    lesson = lessons.read(path)
    with memory_box(limit) as box:
        with environment.bench():
            tally = repeat.repeat(lesson, 1, console, box.before)
        return Need(path.stem, box.most, box.killed, tuple(tally.failures))


def labs_part(needs: list[Need], limit: float, kept: str) -> str:
    """Return the part about labs; rows that stand there of labs that were not run now stay."""
    rows = {match[1]: line for line in kept.splitlines() if (match := ROW.match(line))}
    rows |= {one.stem[:2]: one.row() for one in needs}
    table = [
        "| lab | memory (MB) | processes ended | runs |",
        "|---|--:|--:|---|",
        *(rows[n] for n in sorted(rows)),
    ]
    return "\n".join([LABS, "", LABS_TEXT.format(limit=limit), *table, ""])


def room_part(measured: room.Room, kept: str) -> str:
    """Return the part about a room; rows of other numbers of learners stay."""
    rows = {int(match[1]): line for line in kept.splitlines() if (match := ROW.match(line))}
    slowest = max(float(one["slowest"]) for one in measured.told)
    cells = [
        str(measured.learners),
        f"{measured.memory / 1e9:.1f}",
        f"{measured.memory / measured.learners / 1e6:,.0f}",
        f"{measured.idle:.0%}",
        f"{measured.busy:.0%}",
        f"{statistics.median(measured.starts):.0f} ({max(measured.starts):.0f})",
        f"{measured.seconds / 60:g}",
        f"{measured.sum('acknowledged'):,}",
        str(measured.sum("kills")),
        str(measured.sum("lost")),
        str(measured.sum("twice")),
        f"{slowest:.1f}",
    ]
    rows[measured.learners] = f"| {' | '.join(cells)} |"
    head = [f"| {' | '.join(ROOM_COLUMNS)} |", "|" + "--:|" * len(ROOM_COLUMNS)]
    return "\n".join(
        [ROOM, "", ROOM_TEXT.format(machine=_machine()), *head, *(rows[n] for n in sorted(rows)), ""]
    )


def rewrite(path: Path, heading: str, made: Callable[[str], str]) -> None:
    """Write one part of the page anew; `made` gets the part that stands there now."""
    text = path.read_text("utf-8") if path.exists() else HEAD
    parts = re.split(r"(?m)^(?=## )", text)
    found = {part.partition("\n")[0]: part for part in parts[1:]}
    found[heading] = made(found.get(heading, ""))
    ordered = [found[name].rstrip("\n") + "\n" for name in (LABS, ROOM) if name in found]
    write_whole(path, "\n".join([parts[0].rstrip("\n") + "\n", *ordered]).encode())
    print(f"{path.name} was written.")


def main(arguments: list[str] | None = None, path: Path = PAGE) -> int:
    """Run the command line; return 0 if all labs ran, or nobody in the room lost a record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("labs", nargs="*", metavar="13", help="only these labs (all)")
    parser.add_argument(
        "--gigabytes", type=float, default=GIGABYTES, help=f"the size of the box ({GIGABYTES})"
    )
    parser.add_argument("--room", type=int, metavar="LEARNERS", help="measure a room of so many, and no lab")
    parser.add_argument("--minutes", type=float, default=MINUTES, help=f"how long they work ({MINUTES:g})")
    parser.add_argument("--at-once", type=int, default=AT_ONCE, help=f"how many start together ({AT_ONCE})")
    asked = parser.parse_args(arguments)
    if asked.room:
        found = room.measure(
            asked.room, asked.minutes * 60, asked.at_once, lambda text: print(text, flush=True)
        )
        rewrite(path, ROOM, lambda kept: room_part(found, kept))
        return int(bool(found.sum("lost") or found.sum("twice") or found.sum("unreported")))
    console = Console(highlight=False, markup=False, soft_wrap=True)
    needs = []
    for lesson in lessons.lessons(ROOT):
        if not asked.labs or lesson.stem[:2] in asked.labs:
            needs.append(need(lesson, int(asked.gigabytes * 1e9), console))
            console.print(needs[-1].row(), *needs[-1].failures, sep="\n")
            rewrite(path, LABS, lambda kept: labs_part(needs, asked.gigabytes, kept))
    return int(any(one.failures or one.killed for one in needs))


def _machine() -> str:
    memory = psutil.virtual_memory().total / 1e9
    return f"{counted(os.cpu_count() or 1, 'processor')}, {memory:.0f} GB, {platform.system()}"


HEAD = """\
<!-- Written by `make machines` and `make room`: do not edit. -->

# What a machine needs

Measured, not computed. JupyterLab's page needs a browser beside this, on the learner's own machine.
"""
LABS_TEXT = """\
Each solution was run from top to bottom in a control group of {limit:g} GB of memory and two processors, with
its brokers, its kernel and, in labs 12 to 15, Spark. *Memory* is the most that all its processes had of their
own at one time (looked at four times a second; files that the system keeps in memory are not counted).
*Processes ended* were ended by the system for want of memory. *Runs*: every experiment came true and every
exercise was solved.
"""
ROOM_COLUMNS = (
    "learners", "memory (GB)", "for each (MB)", "processors, idle", "at work",
    "start (s): median (last)", "minutes", "records", "kills", "lost", "twice", "slowest (s)",
)  # fmt: skip
ROOM_TEXT = """\
So many learners on one machine ({machine}), each with three brokers, a JupyterLab and a kernel. They start
two by two, then all work at once: each sends 20 records a second to a topic with three replicas
(`min.insync.replicas` 2, idempotent producer), and about once a minute kills one of the own brokers and
starts it again. *Memory* counts what processes share once. *Processors* is their share of all. *Slowest* is
the longest that one record waited for its acknowledgement, kills included.
"""
