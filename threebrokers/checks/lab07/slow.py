"""What lab 07 says of a worker that needs long for what it has polled."""

import ast
from collections.abc import Mapping
from typing import Any

from threebrokers import paths
from threebrokers.checks.expect import committed
from threebrokers.checks.expect_clients import expect_consumer
from threebrokers.checks.lab06.commits import OFFSETS, timed_commits
from threebrokers.kafka.clients import LabConsumer
from threebrokers.kafka.log_reader import read_log
from threebrokers.lab.attempt import attempt
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios import Clinic
from threebrokers.lab.scenarios.shifts import SCAN_SECONDS, SCANS
from threebrokers.ledger import place
from threebrokers.ledger.journal import Book

LEDGER = "`clinic.ledger.balance(clinic.scans)`"
CLOCKS_MS = 100  # less than a scan takes: the notebook's clock and the broker's are not always one
NOT_THIS = {
    "heartbeat.interval.ms": "heartbeats come from a thread of the client, also while your code works",
    "session.timeout.ms": "the session ends if heartbeats stop, and they do not: a thread of the client "
    "sends them while your code works",
}


def judge_slow(lab: Lab, worker: object, clinic: Clinic) -> None:
    """Raise NotYet unless every scan was examined once, and the worker was never thrown out."""
    consumer = expect_consumer("worker", worker)
    config: dict[str, Any] = consumer.config if isinstance(consumer, LabConsumer) else {}
    balance = clinic.ledger.balance(clinic.scans)
    if not (balance.delivered or balance.processed):
        raise NotYet(
            "no scan was delivered to the worker",
            f"it should examine all {SCANS}",
            "the worker's group and topic, and `while clinic.open:`",
        )
    done, again = len(balance.processed), len(balance.processed_again)
    if len(clinic.examined) < done:
        raise NotYet(
            "scans were noted as done, and nobody had examined them",
            "the ledger should hold what was done",
            "`clinic.examine(scan)`, which does the work and notes it",
        )
    if isinstance(consumer, LabConsumer) and not consumer.subscribed and _assigns(clinic):
        raise NotYet(
            "the worker is in no group: its partition was given to it by hand, with assign()",
            "it should stay a member",
            "`worker.subscribe([clinic.scans])`",
        )
    if clinic.thrown_out and len(balance.delivered_by) > 1:
        raise NotYet(
            f"{len(balance.delivered_by)} consumers have worked, one after the other",
            "one worker should do all, and stay a member",
            "the line that makes `worker`: it belongs before the loop, and `close()` behind it",
        )
    if clinic.thrown_out:
        twice = f", and {again} scans were examined twice" if again else ""
        early = not again and done >= SCANS
        raise NotYet(
            f"the worker was thrown out of its group{twice}{_why(_changed(config, clinic), early=early)}",
            "it should stay a member, and examine each scan once",
            f"{LEDGER}, and how long it works between two polls",
        )
    if balance.unprocessed:
        raise NotYet(
            f"{len(balance.unprocessed)} of {SCANS} scans were not examined",
            "less work is no cure: all of them should be",
            f"{LEDGER}, and `clinic.examine(…)`",
        )
    if again:
        raise NotYet(
            f"{again} times a scan was examined again",
            "each should be examined once",
            f"{LEDGER}, and when the worker commits",
        )
    if max(committed(clinic.lab, clinic.group, clinic.scans).values(), default=0) < SCANS:
        raise NotYet(
            "the group has not committed all scans",
            "what is done should be committed",
            "`worker.commit()`, and the group: `clinic.group`",
        )
    _expect_work_first(*_times(lab, clinic))


def _assigns(clinic: Clinic) -> bool:
    """Tell whether a worker that is in no group now was in none before: the text of the try tells."""
    run = attempt()
    if run is None:
        return clinic.thrown_out
    called = {node.attr for node in ast.walk(run.code) if isinstance(node, ast.Attribute)}
    return "subscribe" not in called and (clinic.thrown_out or "assign" in called)


def _times(lab: Lab, clinic: Clinic) -> tuple[dict[int, int], list[tuple[int, int]]]:
    """Return when (ms) each scan was examined, and the commits of the worker's group, each with its time."""
    book = Book.joined(place(paths.home(), lab.number, clinic.scans))
    notes = [note for note in book.notes() if note.what == "processed" and note.offset is not None]
    done = {int(note.offset or 0): int(1000 * note.at) for note in notes}
    return done, timed_commits(read_log(lab.bootstrap, OFFSETS), clinic.group, clinic.scans)


def _expect_work_first(done: Mapping[int, int], commits: list[tuple[int, int]]) -> None:
    """Raise NotYet if a scan was committed before it was examined."""
    for committed_offset, at in commits:
        if early := [scan for scan in range(committed_offset) if done.get(scan, at) > at + CLOCKS_MS]:
            raise NotYet(
                f"the group had committed {committed_offset} when scan {early[0]} was not examined yet: who "
                "dies then has lost it",
                "what is done should be committed, and not what is only read",
                "the place of `worker.commit()` in the loop",
            )


def _changed(config: dict[str, Any], clinic: Clinic) -> dict[str, Any]:
    """Return the settings that are not the clinic's."""
    return {name: value for name, value in config.items() if clinic.settings.get(name) != value}


def _why(config: dict[str, Any], *, early: bool) -> str:
    if early:
        return (
            ", and nobody noticed because it had committed before the work: a crash would have lost the rest"
        )
    for name, words in NOT_THIS.items():
        if name in config:
            return f": {words}"
    limit = str(config.get("max.poll.interval.ms", "300000"))
    return f": it did not poll for longer than max.poll.interval.ms ({limit}); a scan takes {SCAN_SECONDS} s"
