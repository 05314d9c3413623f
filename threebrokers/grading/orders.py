"""What the grader and the warden of one hand-in tell each other: plain values, a line of JSON each."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Verdict = Literal["solved", "not yet", "not attempted", "trouble"]
SOLVED: Verdict = "solved"
NOT_YET: Verdict = "not yet"
NOT_ATTEMPTED: Verdict = "not attempted"
TROUBLE: Verdict = "trouble"
MEGA = 1_000_000


@dataclass(frozen=True)
class Limits:
    """What one hand-in may take: seconds in all and for a cell, MB of memory and of disk, processes."""

    seconds: float = 900
    cell_seconds: float = 180
    memory: int = 3000
    disk: int = 3000
    processes: int = 150


@dataclass(frozen=True)
class Step:
    """One cell to run: its id and text; `exercise` is a learner's cell's, `check` the one judged.

    `own` says that the learner has written it. `passed` are the names that a check is given, `function` is
    the check's name; `plain` says that it takes nothing but plain values.
    """

    id: str
    text: str
    own: bool = False
    exercise: str = ""
    check: str = ""
    function: str = ""
    passed: list[str] = field(default_factory=list)
    blank: str = ""  # the exercise's cell as the course has it
    plain: bool = False


@dataclass(frozen=True)
class Order:
    """What a warden is to do. `box` is the folder of this hand-in, `visible` what it may read besides."""

    lab: str
    box: str
    apart: bool
    limits: Limits
    steps: list[Step] = field(default_factory=list)
    visible: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    cache: str = ""
    mark: str = ""
    only_try: bool = False


@dataclass(frozen=True)
class Mark:
    """What came of one exercise. `by` is "check outside", "check inside" or "" (nobody)."""

    number: str
    verdict: Verdict
    sentence: str = ""
    seconds: float = 0.0
    by: str = ""


@dataclass(frozen=True)
class Told:
    """One line of a warden: a mark, or a note of what happened, or both are missing: it has got so far."""

    mark: Mark | None = None
    note: str = ""
    fault: str = ""
    at: str = ""  # "ready" when the brokers run, "end" at the end


@dataclass(frozen=True)
class Question:
    """What the judge is asked: a check, its answers (see `seal.encoded`), and the learner's try."""

    lab: str
    opened: str
    opened_at: float
    function: str
    answers: str
    cell: str
    source: str
    began: float
    ended: float


def shown(text: str) -> str:
    """Return a text of a hand-in as a terminal may print it: nothing in it moves the cursor, or is unseen.

    What is not printable is written as its number: left out, it could make two names of files one.
    """
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def inside(box: str, apart: bool) -> Path:
    """Return where a hand-in sees its own folder."""
    return Path("/box") if apart else Path(box) / "rw"
