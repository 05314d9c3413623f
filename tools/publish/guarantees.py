"""Make faults happen, many times; write what was lost and doubled into docs/guarantees.md.

That is `make guarantees`. The ledger of each producer says it, the notes of a program that was killed, the
invoices of each worker, and the books of each bank: nothing on the page is written by hand but its texts.
With --runs 3 it is quicker, and says less. With --part transfers only these are measured, and the other parts
of the page stay as they are. Each part is written as soon as it is measured.
"""

import argparse
import re
import sys
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Protocol

import confluent_kafka

from threebrokers.files import write_whole
from threebrokers.lab.lab import Lab
from threebrokers.lab.opening import open_lab
from tools import ROOT
from tools.proof import environment
from tools.publish import (
    first_refused,
    killed_transfers,
    killed_workers,
    lone_leaders,
    producer_faults,
    resent,
    rolling_restarts,
)
from tools.publish.verdicts import Say

PAGE = ROOT / "docs" / "guarantees.md"
LAB, RUNS = "10", 20
AT_START = re.compile(r"Kafka version: (\S+)")


class Part(Protocol):
    """A part of the page: its sections' headings, and what measures and writes them."""

    @property
    def HEADINGS(self) -> Sequence[str]: ...  # noqa: N802, D102

    def sections(self, lab: Lab, runs: int, say: Say) -> list[str]: ...  # noqa: D102


# In the order of the page.
PARTS: dict[str, Part] = {
    "faults": producer_faults,
    "resent": resent,
    "restarts": rolling_restarts,
    "alone": lone_leaders,
    "refused": first_refused,
    "workers": killed_workers,
    "transfers": killed_transfers,
}
HEAD = """\
<!-- Written by `make guarantees`: do not edit. -->

# What was lost, and what came twice

Each fault below was made to happen again and again on three real brokers; its section says how often. Unless
a section says otherwise, producers of five set-ups send 200 records each to one partition with three replicas
and `min.insync.replicas=2`, and the fault hits all of them at once. Ledgers compare what was attempted,
acknowledged and stored: *lost* was acknowledged and is not stored, *twice* is stored more than once, *failed*
was reported to the program as an error. *Stored* counts each record once, however often the log holds it;
lab 10's table counts every copy. With `acks=0` no broker acknowledges anything: there *acknowledged* means
only that the client reported the record as sent. A single number was the same in every run; "98–100" was not.

{measured}
"""
MEASURED = "Measured with {versions}."


def page(measured: Iterable[str], versions: Iterable[str], old: str = "") -> str:
    """Return the page: the sections that were measured, and those of the old page that were not.

    Raises ValueError if one that stays was measured with other versions.
    """
    with_these = MEASURED.format(versions=", ".join(versions))
    new = {_heading(section): section for section in measured}
    order = [f"## {heading}" for part in PARTS.values() for heading in part.HEADINGS]
    was, *kept = re.split(r"^(?=## )", old, flags=re.MULTILINE)
    stays = {name: section.rstrip() + "\n" for section in kept if (name := _heading(section)) not in new}
    if stays and with_these not in was.splitlines():
        raise ValueError("its other parts were measured with other versions: measure all parts")
    found = {**stays, **new}
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
    parts = asked.part or list(PARTS)
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
            for part in parts:
                old = page(PARTS[part].sections(lab, asked.runs, _say), versions, old)
                write_whole(path, old.encode())
                print(f"{path.name} has the part '{part}'.", flush=True)
        finally:
            lab.close()
            lab.cluster.down()
    return 0


def _heading(section: str) -> str:
    return section.partition("\n")[0].strip()


def _say(text: str) -> None:
    print(text, flush=True)


def _versions(lab: Lab) -> Iterable[str]:
    logs = [lab.cluster.log(n).read_text("utf-8", "replace") for n in lab.cluster.brokers]
    running = sorted({found[1] for log in logs if (found := AT_START.search(log))})
    yield f"Kafka {' and '.join(running)}"
    yield f"confluent-kafka {version('confluent-kafka')}"
    yield f"librdkafka {confluent_kafka.libversion()[0]}"
