"""What was done to the brokers of a home on purpose: what happens without being asked then stands out."""

import json
import os
from dataclasses import asdict
from pathlib import Path

from threebrokers.sight import Act


def write(home: Path, act: Act) -> None:
    """Add an act to the home's diary; a diary that cannot be written stops nobody."""
    line = json.dumps(asdict(act)) + "\n"
    try:
        file = os.open(_path(home), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    except OSError:
        return
    try:
        os.write(file, line.encode())  # one write for a line: several processes may write
    except OSError:
        return
    finally:
        os.close(file)


def read(home: Path) -> list[Act]:
    """Return everything that was done, oldest first."""
    try:
        lines = _path(home).read_text().splitlines()
    except OSError:
        return []
    return [Act(**json.loads(line)) for line in lines]


def _path(home: Path) -> Path:
    return home / "acts.jsonl"
