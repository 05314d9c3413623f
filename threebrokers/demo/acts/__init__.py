"""What the demos do to the brokers: a module for each lab, a function for each act."""

from threebrokers.demo.stage import Stage
from threebrokers.errors import LabError
from threebrokers.recorder import Recording

ANSWERS = 5


def wait_for_answers(stage: Stage, recording: Recording) -> None:
    """Wait until records that were sent in this recording are acknowledged; it knows no others."""

    def came() -> bool:
        return any(f.kind == "acknowledged" and f.records >= ANSWERS for f in recording.flows)

    stage.lab.wait_until(came, what="acknowledgements", within=30)


def longest(recording: Recording, kind: str) -> float:
    """Return the longest time (s) without one kind of thing; 0 if all of it came in one go."""
    try:
        return recording.longest_gap(kind).seconds
    except LabError:  # there is no pause in it
        return 0.0
