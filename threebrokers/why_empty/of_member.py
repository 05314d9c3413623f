"""Reasons that lie in the consumer itself: what it asked for, and whether it goes on asking."""

from threebrokers.why_empty.facts import Facts
from threebrokers.why_empty.words import Told, partitions


def closed(f: Facts) -> Told | None:
    """Explain that a closed consumer reads nothing."""
    if not (f.client and f.client.closed):
        return None
    return (
        "closed",
        "This consumer is closed, so it reads nothing any more. Make a new one: `lab.consumer({…})`.",
    )


def subscribed_elsewhere(f: Facts) -> Told | None:
    """Explain that the consumer asked for other topics, or for none."""
    c = f.client
    if c is None or f.by_hand or (c.member and f.topic in c.subscribed):
        return None
    if c.subscribed and f.topic not in c.subscribed and not _pattern(c.subscribed):
        return "not subscribed", (
            f"This consumer has subscribed to {', '.join(map(repr, c.subscribed))}, and not to '{f.topic}'. "
            f"Call subscribe(['{f.topic}']), which replaces the topics before."
        )
    if not c.subscribed:
        return "not joined", (
            f"This consumer has neither subscribed nor been given partitions. Call subscribe(['{f.topic}']), "
            "then poll() again and again."
        )
    if not c.member:
        return "not joined", (
            f"This consumer has subscribed to '{f.topic}' and is not a member of group '{f.group.name}': not "
            "yet, or no more, for whoever does not call poll() for max.poll.interval.ms "
            f"({c.poll_limit} here) is thrown out. Call poll() again and again: it joins within a second."
        )
    return None


def thrown_out(f: Facts) -> Told | None:
    """Explain that the consumer believes to be a member and the group does not know it."""
    c = f.client
    if not c or not c.member or f.by_hand or c.member in {m.id for m in f.group.members}:
        return None
    return "thrown out", (
        f"This consumer is no member of group '{f.group.name}' any more: it was silent for longer than "
        "session.timeout.ms, as when its process was frozen, or nobody called poll() for "
        f"max.poll.interval.ms ({c.poll_limit} here). Call poll() again and again: it joins within a second."
    )


def unpolled(f: Facts) -> Told | None:
    """Explain that the group gave partitions to a consumer that has not taken them."""
    if not f.client or f.by_hand or not f.mine or f.client.assigned:
        return None
    return "not polled", (
        f"The group has given {partitions(f.mine)} to this consumer, which does not know it yet: a consumer "
        "takes its partitions inside poll(). Call poll() again and again, not once."
    )


def _pattern(topics: tuple[str, ...]) -> bool:
    return any(topic.startswith("^") for topic in topics)
