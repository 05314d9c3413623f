"""Reasons that lie in the group: who is a member, and who holds the partitions."""

import re
from difflib import get_close_matches

from threebrokers.text import counted
from threebrokers.why_empty.facts import Facts, Place
from threebrokers.why_empty.words import Told, ids, partitions, wait


def rebalancing(f: Facts) -> Told | None:
    """Explain that the group waits for one of its members."""
    if not f.rebalancing:
        return None
    members = counted(len(f.group.members), "member")
    return Told(
        "rebalancing",
        f"Group '{f.group.name}' is sharing out its partitions ({f.group.state}, {members}), and "
        "nobody gets records until each member has answered. A member answers inside poll(), so one that "
        "does not call it, or is frozen, holds up all others (at most max.poll.interval.ms, or "
        "session.timeout.ms if it is silent). Call poll() on every consumer of the group, and close() those "
        "that you have forgotten: restarting the kernel that made them closes them too.",
    )


def nobody(f: Facts) -> Told | None:
    """Explain that the group has no member."""
    if f.client or f.group.members:
        return None
    read = any(p.committed is not None for p in f.places)
    past = "; it has read before, and its offsets stay" if read else ""
    name, names = f.group.name, [g for g in f.groups if g != f.group.name]
    near = [g for g in names if g.startswith(f"{name}-")] or get_close_matches(name, names, n=1, cutoff=0.6)
    other = f" A group of a similar name is '{near[0]}': is it meant?" if near and not read else ""
    return Told(
        "nobody",
        f"Nobody is in group '{f.group.name}' now{past}. A consumer joins by subscribe(['{f.topic}']) and "
        "poll(), and leaves by close(), or when its process ends; one that was given partitions with "
        f"assign() is no member.{other}",
    )


def unsubscribed(f: Facts) -> Told | None:
    """Explain that the group has members, and none of them wants this topic."""
    if f.client or any(p.holder for p in f.places):
        return None
    topics = sorted({topic for m in f.group.members for topic, _ in m.partitions})
    what = f"they read {', '.join(map(repr, topics))}" if topics else "they hold nothing"
    members = counted(len(f.group.members), "member")
    return Told(
        "not subscribed",
        f"Group '{f.group.name}' has {members}, and none of them holds a partition of "
        f"'{f.topic}': {what}. Call subscribe(['{f.topic}']).",
    )


def forgotten(f: Facts) -> Told | None:
    """Explain that another member holds what waits, and does not read it."""
    others = [p for p in f.places if p.holder and p not in (f.mine if f.client else ())]
    # Who is sent elsewhere, because its offset is gone, commits nothing until it gets a record.
    held = [p for p in others if f.waiting(p) and not p.misplaced]
    still = [p for p in held if f.moved is not None and p.id not in f.moved]
    if not still or (f.client is None and len(f.group.members) < 2) or any(map(f.waiting, _own(f))):
        return None
    what = wait(sum(map(f.waiting, still)))
    return Told(
        "forgotten",
        f"{what} in {partitions(still)}, and member {still[0].holder}, which holds that, has read "
        "nothing while it was watched. Often it is the consumer of a cell that ran twice, or of a notebook "
        "that is still open. close() it or restart its kernel, and the group shares out the partitions "
        "again; consumers made with lab.consumer() are closed for you when their cell runs again.",
        ids(still),
    )


def idle(f: Facts) -> Told | None:
    """Explain that there are more members than partitions."""
    if f.client and (f.mine or f.by_hand):
        return None
    holders = {p.holder for p in f.places if p.holder}
    without = [m.id for m in f.group.members if not m.partitions]
    if not holders or not without or len(f.group.members) <= len(f.places):
        return None
    given = "this consumer has none" if f.client else f"these have none: {', '.join(without)}"
    return Told(
        "idle",
        f"Group '{f.group.name}' has {len(f.group.members)} members and '{f.topic}' only "
        f"{counted(len(f.places), 'partition')}: one partition is read by one member at a time, and "
        f"{given}. Close a member, make more partitions, or give a consumer that shall read everything a "
        "group of its own.",
    )


