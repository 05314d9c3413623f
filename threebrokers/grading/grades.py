"""What came of each hand-in, and the file that keeps it, so that an interrupted grading goes on."""

import threading
from dataclasses import dataclass, field
from pathlib import Path

from threebrokers.errors import LabError
from threebrokers.grading.orders import SOLVED, Mark
from threebrokers.store import JsonFile

NAME = "grades"


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
    """What the file holds: the grades by the names of their files."""

    grades: dict[str, Grade] = field(default_factory=dict)


class Grades:
    """All grades of one folder; each is written when it is known. Several threads may add."""

    def __init__(self, folder: Path, anew: bool = False) -> None:
        """Read what is kept; with `anew` a damaged file is as good as none, else it raises LabError."""
        self._file = JsonFile[Kept](folder / f"{NAME}.json", Kept)
        self._lock = threading.Lock()
        if not anew and self._file.path.exists() and self._file.read() is None:
            raise LabError(
                f"{self._file.path} cannot be read, so it is not known what is graded already",
                "move it away, or give --again",
            )
        self.kept = self._file.read() or Kept()

    def known(self, file: str, digest: str, course: str) -> Grade | None:
        """Return the grade of a file that has not changed since, nor its lab; None if it is to be graded."""
        found = self.kept.grades.get(file)
        return found if found and (found.digest, found.course) == (digest, course) else None

    def add(self, grade: Grade) -> None:
        """Keep a grade. Raises OSError."""
        with self._lock:
            self.kept.grades[grade.file] = grade
            self._file.write(self.kept)

    def forget(self, files: list[str]) -> None:
        """Forget the grades of these files; the file is written with the next grade."""
        with self._lock:
            self.kept.grades = {file: one for file, one in self.kept.grades.items() if file not in files}

    def only(self, files: list[str]) -> None:
        """Keep the grades of these files, in order; what was handed in no more is forgotten."""
        with self._lock:
            self.kept.grades = {file: self.kept.grades[file] for file in files if file in self.kept.grades}
            self._file.write(self.kept)

    def of(self, files: list[str]) -> list[Grade]:
        """Return the grades of these files, in order."""
        return [self.kept.grades[file] for file in files if file in self.kept.grades]
