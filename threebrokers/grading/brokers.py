"""Starts the brokers of a box in a process without privileges: `python -m threebrokers.grading.brokers`.

So they have no more rights than the hand-in, which may look into them, and end them, as learners do. Without
a box they outlive it, until they are ended from here.
"""

import sys
from contextlib import suppress
from pathlib import Path

from threebrokers.cluster import Cluster
from threebrokers.errors import LabError


def main() -> int:
    """Start the brokers that are missing; print a sentence if that fails."""
    try:
        Cluster().up()
    except LabError as fault:
        print(fault)
        return 1
    return 0


def end(home: Path) -> None:
    """End the brokers of a home, and delete what they kept; nobody is told if that cannot be."""
    with suppress(LabError, OSError):
        Cluster(home, "local").erase()


if __name__ == "__main__":
    sys.exit(main())
