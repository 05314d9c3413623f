"""What the tests took and how they ended: by part, by file, by lab."""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from rich import box
from rich.console import Console
from rich.table import Table

from tools.proof.jobs import Ended

WIDTH = 110
SLOW_SECONDS = 10.0  # a file of tests that takes less is not told by itself
# What faulthandler writes: one thread after the other, the innermost call first, and the main thread last.
HUNG = re.compile(r"Timeout \(\d+:\d\d:\d\d\)!\n.*^(?:Current t|T)hread .*?\n((?:  File .*\n)+)", re.M | re.S)
WORDS = 700  # so many characters say why a test is red: all of it stands where its job ended


@dataclass(frozen=True)
class Counts:
    """How many tests ended in which way."""

    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.passed + other.passed,
            self.failed + other.failed,
            self.errors + other.errors,
            self.skipped + other.skipped,
        )

    def __str__(self) -> str:
        told = {"failed": self.failed, "passed": self.passed, "skipped": self.skipped}
        told["error" if self.errors == 1 else "errors"] = self.errors
        return ", ".join(f"{count} {word}" for word, count in told.items() if count) or "no tests ran"


def counts(xml: Path) -> Counts:
    """Read the results of a job, from its file and from those beside it that begin alike.

    A file that is not there, or broken off, tells of no test.
    """
    found = Counts()
    for suite in _suites(xml):
        bad = {name: int(suite.get(name, 0)) for name in ("failures", "errors", "skipped")}
        passed = int(suite.get("tests", 0)) - sum(bad.values())
        found += Counts(passed, bad["failures"], bad["errors"], bad["skipped"])
    return found


def files(xml: Path) -> dict[str, float]:
    """Return how long the tests of each file took (s), the longest first."""
    seconds: dict[str, float] = defaultdict(float)
    for suite in _suites(xml):
        for case in suite.iter("testcase"):
            name = case.get("classname", "").split(".Test")[0].rpartition(".")[2]
            seconds[name] += float(case.get("time", 0))
    return dict(sorted(seconds.items(), key=lambda item: -item[1]))


def red(xml: Path) -> list[str]:
    """Return the names of the tests that failed or ended in an error."""
    return [name for name, _ in _reds(xml)]


def why_red(one: Ended) -> list[str]:
    """Return what a job's red tests say, each in short; of a job that tells of none, how it ended.

    Whoever sees only the end of a long run still knows what to mend.
    """
    told = [f"{name}: {_short(text)}" for name, text in _reds(one.results)]
    if hung := HUNG.search(one.output):
        told.append(f"{one.job}, hung: {hung[1][:WORDS]}")
    return told or [f"{one.job}, at its end: {_short(one.output[-WORDS:])}"]


def show(ended: list[Ended], wall: float, lanes: int, console: Console) -> None:
    """Print a table of the parts, one of the labs, and a closing line as pytest has it."""
    console.print(_parts(ended))
    labs = sorted({one.job.lab for one in ended} - {""})
    if labs:
        console.print(_labs(ended, labs, lanes))
    total = sum((counts(one.results) for one in ended), Counts())
    if cut := [str(one.job) for one in ended if one.interrupted]:
        console.print(f"Ended before their time: {'; '.join(cut)}")
    if failed := [one for one in ended if one.code and (not one.interrupted or red(one.results))]:
        for text in (text for one in failed for text in why_red(one)):
            console.print(f"✗ {text}\n", markup=False, soft_wrap=True)
        console.print(f"Failed: {'; '.join(str(one.job) for one in failed)}")
    busy = sum(one.seconds for one in ended)
    console.print(f"{busy:.0f} s of tests in {lanes} lanes, {wall:.0f} s by the clock")
    minutes, seconds = divmod(round(wall), 60)
    console.print(f"{total} in {wall:.2f}s (0:{minutes:02d}:{seconds:02d})")


def _parts(ended: Iterable[Ended]) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    for title in ("part", "what", "tests", "seconds", "of these"):
        table.add_column(title, justify="right" if title == "seconds" else "left", overflow="fold")
    for one in sorted(ended, key=lambda one: (one.job.part, one.job.name)):
        slow = [f"{name} {took:.0f}" for name, took in files(one.results).items() if took > SLOW_SECONDS]
        table.add_row(
            f"{'–' if one.interrupted else '✓' if one.code == 0 else '✗'} {one.job.part}",
            one.job.name,
            str(counts(one.results)),
            f"{one.seconds:.0f}",
            ", ".join(slow) if len(slow) > 1 else "",
        )
    return table


def _labs(ended: list[Ended], labs: list[str], lanes: int) -> Table:
    parts = sorted({one.job.part for one in ended if one.job.lab}, reverse=True)
    table = Table(box=box.SIMPLE_HEAD, title="Seconds for each lab", title_justify="left")
    table.add_column("lab")
    for title in (*parts, "of which exercises", "in all", f"share of the clock ({lanes} lanes)"):
        table.add_column(title, justify="right")
    for lab in labs:
        own = [one for one in ended if one.job.lab == lab]
        took = [sum(one.seconds for one in own if one.job.part == part) for part in parts]
        tries = sum(files(one.results).get("test_exercises", 0.0) for one in own)
        told = [*took, tries, sum(took), sum(took) / lanes]
        table.add_row(lab, *(f"{seconds:.0f}" if seconds else "–" for seconds in told))
    return table


def _reds(xml: Path) -> list[tuple[str, str]]:
    """Return the name of each test that failed or ended in an error, and what it says."""
    return [
        (case.get("name") or "", told.text or told.get("message") or "")
        for suite in _suites(xml)
        for case in suite.iter("testcase")
        for told in (*case.findall("failure"), *case.findall("error"))
    ]


def _short(text: str) -> str:
    """Return what an assertion says, the lines marked E; else the beginning and the end of the text."""
    lines = text.strip().splitlines()
    marked = [line for line in lines if line.startswith("E ")]
    chosen = "\n".join(marked or lines)
    half = WORDS // 2
    return chosen if len(chosen) <= WORDS else f"{chosen[:half]} … {chosen[-half:]}"


def _suites(xml: Path) -> list[ElementTree.Element]:
    found: list[ElementTree.Element] = []
    for path in sorted(xml.parent.glob(f"{xml.stem}.*")):
        try:
            found += ElementTree.parse(path).getroot().iter("testsuite")  # noqa: S314 (pytest wrote it)
        except ElementTree.ParseError:
            continue
    return found
