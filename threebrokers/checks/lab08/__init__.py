"""The checks of lab 08."""

from typing import Annotated

from threebrokers.checks.expect import TopicName
from threebrokers.checks.lab08.ages import judge_ages
from threebrokers.checks.lab08.gap import judge_gap
from threebrokers.checks.lab08.removal import judge_removal
from threebrokers.checks.lab08.sizes import judge_sizes
from threebrokers.checks.lab08.sizing import judge_sizing
from threebrokers.lab.exercise import exercise
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios import Charges

Offsets = Annotated[dict[int, int], "a dictionary: an offset for each partition"]
Missed = Annotated[dict[int, int], "a dictionary: a number for each partition"]


@exercise("8.1", "Gone in time")
def gone_in_time(lab: Lab, badges: TopicName) -> str:
    """Solved if the last 7 days are there, nothing is older than 8, and there are at most 20 segments."""
    judge_ages(lab, badges)
    return (
        "all of the last seven days is there, and nothing older than eight: a record stays as long as "
        "retention.ms and its segment together, so who must promise a time sets both."
    )


@exercise("8.2", "What was missed?")
def gap_known(lab: Lab, charges: Charges, missed: Missed) -> str:
    """Solved if each charge that is left was billed once, and the deleted ones are counted."""
    judge_gap(lab, charges, missed)
    return (
        "the 25 charges that were left are billed once, and you know that 35 can never be: the log does not "
        "say that something is gone, so a program that cares compares its place with the start of the log."
    )


@exercise("8.3", "A part of a disk")
def within_bounds(lab: Lab, frames: TopicName) -> str:
    """Solved if the settings keep four partitions between 6 and 12 MB, and the files are within."""
    judge_sizes(lab, frames)
    return (
        "the newest 6 MB always stay, and the files never need more than 12: retention.bytes is the least "
        "that a partition keeps, and a segment more is the most. (Between two looks at it, what comes in "
        "meanwhile is added.)"
    )


@exercise("8.4", "Delete at once")
def passwords_gone(lab: Lab, signups: TopicName, starts: Offsets) -> str:
    """Solved if each partition begins with its first clean record, and all clean records are there."""
    judge_removal(lab, signups, starts)
    return (
        "no reader gets a password any more, and each clean record kept its offset: delete_records moves "
        "the start of each log. For the bytes in the files, remember the prediction above."
    )


@exercise("8.5", "How long can you keep it?")
def fits_on_disk(lab: Lab, on_disk: float, days: float) -> str:
    """Solved if a record's bytes are those of the files, and the days are those that surely fit."""
    judge_sizing(lab, on_disk, days)
    return (
        "for so many days the disks suffice at any time. You have counted four things: the bytes in the "
        "files, the replicas, the head room, and one segment more; who forgets one of them finds a full "
        "disk. (The two indexes beside each segment are small: here half a percent.)"
    )
