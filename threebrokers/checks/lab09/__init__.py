"""The checks of lab 09."""

from collections.abc import Callable
from typing import Annotated, Any

from threebrokers.checks.expect import TopicName
from threebrokers.checks.lab09.days import judge_day
from threebrokers.checks.lab09.policies import judge_policies
from threebrokers.checks.lab09.removal import judge_removed
from threebrokers.checks.lab09.survivors import judge_survivors
from threebrokers.checks.lab09.tables import judge_tables
from threebrokers.lab.exercise import exercise
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios import Day, Starts
from threebrokers.text import listed

Offsets = Annotated[list[int], "a list of offsets, which are whole numbers"]
Twice = Annotated[Starts, "what two_starts(lab, load) returns"]
LaterDay = Annotated[Day, "what a_day_later(…) returns"]


@exercise("9.1", "Gone within seconds")
def old_prices_gone(lab: Lab, shares: TopicName) -> str:
    """Solved if the topic has one price of each share, also of those few that changed in the evening."""
    judge_day(lab, shares)
    return (
        "each share has its last price and no other, although only three of 100 had changed in the evening: "
        "segments are closed soon, and the cleaner comes for a single record."
    )


@exercise("9.2", "What is left?")
def survivors_named(lab: Lab, worked: TopicName, survivors: Offsets) -> str:
    """Solved if the offsets that were named in advance are those that the log holds."""
    left = judge_survivors(lab, worked, survivors)
    return (
        f"offsets {listed(left)} are left, as they were. K4 has two records: one that the cleaner has kept, "
        "and one in the active segment, which it has not read."
    )


@exercise("9.3", "Take IBM away")
def share_removed(lab: Lab, listing: TopicName, remover: object, day: LaterDay) -> str:
    """Solved if no record of IBM is left after a day, and the other shares have their last prices."""
    judge_removed(lab, listing, remover, day)
    return (
        "no record of IBM is left, neither a price nor the one that took it away, and every other share has "
        "its last price."
    )


@exercise("9.4", "Start again from the topic")
def table_rebuilt(lab: Lab, load: Callable[..., Any], starts: Twice) -> str:
    """Solved if both tables have the last price of each share that was not taken away by then."""
    judge_tables(lab, starts)
    return (
        "both times the table was built from the topic alone; what is in memory may be lost at any time, and "
        "no database is needed beside the log."
    )


@exercise("9.5", "Delete, compact, or both?")
def policies_chosen(lab: Lab, policies: Annotated[dict[str, Any], "a dictionary: topic and policy"]) -> str:
    """Solved if each of five topics has the policy that does what its readers need."""
    judge_policies(policies)
    return (
        "a table of the present is compacted, a history is deleted by age, and a table of what is recent is "
        "both; whether records have keys says nothing of which one it is."
    )
