"""Starts the brokers of a box in a process without privileges: `python -m threebrokers.grading.brokers`.

So they have no more rights than the hand-in, which may look into them, and end them, as learners do.
"""

import sys

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


if __name__ == "__main__":
    sys.exit(main())
