"""What lab 03 reads and says about partitions that have lost copies."""

from threebrokers.kafka.state import Partition
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab

LEAST = {"thumbnails": 1, "baskets": 2, "stock": 2}  # min.insync.replicas of the exercise's topics


def partitions(lab: Lab) -> list[tuple[Partition, int]]:
    """Return the partitions of the three topics as they are now, each with its min.insync.replicas.

    Raises NotYet if a topic is missing, or if no broker is away.
    """
    least = {lab.topic(name): number for name, number in LEAST.items()}
    found = [p for topic in lab.cluster.state(list(least)).topics for p in topic.partitions]
    if {p.topic for p in found} != set(least):
        raise NotYet(
            "one of the topics thumbnails, baskets and stock is missing",
            "the lab makes them before broker 2 dies",
            "the cell that makes them, above: run it again",
        )
    if all(len(p.isr) == len(p.replicas) for p in found):
        raise NotYet(
            "all copies of all partitions are in sync now",
            "broker 2 should be away while you count",
            "the exercise's cell: run it again, it sends broker 2 away",
        )
    return [(p, least[p.topic]) for p in found]


def is_offline(found: list[tuple[Partition, int]], answer: int) -> None:
    """Raise NotYet if the number of partitions without a leader is another one."""
    right = sum(p.leader is None for p, _ in found)
    if answer == right:
        return
    gone = {b for p, _ in found for b in set(p.replicas) - set(p.isr)}
    if answer == sum(bool(gone & set(p.replicas)) for p, _ in found):
        raise NotYet(
            f"{answer} partitions have a copy on broker 2, but most of them still have a leader",
            "offline are those that have none",
            "`offline` and p.leader",
        )
    raise NotYet(
        f"`offline` is {answer}", f"{_without(right)}", "p.leader, which is None if a partition has no leader"
    )


def is_under_replicated(found: list[tuple[Partition, int]], answer: int) -> None:
    """Raise NotYet if the number of partitions with fewer copies in sync than replicas is another one."""
    short = [p for p, _ in found if len(p.isr) < len(p.replicas)]
    gone = {b for p in short for b in set(p.replicas) - set(p.isr)}
    if answer == len(short):
        return
    said = {
        sum(p.leader is None for p, _ in found): (
            f"{answer} is the number of partitions that lost their last copy, or their leader"
        ),
        len({p.topic for p in short}): f"{answer} is the number of topics with such partitions",
        sum(p.replicas[0] in gone for p, _ in found): (
            f"{answer} is the number of partitions of which broker 2 was the preferred leader"
        ),
        sum(len(p.replicas) for p in short): f"{answer} is the number of replicas of these partitions",
    }
    raise NotYet(
        said.get(answer, f"`under_replicated` is {answer}"),
        "a partition counts once, and it counts if its ISR is smaller than its list of replicas",
        "len(p.isr) and len(p.replicas)",
    )


def is_under_minimum(found: list[tuple[Partition, int]], answer: int) -> None:
    """Raise NotYet if the number of partitions with an ISR below the topic's minimum is another one."""
    if answer == sum(len(p.isr) < least for p, least in found):
        return
    at_most = sum(len(p.isr) <= least for p, least in found)
    said = (
        f"{answer} partitions are at the minimum or under it"
        if answer == at_most
        else f"`under_min_isr` is {answer}"
    )
    raise NotYet(
        said,
        "a partition counts if it has fewer copies in sync than its own topic asks for",
        "len(p.isr) and least[p.topic]",
    )


def _without(count: int) -> str:
    return f"{count} partition{' has' if count == 1 else 's have'} no leader now"
