"""What was done to the brokers of a home on purpose: what happens without being asked then stands out."""

import json
import os
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from threebrokers.cluster.actions import Action
from threebrokers.files import set_aside

MOST_BYTES = 1_000_000  # some 12,000 actions


def write(home: Path, action: Action) -> None:
    """Add an action to the home's diary; a diary that cannot be written stops nobody."""
    line = json.dumps(asdict(action)).encode() + b"\n"
    try:
        file = os.open(_path(home), os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    except OSError:
        return
    try:
        size = os.fstat(file).st_size
        half = size > 0 and os.pread(file, 1, size - 1) != b"\n"
        os.write(file, b"\n" + line if half else line)  # at once: several processes may write
    except OSError:
        return
    finally:
        os.close(file)


def trim(home: Path) -> None:
    """Begin a new file if the present one is large; what the one before it told is forgotten."""
    set_aside(_path(home), MOST_BYTES)


def read(home: Path) -> list[Action]:
    """Return what was done, oldest first; a line that tells of no action is left out."""
    lines: list[str] = []
    for path in (_path(home).with_name("actions.jsonl.1"), _path(home)):
        with suppress(OSError):
            lines += path.read_text("utf-8", "replace").splitlines()
    return [action for line in lines if (action := _action(line))]


def _action(line: str) -> Action | None:
    try:
        told = json.loads(line)
        return Action(float(told["at"]), str(told["kind"]), int(told["broker"]), str(told["more"]))
    except (ValueError, TypeError, KeyError):  # half a line: the disk was full
        return None


def _path(home: Path) -> Path:
    return home / "actions.jsonl"
