"""Reasons that lie in the cluster or the topic: nobody at all could read there."""

from difflib import get_close_matches

from threebrokers.text import counted, listed
from threebrokers.why_empty.facts import Facts
from threebrokers.why_empty.words import Told, ids, ill, partitions, told, wait


def no_broker(f: Facts) -> Told | None:
    """Explain that nobody answers."""
    if f.heard:
        return None
    if f.unheard:
        return Told(
            "no broker",
            f"{counted(f.unheard, 'broker')} {'run' if f.unheard > 1 else 'runs'} and did not answer for "
            "several seconds, so nobody can tell: the machine may be busy. Ask again; `threebrokers status` "
            "says how they are.",
        )
    return Told(
        "no broker", "No broker answers, so nobody can read anything: start them with `threebrokers up`."
    )


def no_topic(f: Facts) -> Told | None:
    """Explain that there is no such topic, and offer the nearest name."""
    if f.exists:
        return None
    names = [name for name in f.names if not name.startswith("__")]
    near = get_close_matches(f.topic, names, n=1, cutoff=0.5)
    offer = f"; the nearest name is '{near[0]}'" if near else ""
    return Told(
        "no topic",
        f"There is no topic '{f.topic}', so there is nothing to read{offer}. "
        "Correct the name, or make the topic: a consumer that has subscribed gets it then.",
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
        else f"has no leader (its replicas are on broker {listed([str(n) for n in place.replicas])})"
    )
    sick = ill(f.brokers, [place.leader] if place.leader is not None else place.replicas)
    mend = told(sick) if sick else "a leader may be elected in this moment: ask again"
    rest = len(f.places) - len(silent)
    others = f" The other {rest} can be read." if rest else ""
    more = f", as {partitions(silent[1:])}" if silent[1:] else ""
    return Told(
        "no leader",
        f"Partition {place.id} of '{f.topic}' {lead}{more}, so nobody gets what is in it.{others} "
        f"{mend[0].upper()}{mend[1:]}.",
        ids(silent),
    )


def no_coordinator(f: Facts) -> Told | None:
    """Explain that nobody can give the group its partitions."""
    if not f.lost_coordinator or f.by_hand:
        return None
    where = f.index
    sick = ill(f.brokers, where.replicas if where else ())
    place = f"{where.topic}-{where.id}" if where else "a partition of __consumer_offsets"
    mend = told(sick) if sick else "another broker may take over in this moment: ask again"
    return Told(
        "no coordinator",
        f"The coordinator of group '{f.group.name}' does not answer, so nobody can join the group or commit: "
        f"it is whichever broker leads {place}, where the group's offsets are. "
        f"{mend[0].upper()}{mend[1:]}.",
    )


def no_records(f: Facts) -> Told | None:
    """Explain that the topic is empty, because nothing was written or because it was deleted."""
    if not f.places or not all(p.empty for p in f.places):
        return None
    if all(p.end == 0 for p in f.places):
        return Told(
            "no records",
            f"Topic '{f.topic}' is empty: nothing was ever written to it (start = end = 0 in every "
            "partition). Write a record, and look at what the producer's flush() and on_delivery say.",
        )
    gone = sum(p.end or 0 for p in f.places)
    return Told(
        "deleted",
        f"Topic '{f.topic}' holds no record any more. {gone} offsets were given out, and start = end in "
        "every partition, so all records were deleted, by retention (retention.ms, retention.bytes) or by "
        "delete_records. Write new ones, and look at the topic's settings if that was too early.",
    )


def out_of_range(f: Facts) -> Told | None:
    """Explain that the committed offset is one that the partition does not have."""
    wrong = [p for p in f.mine if p.misplaced]
    if not wrong:
        return None
    place, reset = wrong[0], f.client.reset if f.client else None
    then = {
        "earliest": "it goes on from the start",
        "latest": "it jumps to the end, and gets only what is written from now on",
        "error": "poll() returns an error",
        None: "earliest goes to the start, latest (Kafka's default) to the end, where only new records come",
    }[reset]
    return Told(
        "out of range",
        f"Group '{f.group.name}' has committed offset {place.committed} in partition {place.id}, where only "
        f"{place.start} to {place.end} are left. The records were deleted meanwhile, or the topic was made "
        f"anew. What happens then says auto.offset.reset{f' ({reset})' if reset else ''}: {then}. Take a new "
        "group, or set its offsets with kafka-consumer-groups --reset-offsets while nobody is in it.",
        ids(wrong),
    )


