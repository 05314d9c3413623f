"""Reasons that lie in what waits to be read: it can be fetched, or is held back, or is no record."""

from threebrokers.text import counted
from threebrokers.why_empty.facts import Facts
from threebrokers.why_empty.words import Told, partitions, wait


def waits(f: Facts) -> Told | None:
    """Explain that there are records to be had: somebody reads them, or nobody polls."""
    those = [p for p in f.mine if f.waiting(p) and p.id not in f.barren]
    if not those:
        return None
    count, where = sum(map(f.waiting, those)), partitions(those)
    moving = sorted((f.moved or frozenset()) & {p.id for p in those})
    if moving and not f.client:
        return "moving", (
            f"Group '{f.group.name}' does read: {wait(count)} in {where}, and it went on in "
            f"{partitions(moving)} while it was watched. If your own consumer gets nothing, another one with "
            "the same group.id gets them: give yours a group of its own."
        )
    holder = "" if f.client else f" Member {those[0].holder} holds them: is it the consumer that you mean?"
    return "unread", (
        f"There is something to read: {wait(count)} in {where}, and the consumer has only to fetch "
        f"them.{holder} Call poll() again and again, for some seconds: the first call often returns None, "
        "because it comes before the first answer. A consumer that nobody polls reads nothing."
    )


def barren(f: Facts) -> Told | None:
    """Explain that offsets are left and no record: aborted, compacted away, or the marks of transactions."""
    those = [p for p in f.mine if f.waiting(p) and p.id in f.barren]
    if not those:
        return None
    left = counted(sum(map(f.waiting, those)), "offset")
    return "aborted", (
        f"{left} up to the end of {partitions(those)} are left, and none of them is a record for this "
        "reader: they belong to aborted transactions, are the marks with which transactions end, or were "
        "compacted away. "
        "isolation.level=read_uncommitted shows aborted records; otherwise wait for new ones."
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
    return "transaction", (
        f"An open transaction holds back partition {place.id} from offset {place.stable} on, and a consumer "
        f"with isolation.level=read_committed{default} gets nothing behind that: {wait(count)}. "
        "Let the producer commit or abort; if it has died, the brokers abort after transaction.timeout.ms "
        "(60 s unless set). isolation.level=read_uncommitted does not wait."
    )


def uncopied(f: Facts) -> Told | None:
    """Explain that records have not reached all copies that are in sync, and nobody may read them yet."""
    held = [p for p in f.mine if None not in (p.end, p.readable) and (p.readable or 0) < (p.end or 0)]
    if not held:
        return None
    count = sum((p.end or 0) - (p.readable or 0) for p in held)
    return "not copied", (
        f"{counted(count, 'record')} in {partitions(held)} may not be read yet: they have not reached every "
        "copy that counts as in sync. Look with `threebrokers status` whether a broker is paused or silent; "
        "it leaves the ISR within replica.lag.time.max.ms (4 s here)."
    )
