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
    """Return a fault of the lab, whose sentence ends with the next step, as a finding."""
    what, _, cure = str(fault).partition(": ")
    return Finding(about, False, what, cure.rstrip(".") or "see the message")
