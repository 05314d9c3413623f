"""What a ledger is made of: notes, written line by line while things happen."""

import errno
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from threebrokers import clock, files
from threebrokers.errors import LabError

PART = 1 << 20  # bytes that are read at once


class Number(NamedTuple):
    """A record's number: its producer (1, 2, … in its ledger) and its place in that one's row (0, 1, …)."""

    producer: int
    sequence: int


@dataclass(frozen=True, slots=True)
class Note:
    """One thing that happened to a record, at `at` (s since 1970).

    `what` is 'attempted', 'refused' (the client did not take it), 'acknowledged', 'failed', 'delivered'
    or 'processed'. `by` is the consumer's number in its ledger; `reason` is the error's name.
    """

    what: str
    number: Number
    topic: str
    at: float = 0
    partition: int | None = None
    offset: int | None = None
    by: int = 0
    reason: str = ""


class Book:
    """A file of notes. Each is one line, written at once: a process that is killed loses none of them."""

    def __init__(self, path: Path, run: str) -> None:
        self.path, self.run = path, run
        # Appended lines of several processes never mix. The file may be replaced: both handles keep this one.
        self._handle = os.open(path, os.O_RDWR | os.O_APPEND)
        self._half = False

    @classmethod
    def fresh(cls, path: Path) -> "Book":
        """Begin a new run; what another process still writes of an earlier run is not seen any more.

        Raises LabError if it cannot be written.
        """
        run = uuid4().hex[:8]
        with files.faults_told(path.parent):
            files.write_whole(path, _line({"run": run}))
        return cls(path, run)

    @classmethod
    def joined(cls, path: Path) -> "Book":
        """Go on with the run that another process has begun. Raises LabError if there is none."""
        try:
            with path.open("rb") as lines:
                return cls(path, str(json.loads(lines.readline())["run"]))
        except (OSError, ValueError, KeyError, TypeError):
            raise LabError(
                f"There is no ledger '{path.stem}' yet", "make it in the notebook with lab.ledger(…) first"
            ) from None

    def enlist(self, kind: str) -> int:
        """Return the number (1, 2, …) of a new 'producer', 'consumer', …, different in every process."""
        token = uuid4().hex
        self._write({"client": kind, "token": token, "pid": os.getpid()})
        tokens = [entry["token"] for entry in self._entries() if entry.get("client") == kind]
        return tokens.index(token) + 1

    def note(
        self,
        what: str,
        number: Number,
        topic: str,
        partition: int | None = None,
        offset: int | None = None,
        *,
        by: int = 0,
        reason: str = "",
    ) -> None:
        """Write down that something happened to a record, now. Raises LabError if the disk is full."""
        more = {"partition": partition, "offset": offset, "by": by or None, "reason": reason or None}
        self._write(
            {"what": what, "number": number, "topic": topic, "at": round(clock.now(), 6)}
            | {name: value for name, value in more.items() if value is not None}
        )

    def notes(self) -> Iterator[Note]:
        """Yield everything that was noted so far, oldest first."""
        for entry in self._entries():
            if "what" in entry:
                yield Note(**{**entry, "number": Number(*entry["number"])})

    def _write(self, entry: dict[str, Any]) -> None:
        line = _line(entry)
        with files.faults_told(self.path):
            if os.write(self._handle, b"\n" * self._half + line) == len(line) + self._half:
                self._half = False
                return
            self._half = True  # the next line must not go on where this one broke off
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _entries(self) -> Iterator[dict[str, Any]]:
        # By place, and to where the end is now: what another thread writes would move the handle's own place.
        place, end, rest = 0, os.fstat(self._handle).st_size, b""
        while place < end and (part := os.pread(self._handle, min(PART, end - place), place)):
            place += len(part)
            # The last one may be under way, and one may be half written: the disk was full.
            *lines, rest = (rest + part).split(b"\n")
            yield from filter(None, map(_entry, lines))

    def __del__(self) -> None:
        if hasattr(self, "_handle"):
            os.close(self._handle)


def _entry(line: bytes) -> dict[str, Any] | None:
    try:
        return dict(json.loads(line))
    except (ValueError, TypeError):
        return None


def _line(entry: dict[str, Any]) -> bytes:
    return json.dumps(entry, separators=(",", ":")).encode() + b"\n"