def latest(f: Facts) -> Told | None:
    """Explain that a group without offsets begins at the end."""
    new = [p for p in f.mine if not p.empty and f.next(p) is None]
    if not new:
        return None
    count = sum((p.readable or 0) - (p.start or 0) for p in new)
    if f.client and f.client.reset == "error":
        return Told(
            "no offset",
            f"Group '{f.group.name}' has committed nothing in {partitions(new)}, and with "
            "auto.offset.reset=error poll() returns an error then. Make a new consumer with 'earliest'.",
            ids(new),
        )
    nothing, old = f"has committed nothing in {partitions(new)}", counted(count, "record")
    if f.client:
        return Told(
            "latest",
            f"Group '{f.group.name}' {nothing}, and this consumer has auto.offset.reset=latest (Kafka's "
            f"default), so it begins at the end and waits for new records: {old} that were there before are "
            "not for it. Make a new consumer with 'auto.offset.reset': 'earliest'.",
            ids(new),
        )
    return Told(
        "latest",
        f"Group '{f.group.name}' {nothing}, so auto.offset.reset of the consumer says where it begins. With "
        f"latest, Kafka's default, it waits for new records, and {old} that are there are not for it; with "
        "earliest it gets them all. Set 'auto.offset.reset': 'earliest' in the consumer.",
        ids(new),
    )


def all_read(f: Facts) -> Told | None:
    """Explain that the group stands at the end."""
    if not f.mine:
        return None
    where = "everywhere" if not f.client else f"in {partitions(f.mine)}"
    how = (
        "this consumer has read"
        if any(p.position is not None for p in f.mine)
        else "it has committed the end"
    )
    return Told(
        "all read",
        f"Everything is read: {how} {where} (lag 0), so there is nothing until somebody writes. "
        "auto.offset.reset=earliest counts only where a group has no place that is still in the log: to "
        "read all again, take a new group, or seek() to the start.",
    )


def unknown(f: Facts) -> Told:
    """Say that no reason is known."""
    return Told(
        "unknown",
        f"No reason was found why a consumer of group '{f.group.name}' gets nothing from '{f.topic}'. Ask "
        "again while it waits, and look at what poll() returns: errors come as records do.",
    )


def waits(f: Facts) -> Told | None:
    """Explain that there are records to be had: somebody reads them, or nobody polls."""
    those = [p for p in f.mine if f.waiting(p) and p.id not in f.barren]
    if not those:
        return None
    count, where = sum(map(f.waiting, those)), partitions(those)
    moving = sorted((f.moved or frozenset()) & {p.id for p in those})
    if moving and not f.client:
        return Told(
            "moving",
            f"Group '{f.group.name}' does read: {wait(count)} in {where}, and it went on in "
            f"{partitions(moving)} while it was watched. If your own consumer gets nothing, another one with "
            "the same group.id gets them: give yours a group of its own.",
            ids(those),
        )
    holder = "" if f.client else f" Member {those[0].holder} holds them: is it the consumer that you mean?"
    return Told(
        "unread",
        f"There is something to read: {wait(count)} in {where}, and the consumer has only to fetch "
        f"them.{holder} Call poll() again and again, for some seconds: the first call often returns None, "
        "because it comes before the first answer. A consumer that nobody polls reads nothing.",
        ids(those),
    )


def barren(f: Facts) -> Told | None:
    """Explain that offsets are left and no record: aborted, compacted away, or the marks of transactions."""
    those = [p for p in f.mine if f.waiting(p) and p.id in f.barren]
    if not those:
        return None
    left = counted(sum(map(f.waiting, those)), "offset")
    return Told(
        "aborted",
        f"{left} up to the end of {partitions(those)} are left, and none of them is a record for this "
        "reader. They belong to aborted transactions, are the marks with which transactions end, or were "
        "compacted away. "
        "isolation.level=read_uncommitted shows aborted records; otherwise wait for new ones.",
        ids(those),
    )


def transaction(f: Facts) -> Told | None:
    """Explain that an open transaction holds back what is behind it."""
    held = [
        p
        for p in f.mine
        if None not in (p.stable, p.readable, f.next(p)) and (p.stable or 0) < (p.readable or 0)
    ]
    if not held or not f.committed_only:
        return None
    place = held[0]
    default = "" if f.client else " (the default of confluent-kafka, not of Kafka's own client)"
    count = (place.readable or 0) - (place.stable or 0)
    return Told(
        "transaction",
        f"An open transaction holds back partition {place.id} from offset {place.stable} on, and a consumer "
        f"with isolation.level=read_committed{default} gets nothing behind that: {wait(count)}. "
        "Let the producer commit or abort; if it has died, the brokers abort after transaction.timeout.ms "
        "(60 s unless set). isolation.level=read_uncommitted does not wait.",
        ids(held),
    )


def uncopied(f: Facts) -> Told | None:
    """Explain that records have not reached all replicas that are in sync, and nobody may read them yet."""
    held = [p for p in f.mine if None not in (p.end, p.readable) and (p.readable or 0) < (p.end or 0)]
    if not held:
        return None
    count = sum((p.end or 0) - (p.readable or 0) for p in held)
    return Told(
        "not copied",
        f"{counted(count, 'record')} in {partitions(held)} may not be read yet: they have not reached every "
        "replica in sync. Look with `threebrokers status` whether a broker is paused or silent; "
        "it leaves the ISR within replica.lag.time.max.ms (4 s here).",
        ids(held),
    )
