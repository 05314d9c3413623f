"""What changed about consumer groups: members, shares, coordinators."""

from collections.abc import Iterator

from threebrokers.kafka.state import GroupSight, Sight
from threebrokers.view.event import Event
from threebrokers.view.naming import member_names, share

SILENT = "no coordinator"


def group_news(before: Sight, after: Sight) -> Iterator[Event]:
    """Say who joined or left, how partitions are shared now, and who coordinates."""
    known = {group.name: group for group in before.groups}
    for new in after.groups:
        old = known.get(new.name)
        if old is not None and new.state == SILENT and old.state != SILENT:
            yield Event(after.at, f"{new.name}: no coordinator answers", "bad")
        elif old is not None and new.state != SILENT:
            yield from _of_one(old, new, after.at)


def _of_one(old: GroupSight, new: GroupSight, at: float) -> Iterator[Event]:
    if new.coordinator is not None and old.coordinator != new.coordinator:
        yield Event(at, f"{new.name}: broker {new.coordinator} coordinates this group now")
    names = member_names(new) | {m: n for m, n in member_names(old).items() if m not in member_names(new)}
    was, now = {m.id: m for m in old.members}, {m.id: m for m in new.members}
    joined, left = [names[m] for m in now if m not in was], [names[m] for m in was if m not in now]
    if joined:
        yield Event(at, f"{new.name}: {', '.join(joined)} joined")
    if left:
        yield Event(at, f"{new.name}: {', '.join(left)} left" + ("; nobody is left" if not now else ""))
    shares = {m.id: m.partitions for m in new.members}
    if any(shares.values()) and shares != {m.id: m.partitions for m in old.members}:
        told = "; ".join(f"{names[m.id]} has {share(m)}" for m in new.members)
        yield Event(at, f"{new.name} shared its partitions anew: {told}")
