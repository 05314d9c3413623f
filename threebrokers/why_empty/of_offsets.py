"""Reasons that lie in the offsets: where the group stands."""

from threebrokers.text import counted
from threebrokers.why_empty.facts import Facts
from threebrokers.why_empty.words import Told, partitions


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
    return "out of range", (
        f"Group '{f.group.name}' has committed offset {place.committed} in partition {place.id}, where only "
        f"{place.start} to {place.end} are left: the records were deleted meanwhile, or the topic was made "
        f"anew. What happens then says auto.offset.reset{f' ({reset})' if reset else ''}: {then}. Take a new "
        "group, or set its offsets with kafka-consumer-groups --reset-offsets while nobody is in it."
    )


def latest(f: Facts) -> Told | None:
    """Explain that a group without offsets begins at the end."""
    new = [p for p in f.mine if not p.empty and f.next(p) is None]
    if not new:
        return None
    count = sum((p.readable or 0) - (p.start or 0) for p in new)
    if f.client and f.client.reset == "error":
        return "no offset", (
            f"Group '{f.group.name}' has committed nothing in {partitions(new)}, and with "
            "auto.offset.reset=error poll() returns an error then. Make a new consumer with 'earliest'."
        )
    nothing, old = f"has committed nothing in {partitions(new)}", counted(count, "record")
    if f.client:
        return "latest", (
            f"Group '{f.group.name}' {nothing}, and this consumer has auto.offset.reset=latest (Kafka's "
            f"default), so it begins at the end and waits for new records: {old} that were there before are "
            "not for it. Make a new consumer with 'auto.offset.reset': 'earliest'."
        )
    return "latest", (
        f"Group '{f.group.name}' {nothing}, so auto.offset.reset of the consumer says where it begins: with "
        f"latest, Kafka's default, it waits for new records, and {old} that are there are not for it; with "
        "earliest it gets them all. Set 'auto.offset.reset': 'earliest' in the consumer."
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
    return "all read", (
        f"Everything is read: {how} {where} (lag 0), so there is nothing until somebody writes. "
        "auto.offset.reset=earliest counts only where a group has committed nothing: to read all again, take "
        "a new group, or seek() to the start."
    )


def unknown(f: Facts) -> Told:
    """Say that no reason is known."""
    return "unknown", (
        f"No reason was found why a consumer of group '{f.group.name}' gets nothing from '{f.topic}'. Ask "
        "again while it waits, and look at what poll() returns: errors come as records do."
    )
