"""Short names for members of a group and for what they read."""

from collections import Counter, defaultdict

from threebrokers.kafka.state import GroupSight, MemberSight

MOST = 6


def member_names(group: GroupSight) -> dict[str, str]:
    """Return a short name for each member's id: its client id, numbered where several have the same."""
    same = Counter(member.client for member in group.members)
    order: Counter[str] = Counter()
    names = {}
    for member in sorted(group.members, key=lambda m: m.id):
        order[member.client] += 1
        number = f" {order[member.client]}" if same[member.client] > 1 else ""
        names[member.id] = f"{member.client}{number}"
    return names


def share(member: MemberSight) -> str:
    """Say what a member reads: "failsafe 0, 1, 2"; "nothing" if it is idle."""
    by_topic: dict[str, list[int]] = defaultdict(list)
    for topic, partition in member.partitions:
        by_topic[topic].append(partition)
    if not by_topic:
        return "nothing"
    return ", ".join(f"{topic} {_short(sorted(ids))}" for topic, ids in sorted(by_topic.items()))


def _short(ids: list[int]) -> str:
    if len(ids) > 2 and ids[-1] - ids[0] == len(ids) - 1:
        return f"{ids[0]}–{ids[-1]}"
    return ", ".join(map(str, ids[:MOST])) + (f" and {len(ids) - MOST} more" if len(ids) > MOST else "")
