"""The lanes of groups and their members."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from threebrokers.kafka.state import GroupSight, Sight
from threebrokers.recorder.data import TapeData
from threebrokers.recorder.lanes import Drawn, Lane, lane

# More members, or more partitions of one member, are counted and not named.
FEW = 6


def group_lanes(tape: TapeData) -> Iterable[Lane]:
    """Yield, for each group that had members, its state and what each member was assigned."""
    for name in sorted({g.name for sight in tape.sights for g in sight.groups if g.members}):
        yield lane(f"group {name}", tape, partial(_group, name=name), _draw_group)
        ids = dict.fromkeys(m.id for sight in tape.sights for m in _group(sight, name).members)
        for number, member in enumerate(ids if len(ids) <= FEW else (), 1):
            look = partial(_assigned, name=name, member=member)
            yield lane(f"its member {number} reads", tape, look, _draw_member)


def _draw_group(group: GroupSight) -> Drawn:
    count = f"{len(group.members)} member{'' if len(group.members) == 1 else 's'}"
    if group.coordinator is None:
        return ("no coordinator answers", "no coordinator", "✕"), "gone"
    words = (f"{group.state} · {count} · coordinator {group.coordinator}", f"{group.state} · {count}")
    return (*words, group.state), "good" if group.state == "Stable" else "less"


def _draw_member(value: tuple[tuple[str, int], ...] | None) -> Drawn:
    if value is None:
        return ("not in the group",), "absent"
    if not value:
        return ("nothing",), "less"
    if len(value) > FEW:
        return (f"{len(value)} partitions", f"{len(value)}"), "good"
    names = {topic for topic, _ in value}
    parts = [str(number) if len(names) == 1 else f"{topic}-{number}" for topic, number in value]
    return (f"partition {', '.join(parts)}", ", ".join(parts)), "good"


def _assigned(sight: Sight, name: str, member: str) -> tuple[tuple[str, int], ...] | None:
    return next((tuple(sorted(m.partitions)) for m in _group(sight, name).members if m.id == member), None)


def _group(sight: Sight, name: str) -> GroupSight:
    found = next((group for group in sight.groups if group.name == name), None)
    return replace(found, committed=()) if found else GroupSight(name, "", None)
