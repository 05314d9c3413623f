"""What a demo shows, as data: its steps, their questions, and the names of what is done in them."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from threebrokers.errors import LabError
from threebrokers.store import own_file
from threebrokers.text import listed

SCRIPTS = Path(__file__).parent / "scripts"


class Step(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One step: a title, one sentence that says what is seen or done, and a note for the speaker.

    `act` names what is done in it, and `press` says so beside the key. `vote` and `reveal` name a question of
    the lab ("4.a"), `timeline` names an act, whose recording is shown; with `members` it is theirs.
    """

    title: str
    says: str
    note: str
    act: str = ""
    press: str = ""
    vote: str = ""
    reveal: str = ""
    timeline: str = ""
    members: bool = False


class Script(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A demo of a lab. `topics` and `groups` are short names: the panel shows them, the end deletes them."""

    title: str
    topics: Sequence[str]
    steps: Sequence[Step]
    groups: Sequence[str] = ()

    @property
    def acts(self) -> list[str]:
        """The names of all acts, in order."""
        return [step.act for step in self.steps if step.act]


def numbers() -> list[str]:
    """Return the labs that have a demo ("04"), in order."""
    return sorted(path.stem.removeprefix("lab") for path in SCRIPTS.glob("lab*.toml"))


def script(number: str) -> Script:
    """Return the demo of a lab. Raises LabError if it has none, or if its file is damaged."""
    if number not in numbers():
        raise LabError(f"Lab {number!r:.12} has no demo", f"choose one of {listed(numbers())}")
    return own_file(f"The demo of lab {number}", SCRIPTS / f"lab{number}.toml", Script)
