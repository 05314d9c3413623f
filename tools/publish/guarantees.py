"""Run the faults of lab 10 many times, and write what was lost and doubled into docs/guarantees.md.

That is `make guarantees`. The ledger of each producer says it: nothing on the page is written by hand but its
head. With --runs 3 it is quicker, and says less.
"""

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import confluent_kafka

from threebrokers.files import write_whole
from threebrokers.lab.lab import Lab
from threebrokers.lab.opening import open_lab
from threebrokers.lab.scenarios import killed_leader, lost_answers
from threebrokers.lab.scenarios.guarantees import Trials
from threebrokers.ledger import Balance
from threebrokers.text import counted
from tools import ROOT
from tools.proof import environment

PAGE = ROOT / "docs" / "guarantees.md"
LAB, RUNS = "10", 20
AT_START = re.compile(r"Kafka version: (\S+)")

SET_UPS: dict[str, dict[str, Any]] = {
    "acks=0": {"acks": 0},
    "acks=1": {"acks": 1},
    "acks=all, retries=0": {"acks": "all", "retries": 0},
    "acks=all": {"acks": "all"},
    "acks=all, enable.idempotence": {"acks": "all", "enable.idempotence": True},
}
Fault = Callable[[Lab, Mapping[str, Mapping[str, Any]]], Trials]
# What is done, and to whom, in the words of the page.
FAULTS: dict[str, tuple[Fault, str]] = {
    "The leader dies, and it alone has the records": (
        killed_leader,
        "All three replicas have the first 100 records of each producer. Then the leader is cut off from the "
        "other brokers, gets the last 100, acknowledges what it may, and is killed.",
    ),
    "The answer gets lost": (
        lost_answers,
        "The leader stores the last 100 records of each producer, and the connections break before its "
        "answers arrive. No broker fails.",
    ),
}
HEAD = """\
<!-- Written by `make guarantees`: do not edit. -->

# What was lost, and what came twice

Producers of five set-ups send 200 records each to one partition with three replicas and
`min.insync.replicas=2`, and a fault hits all of them at once. Their ledgers compare what was attempted,
acknowledged and stored: *lost* was acknowledged and is not stored, *twice* is stored more than once, *failed*
was reported to the program as an error. A single number was the same in every run; "98–100" was not.

{runs} of each fault, with {versions}.
"""


class Verdict(NamedTuple):
    """What one ledger says at the end: how many of its records; the page's columns, in order."""

    attempted: int
    acknowledged: int
    failed: int
    stored: int
    lost: int
    twice: int

    @classmethod
    def of(cls, balance: Balance) -> "Verdict":
        """Count what a balance holds; `stored` counts each record once."""
        return cls(
            len(balance.attempted),
            len(balance.acknowledged),
            len(balance.failed),
            len({entry.number for entry in balance.stored}),
            len(balance.lost),
            len({entry.number for entry in balance.duplicated}),
        )


Tally = Mapping[str, Mapping[str, Sequence[Verdict]]]


def measured(lab: Lab, runs: int, say: Callable[[str], None]) -> Tally:
    """Run each fault so many times; return for each fault what every set-up's ledger said, run by run."""
    tally: dict[str, dict[str, list[Verdict]]] = {name: {of: [] for of in SET_UPS} for name in FAULTS}
    for run in range(1, runs + 1):
        for name, (fault, _) in FAULTS.items():
            balances = fault(lab, SET_UPS).balances
            for of, verdicts in tally[name].items():
                verdicts.append(Verdict.of(balances[of]))
            told = ", ".join(f"{of}: {v[-1].lost} lost, {v[-1].twice} twice" for of, v in tally[name].items())
            say(f"run {run} of {runs}, {name}: {told}")
    return tally


def page(tally: Tally, versions: Iterable[str]) -> str:
    """Return the page."""
    runs = max(len(verdicts) for of_fault in tally.values() for verdicts in of_fault.values())
    parts = [HEAD.format(runs=counted(runs, "run"), versions=", ".join(versions))]
    for name, of_fault in tally.items():
        rows = [f"| {' | '.join(('set-up', *Verdict._fields))} |", f"|---{'|--:' * len(Verdict._fields)}|"]
        rows += [f"| `{of}` | {' | '.join(_cells(verdicts))} |" for of, verdicts in of_fault.items()]
        parts.append(f"## {name}\n\n{FAULTS[name][1]}\n\n" + "\n".join(rows) + "\n")
    return "\n".join(parts)


def main(arguments: list[str] | None = None, path: Path = PAGE) -> int:
    """Run the command line; return 0 if the page was written."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS, metavar="N", help=f"how often each fault ({RUNS})")
    runs = parser.parse_args(arguments).runs
    if runs < 1:
        print(f"✗ {runs} runs measure nothing: give at least 1.", file=sys.stderr)
        return 2
    with environment.bench():
        lab = open_lab(LAB)
        try:
            tally, versions = measured(lab, runs, lambda text: print(text, flush=True)), list(_versions(lab))
        finally:
            lab.close()
            lab.cluster.down()
    write_whole(path, page(tally, versions).encode())
    print(f"{path.name} was written.")
    return 0


def _cells(verdicts: Sequence[Verdict]) -> list[str]:
    columns = zip(*verdicts, strict=True)
    return [str(min(c)) if min(c) == max(c) else f"{min(c)}–{max(c)}" for c in map(tuple, columns)]


def _versions(lab: Lab) -> Iterable[str]:
    logs = [lab.cluster.log(n).read_text("utf-8", "replace") for n in lab.cluster.brokers]
    running = sorted({found[1] for log in logs if (found := AT_START.search(log))})
    yield f"Kafka {' and '.join(running)}"
    yield f"confluent-kafka {version('confluent-kafka')}"
    yield f"librdkafka {confluent_kafka.libversion()[0]}"
