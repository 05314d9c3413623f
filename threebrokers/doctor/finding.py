"""What a look found."""

from dataclasses import dataclass

from threebrokers.errors import LabError


@dataclass(frozen=True)
class Finding:
    """What was looked at, what was found, and what to do about it."""

    about: str
    ok: bool
    what: str
    cure: str = ""


def told(about: str, fault: LabError) -> Finding:
    """Return a fault that the course foresees as a finding."""
    return Finding(about, False, fault.what, fault.next_step or "see the message")
