"""What came of each hand-in, and the file that keeps it, so that an interrupted grading goes on.

The file lies among the hand-ins, where anybody's could lie: it is signed with a key of the teacher's home.
"""

import hashlib
import hmac
import secrets
import threading
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from threebrokers.errors import LabError
from threebrokers.files import faults_told
from threebrokers.grading.orders import SOLVED, Mark
from threebrokers.paths import home
from threebrokers.store import JsonFile

NAME, KEY = "grades", "grading-key"
LOCK_SECONDS = 10.0


@dataclass(frozen=True)
class Grade:
    """What came of one file. `fault` says why it was not graded, `notes` what happened besides.

    `digest` and `course` tell another version of the file, or of the lab, from this one.
    """

    file: str
    learner: str
    lab: str = ""
    digest: str = ""
    course: str = ""
    fault: str = ""
    marks: list[Mark] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    apart: bool = True

    @property
    def solved(self) -> int:
        """How many exercises are solved."""
        return sum(mark.verdict == SOLVED for mark in self.marks)


@dataclass
class Kept:
    """What the file holds: the grades by the names of their files, and who has written it."""

    grades: dict[str, Grade] = field(default_factory=dict)
    signature: str = ""


class Grades:
    """All grades of one folder; each is written when it is known. Several threads may add."""

    def __init__(self, folder: Path, anew: bool = False) -> None:
        """Read what is kept; with `anew` a damaged file is as good as none, else it raises LabError.

        One that was not signed here is none either.
        """
        self._file = JsonFile[Kept](folder / f"{NAME}.json", Kept)
        self._lock = threading.Lock()
        self._key = _key()
        found = self._file.read()
        good = found is not None and hmac.compare_digest(
            found.signature.encode(), self._signed(found).encode()
        )
        if not anew and self._file.path.exists() and not good:
            what = "cannot be read" if found is None else f"was not signed by the grading of {home()}"
            raise LabError(
                f"{self._file.path} {what}, so it is not known what is graded already",
                "grade where you did before, move it away, or give --again",
            )
        self.kept = found if found is not None and good else Kept()

    def known(self, file: str, digest: str, course: str) -> Grade | None:
        """Return the grade of a file that has not changed since, nor its lab; None if it is to be graded."""
        found = self.kept.grades.get(file)
        return found if found and (found.digest, found.course) == (digest, course) else None

    def add(self, grade: Grade) -> None:
        """Keep a grade. Raises OSError."""
        with self._lock:
            self.kept.grades[grade.file] = grade
            self._write()

    def forget(self, files: list[str]) -> None:
        """Forget the grades of these files; the file is written with the next grade."""
        with self._lock:
            self.kept.grades = {file: one for file, one in self.kept.grades.items() if file not in files}

    def only(self, files: list[str]) -> None:
        """Keep the grades of these files, in order; what was handed in no more is forgotten."""
        with self._lock:
            self.kept.grades = {file: self.kept.grades[file] for file in files if file in self.kept.grades}
            self._write()

    def of(self, files: list[str]) -> list[Grade]:
        """Return the grades of these files, in order."""
        return [self.kept.grades[file] for file in files if file in self.kept.grades]

    def _write(self) -> None:
        self.kept.signature = self._signed(self.kept)
        self._file.write(self.kept)

    def _signed(self, kept: Kept) -> str:
        return hmac.new(self._key, msgspec.json.encode(kept.grades), hashlib.sha256).hexdigest()


def _key() -> bytes:
    """Return this home's key, which is made when it is first asked for. Raises LabError."""
    file = JsonFile[dict[str, str]](home() / f"{KEY}.json", dict[str, str])
    if (found := (file.read() or {}).get("key")) is not None:  # the home may be one that can only be read
        return found.encode()
    with faults_told(file.path), file.changed(dict, LOCK_SECONDS) as kept:
        return kept.setdefault("key", secrets.token_hex(32)).encode()
