"""On a cluster that is not the learner's: what needs power over brokers is skipped, and a recording shown."""

import ast
import gzip
import zlib
from collections.abc import Iterable
from typing import Any

import msgspec

from threebrokers import cells, paths, theme
from threebrokers.cells import CellRun, Fault
from threebrokers.errors import LabError, NotYoursError
from threebrokers.lab import attempt
from threebrokers.lab.outcomes import Outcome, Skipped
from threebrokers.notebook import tell
from threebrokers.recorder import Recording
from threebrokers.recorder.data import RecordingData
from threebrokers.verdict import Box

# What runs where a cell was refused; a lesson's own names, which every cell may use.
POWER, EVERYWHERE = "CLUSTER_AUTHORIZATION_FAILED", frozenset({"lab"})
TOLD = "So it went on three brokers of the course, recorded"


class _Act(msgspec.Struct):
    """What was recorded of one part of a lab's experiment."""

    seen: RecordingData


class _File(msgspec.Struct):
    """A lab's experiment, as it was recorded for `threebrokers demo`."""

    acts: dict[str, _Act]


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


def recording(number: str, kind: str) -> Recording | None:
    """Return what was recorded of this lab's experiment with such an action ("kill"); None if there is none.

    Without a kind it is the first part in which anything was done to a broker.
    """
    path = paths.PACKAGE / "demo" / "recordings" / f"lab{number}.json.gz"
    try:
        acts = msgspec.json.decode(gzip.decompress(path.read_bytes()), type=_File).acts
    except (OSError, EOFError, zlib.error, msgspec.MsgspecError):
        return None
    for act in acts.values():
        done = [action.kind for action in act.seen.actions]
        if done and kind in ("", done[0]):
            return Recording(act.seen)
    return None


class Shown:
    """Shows the recordings of one lab, the last one alone."""

    def __init__(self, number: str) -> None:
        self._number = number
        self._panel: Any = None

    def __call__(self, fault: NotYoursError) -> None:
        """Show the recording of what was asked for, if there is one."""
        found = recording(self._number, fault.kind)
        if found is None:
            return
        tell(Box(theme.OPEN, f"{theme.OPEN.sign} {TOLD}:", f"{TOLD}:"))
        panel: Any = found.replay()
        if self._panel is not None:
            self._panel.close()
        self._panel = panel
        tell(panel)


def _skipped(number: str, why: str | Fault | None) -> Skipped:
    text = why.text if isinstance(why, Fault) else why or ""
    what = text.partition(": without")[0].rstrip(".… ")
    if POWER in what or not what:
        what = "The cluster is not yours, and this needs power over its brokers"
    return Skipped(f"Exercise {number} is skipped, and counts as neither right nor wrong: {_lower(what)}.")


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
