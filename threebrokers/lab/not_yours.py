"""On a cluster that is not the learner's: what needs power over brokers is skipped."""

import ast
from collections.abc import Iterable

from threebrokers import cells
from threebrokers.cells import CellRun, Fault
from threebrokers.errors import LabError, NotYoursError
from threebrokers.lab import attempt
from threebrokers.lab.outcomes import Outcome, Skipped

# What runs where a cell was refused; a lesson's own names, which every cell may use.
POWER, EVERYWHERE = "CLUSTER_AUTHORIZATION_FAILED", frozenset({"lab"})


def skipped(number: str, check: str, said: Outcome | LabError) -> Skipped | None:
    """Return that exercise `number` is skipped, if what is `said` comes of a cluster that others own.

    That is if the check asked for what needs power over brokers, if the exercise's cell did, or if it uses
    what an earlier cell could not make for this reason.
    """
    if isinstance(said, NotYoursError):
        return _skipped(number, said.what)
    history = cells.history()
    if history is None or not isinstance(said, Outcome):
        return None
    refused = [run for run in history.runs if run.fault and needs_power(run.fault)]
    running = history.running
    if not refused or running is None:
        return None
    names = attempt.given(running, check)
    run = attempt.find(history, number, names)
    used = set(names) | (reads(run) if run else set())
    if (run in refused) or used & without_value(history.runs):
        return _skipped(number, (run if run in refused else refused[-1]).fault)
    return None


def needs_power(fault: Fault) -> bool:
    """Tell whether a cell ended because the cluster is not the learner's."""
    return fault.kind == NotYoursError.__name__ or POWER in fault.text


def without_value(runs: Iterable[CellRun]) -> frozenset[str]:
    """Return the names whose values come from cells that were refused, or from others that use such names."""
    names: set[str] = set()
    for run in runs:
        if (run.fault and needs_power(run.fault)) or reads(run) & names:
            names |= run.assigned - EVERYWHERE
        else:
            names -= run.assigned
    return frozenset(names)


def reads(run: CellRun) -> set[str]:
    """Return the names that a cell uses."""
    return {
        node.id
        for node in ast.walk(run.code)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }


def _skipped(number: str, why: str | Fault | None) -> Skipped:
    text = why.text if isinstance(why, Fault) else why or ""
    what = text.partition(": without")[0].rstrip(".… ")
    if POWER in what or not what:
        what = "The cluster is not yours, and this needs power over its brokers"
    return Skipped(f"Exercise {number} is skipped, and counts as neither right nor wrong: {_lower(what)}.")


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
