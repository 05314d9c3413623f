"""What lab 07 says of a group that a member joins while another one is busy."""

from collections.abc import Mapping
from typing import Any

from threebrokers.lab.attempt import is_earlier
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.joining import FIRST, FREED, STOPPED, joined_with, who_stopped
from threebrokers.recorder import Recording

CALL = "`joined = newcomer(lab, settings)`"
# Of a pause as short as this nobody would say that the members stopped.
STOPPED_SECONDS = 0.3


def judge_joining(lab: Lab, joined: Recording) -> None:
    """Raise NotYet unless in this try A and B went on, and D began while C was busy."""
    settings = joined_with(joined)
    if settings is None:
        raise NotYet("`joined` is no recording of newcomer(…)", "it should be what this returns", CALL)
    if is_earlier(joined.data.began, "joined"):
        raise NotYet("`joined` is an earlier recording", "it should be the one of this try", CALL)
    seconds = who_stopped(joined)
    stopped, first = seconds[STOPPED], seconds[FIRST]
    if stopped > STOPPED_SECONDS:
        raise NotYet(
            f"A and B held no partition for {stopped:.1f} s: {_eager(settings)}",
            "they should go on while D joins",
            "`joined.members()`, and the table of settings above",
        )
    if first >= seconds[FREED]:
        raise NotYet(
            f"A and B went on, but D got its first record after {first:.1f} s, when C was free again: in the "
            "classic protocol D's share waits until every member has answered",
            "D should begin while C is busy",
            "`joined.members()`, and the table of settings above",
        )


def _eager(settings: Mapping[str, Any]) -> str:
    if "partition.assignment.strategy" in settings:
        named = settings["partition.assignment.strategy"]
        return f"with '{named}' all members give up everything and wait for the slowest"
    if "max.poll.interval.ms" in settings:
        return "max.poll.interval.ms bounds how long they wait for C, and they wait all the same"
    if settings:
        return f"{next(iter(settings))} does not change that all give up everything and wait for the slowest"
    return "with the default settings all members give up everything and wait for the slowest"
