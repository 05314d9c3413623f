"""Reasons that lie in the cluster or the topic: nobody at all could read there."""

from difflib import get_close_matches

from threebrokers.text import listed
from threebrokers.why_empty.facts import Facts
from threebrokers.why_empty.words import Told, ill, partitions, told


def no_broker(f: Facts) -> Told | None:
    """Explain that nobody answers."""
    if f.heard:
        return None
    return "no broker", "No broker answers, so nobody can read anything: start them with `threebrokers up`."


def no_topic(f: Facts) -> Told | None:
    """Explain that there is no such topic, and offer the nearest name."""
    if f.exists:
        return None
    names = [name for name in f.names if not name.startswith("__")]
    near = get_close_matches(f.topic, names, n=1, cutoff=0.5)
    offer = f"; the nearest name is '{near[0]}'" if near else ""
    return "no topic", (
        f"There is no topic '{f.topic}', so there is nothing to read{offer}. "
        "Correct the name, or make the topic: a consumer that has subscribed gets it then."
    )


def no_leader(f: Facts) -> Told | None:
    """Explain that a partition cannot be read because its leader is missing."""
    silent = [p for p in f.places if p.leader is None or p.start is None]
    if not silent:
        return None
    place = silent[0]
    lead = (
        f"is led by broker {place.leader}, which cannot be asked"
        if place.leader is not None
        else f"has no leader (its copies are on broker {listed([str(n) for n in place.replicas])})"
    )
    sick = ill(f.brokers, [place.leader] if place.leader is not None else place.replicas)
    mend = told(sick) if sick else "a leader may be elected in this moment: ask again"
    rest = len(f.places) - len(silent)
    others = f" The other {rest} can be read." if rest else ""
    more = f", as {partitions(silent[1:])}" if silent[1:] else ""
    return "no leader", (
        f"Partition {place.id} of '{f.topic}' {lead}{more}, so nobody gets what is in it.{others} "
        f"{mend[0].upper()}{mend[1:]}."
    )


def no_coordinator(f: Facts) -> Told | None:
    """Explain that nobody can give the group its partitions."""
    if not f.lost_coordinator or f.by_hand:
        return None
    where = f.index
    sick = ill(f.brokers, where.replicas if where else ())
    place = f"{where.topic}-{where.id}" if where else "a partition of __consumer_offsets"
    mend = told(sick) if sick else "another broker may take over in this moment: ask again"
    return "no coordinator", (
        f"The coordinator of group '{f.group.name}' does not answer, so nobody can join the group or commit: "
        f"it is whichever broker leads {place}, where the group's offsets are. "
        f"{mend[0].upper()}{mend[1:]}."
    )


def no_records(f: Facts) -> Told | None:
    """Explain that the topic is empty, because nothing was written or because it was deleted."""
    if not f.places or not all(p.empty for p in f.places):
        return None
    if all(p.end == 0 for p in f.places):
        return "no records", (
            f"Topic '{f.topic}' is empty: nothing was ever written to it (start = end = 0 in every "
            "partition). Write a record, and look at what the producer's flush() and on_delivery say."
        )
    gone = sum(p.end or 0 for p in f.places)
    return "deleted", (
        f"Topic '{f.topic}' holds no record any more: {gone} offsets were given out, and start = end in "
        "every partition, so all records were deleted, by retention (retention.ms, retention.bytes) or by "
        "delete_records. Write new ones, and look at the topic's settings if that was too early."
    )
