"""On a cluster that is not the learner's: the recording of what cannot be done there."""

import gzip
import zlib
from typing import Any

import msgspec

from threebrokers import paths, theme
from threebrokers.errors import NotYoursError
from threebrokers.notebook import tell
from threebrokers.recorder import Recording
from threebrokers.recorder.data import RecordingData
from threebrokers.verdict import Box

TOLD = "So it went on three brokers of the course, recorded"


class _Act(msgspec.Struct):
    """What was recorded of one part of a lab's experiment."""

    seen: RecordingData


class _File(msgspec.Struct):
    """A lab's experiment, as it was recorded for `threebrokers demo`."""

    acts: dict[str, _Act]


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