def elsewhere(f: Facts) -> Told | None:
    """Explain that what there is lies in partitions of other members."""
    if not f.client or any(map(f.waiting, f.mine)):
        return None
    others = [p for p in f.places if p not in f.mine and (f.waiting(p) or not p.empty)]
    if not others or any(not p.empty for p in f.mine):
        return None
    have = (
        f"holds {partitions(f.mine)}, which holds no record" if f.mine else "holds no partition of the topic"
    )
    return Told(
        "elsewhere",
        f"This consumer {have}; the records are in {partitions(others)}, which another member of the group "
        "has, or which it was not given. A group shares out a topic: give a consumer that shall read "
        "everything a group of its own.",
        ids(others),
    )


def _own(f: Facts) -> tuple[Place, ...]:
    return f.mine if f.client else ()


def closed(f: Facts) -> Told | None:
    """Explain that a closed consumer reads nothing."""
    if not (f.client and f.client.closed):
        return None
    return Told(
        "closed",
        "This consumer is closed, so it reads nothing any more. Make a new one: `lab.consumer({…})`.",
    )


def subscribed_elsewhere(f: Facts) -> Told | None:
    """Explain that the consumer asked for other topics, or for none."""
    c = f.client
    if c is None or f.by_hand or (c.member and f.topic in c.subscribed):
        return None
    if c.subscribed and f.topic not in c.subscribed and not _pattern(c.subscribed):
        if near := next((name for name in c.subscribed if _fits(name, f.topic)), ""):
            return Told(
                "no pattern",
                f"This consumer has subscribed to a topic of the name '{near}', which is not there. If it is "
                f"meant as a pattern for '{f.topic}', it must begin with ^: subscribe(['^{near}']).",
            )
        return Told(
            "not subscribed",
            f"This consumer has subscribed to {', '.join(map(repr, c.subscribed))}, and not to '{f.topic}'. "
            f"Call subscribe(['{f.topic}']), which replaces the topics before.",
        )
    if not c.subscribed:
        return Told(
            "not joined",
            f"This consumer has neither subscribed nor been given partitions. Call subscribe(['{f.topic}']), "
            "then poll() again and again.",
        )
    if not c.member:
        return Told(
            "not joined",
            f"This consumer has subscribed to '{f.topic}' and is not a member of group '{f.group.name}': not "
            "yet, or no more, for whoever does not call poll() for max.poll.interval.ms "
            f"({c.poll_limit} here) is thrown out. Call poll() again and again: it joins within a second.",
        )
    return None


def thrown_out(f: Facts) -> Told | None:
    """Explain that the consumer believes to be a member and the group does not know it."""
    c = f.client
    if not c or not c.member or f.by_hand or c.member in {m.id for m in f.group.members}:
        return None
    return Told(
        "thrown out",
        f"This consumer is no member of group '{f.group.name}' any more: it was silent for longer than "
        "session.timeout.ms, as when its process was frozen, or nobody called poll() for "
        f"max.poll.interval.ms ({c.poll_limit} here). Call poll() again and again: it joins within a second.",
    )


def unpolled(f: Facts) -> Told | None:
    """Explain that the group gave partitions to a consumer that has not taken them."""
    if not f.client or f.by_hand or not f.mine or f.client.assigned:
        return None
    return Told(
        "not polled",
        f"The group has given {partitions(f.mine)} to this consumer, which does not know it yet: a consumer "
        "takes its partitions inside poll(). Call poll() again and again, not once.",
        ids(f.mine),
    )


def _pattern(topics: tuple[str, ...]) -> bool:
    return any(topic.startswith("^") for topic in topics)


def _fits(name: str, topic: str) -> bool:
    """Tell whether a name would fit the topic if it were a pattern."""
    try:
        return re.fullmatch(name, topic) is not None
    except re.error:
        return False
