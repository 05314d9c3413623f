"""Run the faults of labs 06, 10 and 11 many times; write what was lost and doubled into docs/guarantees.md.

That is `make guarantees`. The ledger of each producer says it, the invoices of each worker, and the books of
each bank: nothing on the page is written by hand but its texts. With --runs 3 it is quicker, and says less.
With --part transfers only these are measured, and the other parts of the page stay as they are.
"""

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from tools.publish import killed_transfers, killed_workers
from tools.publish.killed_transfers import Runs
from tools.publish.killed_workers import Account, Accounts

PAGE = ROOT / "docs" / "guarantees.md"
LAB, RUNS = "10", 20
PARTS = ("faults", "workers", "transfers")
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
was reported to the program as an error. *Stored* counts each record once, however often the log holds it;
lab 10's table counts every copy. With `acks=0` no broker acknowledges anything: there *acknowledged* means
only that the client reported the record as sent. A single number was the same in every run; "98–100" was not.

{measured}
"""
MEASURED = "Measured with {versions}."
FAULT = """\
## {name}

{text}

{runs}.
"""
WORKERS = """\
## A worker is killed between read, work and commit

Workers read 40 orders and write an invoice for each: the programs of lab 06. Each is killed twice and started
again. The first time, order 7 is read and its invoice not written (who commits by itself, each
{seconds:.0f} s, has done so meanwhile); the second time, the invoice of order 13 is
written, and nothing was committed after it. For the worker with a database that is just before the `INSERT`
of order 7, and just before the `COMMIT` of order 13. *Lost* has no invoice, *twice* has more than one.

{runs}.
"""
TRANSFERS = """\
## A worker of transfers is killed in ten places

Workers read {count} transfers between accounts, one at a time, and write two entries for each into another
topic: the programs of lab 11. Each is killed once in each of the places below, and started again with the
same `transactional.id`. A reader of committed records sees a transfer *once* (its two entries), not at all
(*lost*), *twice* (both entries twice) or *in part*. *Entries stored* are all in the log, also those of
transactions that were aborted: a reader with `read_uncommitted` gets them, too.

{runs}.
"""
PLACES = """\
And what a reader of committed records saw in the end of the transfer that was in work at each kill. "–": the
worker never comes there, and was killed between two transfers. A number in brackets says in how many runs.
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
        lab.close()  # its producers are not used again
    return tally


def sections(tally: Tally | None, workers: Accounts | None, transfers: Runs | None) -> Iterator[str]:
    """Yield a section of the page for each fault of the parts that were measured."""
    for name, of_fault in (tally or {}).items():
        table = _table("set-up", Verdict._fields, {f"`{of}`": found for of, found in of_fault.items()})
        runs = counted(max(map(len, of_fault.values())), "run")
        yield f"{FAULT.format(name=name, text=FAULTS[name][1], runs=runs)}\n{table}"
    if workers:
        runs = counted(max(map(len, workers.values())), "run")
        text = WORKERS.format(seconds=killed_workers.COMMIT_SECONDS, runs=runs)
        yield f"{text}\n{_table('worker', Account._fields, workers)}"
    if transfers:
        runs = counted(max(map(len, transfers.values())), "run")
        accounts = {way: [run.account for run in of] for way, of in transfers.items()}
        table = _table("worker", killed_transfers.COLUMNS, accounts)
        rows = killed_transfers.places(transfers).items()
        told = _lines("killed", list(transfers), [[place, *words] for place, words in rows], "---")
        yield f"{TRANSFERS.format(count=killed_transfers.COUNT, runs=runs)}\n{table}\n{PLACES}\n{told}"


def page(measured: Iterable[str], versions: Iterable[str], old: str = "") -> str:
    """Return the page: the sections that were measured, and those of the old page that were not.

    Raises ValueError if one that stays was measured with other versions.
    """
    with_these = MEASURED.format(versions=", ".join(versions))
    new = {_heading(section): section for section in measured}
    was, *kept = re.split(r"^(?=## )", old, flags=re.MULTILINE)
    stays = {name: section.rstrip() + "\n" for section in kept if (name := _heading(section)) not in new}
    if stays and with_these not in was.splitlines():
        raise ValueError("its other parts were measured with other versions: measure all parts")
    found = {**stays, **new}
    order = [*(f"## {name}" for name in FAULTS), _heading(WORKERS), _heading(TRANSFERS)]
    return "\n".join([HEAD.format(measured=with_these), *(found[name] for name in order if name in found)])


def main(arguments: list[str] | None = None, path: Path = PAGE) -> int:
    """Run the command line; return 0 if the page was written."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS, metavar="N", help=f"how often each fault ({RUNS})")
    parser.add_argument("--part", choices=PARTS, action="append", help="only this part; may be given twice")
    asked = parser.parse_args(arguments)
    if asked.runs < 1:
        print(f"✗ {asked.runs} runs measure nothing: give at least 1.", file=sys.stderr)
        return 2
    parts = asked.part or PARTS
    with environment.bench():
        lab = open_lab(LAB)
        try:
            versions = list(_versions(lab))
            old = path.read_text("utf-8") if path.exists() and len(parts) < len(PARTS) else ""
            try:
                page([], versions, old)  # before anything is measured: may the other parts stay?
            except ValueError as fault:
                print(f"✗ {path.name} stays as it is: {fault}.", file=sys.stderr)
                return 1
            tally = measured(lab, asked.runs, _say) if "faults" in parts else None
            workers = killed_workers.measured(lab, asked.runs, _say) if "workers" in parts else None
            transfers = killed_transfers.measured(lab, asked.runs, _say) if "transfers" in parts else None
        finally:
            lab.close()
            lab.cluster.down()
    write_whole(path, page(sections(tally, workers, transfers), versions, old).encode())
    print(f"{path.name} was written.")
    return 0


def _heading(section: str) -> str:
    return section.partition("\n")[0].strip()


def _say(text: str) -> None:
    print(text, flush=True)


def _table(what: str, columns: Sequence[str], rows: Mapping[str, Sequence[tuple[int, ...]]]) -> str:
    return _lines(what, columns, [[name, *_cells(found)] for name, found in rows.items()], "--:")


def _lines(what: str, columns: Sequence[str], rows: Iterable[Sequence[str]], rule: str) -> str:
    lines = [f"| {what} | {' | '.join(columns)} |", f"|---{f'|{rule}' * len(columns)}|"]
    lines += [f"| {' | '.join(cells)} |" for cells in rows]
    return "\n".join(lines) + "\n"


def _cells(found: Sequence[tuple[int, ...]]) -> list[str]:
    columns = zip(*found, strict=True)
    return [str(min(c)) if min(c) == max(c) else f"{min(c)}–{max(c)}" for c in map(tuple, columns)]


def _versions(lab: Lab) -> Iterable[str]:
    logs = [lab.cluster.log(n).read_text("utf-8", "replace") for n in lab.cluster.brokers]
    running = sorted({found[1] for log in logs if (found := AT_START.search(log))})
    yield f"Kafka {' and '.join(running)}"
    yield f"confluent-kafka {version('confluent-kafka')}"
    yield f"librdkafka {confluent_kafka.libversion()[0]}"
