"""What the demos do to the brokers: a module for each lab, a function for each act."""

from threebrokers.errors import LabError
from threebrokers.recorder import Recording


def longest(recording: Recording, kind: str) -> float:
    """Return the longest time (s) without one kind of thing; 0 if all of it came in one go."""
    try:
        return recording.longest_gap(kind).seconds
    except LabError:  # there is no pause in it
        return 0.0
