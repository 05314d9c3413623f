"""What was done to the brokers of a home on purpose: what happens without being asked then stands out."""

import fcntl
import json
import os
import threading
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from threebrokers.cluster.actions import Action
from threebrokers.files import set_aside

MOST_BYTES = 1_000_000  # some 12,000 actions


def write(home: Path, action: Action) -> None:
    """Add an action to the home's log, whole or not at all; a log that cannot be written stops nobody."""
    line = json.dumps(asdict(action)).encode() + b"\n"
    try:
        file = os.open(_path(home), os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError:
        return
    try:
        with suppress(OSError):  # some network file systems know no lock
            fcntl.flock(file, fcntl.LOCK_EX)
        _append(file, line)
    except OSError:
        return
    finally:
        os.close(file)


def _append(file: int, line: bytes) -> None:
    """Write a line after what is there. Raises OSError; what was written of it then is taken back."""
    size = os.fstat(file).st_size
    left = b"\n" + line if size and os.pread(file, 1, size - 1) != b"\n" else line  # after half a line
    try:
        while left:
            left = left[os.write(file, left) :]
    except OSError:
        os.ftruncate(file, size)
        raise


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


class ActionReader:
    """Reads what is added to a home's log from now on, whoever adds it. Several threads may ask it.

    It holds the file open: so it still gets the last lines of one that was set aside or deleted, and
    another file is never taken for the one that it knows.
    """

    def __init__(self, home: Path) -> None:
        self._path = _path(home)
        self._lock = threading.Lock()
        self._file = self._opened()
        self._place = 0 if self._file is None else os.fstat(self._file).st_size
        self._closed = False

    def read(self) -> list[Action]:
        """Return what was added since the last call, oldest first; nothing more after the end."""
        with self._lock:
            if self._closed:
                return []
            found = self._rest()
            if not self._is_current():
                found += self._rest()  # somebody may have written to it until it was set aside
                self._leave()
                self._file = self._opened()
                found += self._rest()
            return found

    def close(self) -> None:
        """Let the file go."""
        with self._lock:
            self._closed = True
            self._leave()

    def _opened(self) -> int | None:
        try:
            return os.open(self._path, os.O_RDONLY)
        except OSError:  # nothing was done here yet
            return None

    def _is_current(self) -> bool:
        try:
            return self._file is not None and os.path.samestat(os.fstat(self._file), self._path.stat())
        except OSError:
            return False

    def _rest(self) -> list[Action]:
        """Return the actions from this place to the end of the last whole line."""
        if self._file is None:
            return []
        with suppress(OSError):
            size = os.fstat(self._file).st_size
            if size < self._place:  # somebody has emptied it
                self._place = 0
            whole, newline, _ = os.pread(self._file, size - self._place, self._place).rpartition(b"\n")
            self._place += len(whole + newline)
            lines = whole.decode("utf-8", "replace").splitlines()
            return [action for line in lines if (action := _action(line))]
        return []

    def _leave(self) -> None:
        if self._file is not None:
            os.close(self._file)
        self._file, self._place = None, 0


def _action(line: str) -> Action | None:
    try:
        told = json.loads(line)
        return Action(float(told["at"]), str(told["kind"]), int(told["broker"]), str(told["more"]))
    except (ValueError, TypeError, KeyError):  # half a line: the disk was full
        return None


def _path(home: Path) -> Path:
    return home / "actions.jsonl"
