"""A consumer group as the panel draws it: who is in it, who reads what, how far behind."""

from typing import Any

from threebrokers.kafka.state import GroupSight, Sight, lag
from threebrokers.view.naming import member_names, share

# Kafka's words for a group's state, and what they mean.
STATES = {
    "Stable": "stable",
    "Empty": "nobody is in it",
    "Dead": "there is no such group yet",
    "PreparingRebalance": "its members are being counted",
    "CompletingRebalance": "its partitions are being shared",
    "Assigning": "its partitions are being shared",
    "Reconciling": "its members are changing over",
    "no coordinator": "no coordinator answers",
    "": "nothing is known of it yet",
}


def group_frame(sight: Sight, group: GroupSight) -> dict[str, Any]:
    """Return one group: a line about it, and a row for each member."""
    names = member_names(group)
    return {
        "name": group.name,
        "summary": group_summary(sight, group),
        "members": [
            {"name": names[m.id], "share": share(m), "lag": _told(member_lag(sight, group, m.partitions))}
            for m in sorted(group.members, key=lambda m: names[m.id])
        ],
    }


def group_summary(sight: Sight, group: GroupSight) -> str:
    """Say in one line how a group is."""
    state = STATES.get(group.state, group.state)
    at = f"; broker {group.coordinator} coordinates it" if group.coordinator is not None else ""
    everything = [(topic, partition) for topic, partition, _ in group.committed]
    late = member_lag(sight, group, everything)
    return f"{state}{at}" + (f"; lag {late:,}" if late is not None else "")


def member_lag(sight: Sight, group: GroupSight, places: list[Any] | tuple[Any, ...]) -> int | None:
    """Return the lag of these (topic, partition) pairs together; None if it is known of none."""
    known = [late for place in places if (late := lag(sight, group, *place)) is not None]
    return sum(known) if known else None


def _told(late: int | None) -> str:
    return "–" if late is None else f"{late:,}"
