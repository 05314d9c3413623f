"""Exercise 3.2: partitions that are under-replicated, under min ISR or offline, counted from the metadata."""

from dataclasses import dataclass

from threebrokers.kafka.state import PartitionState
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.lab.outage import no_answer
from threebrokers.text import have, listed

LEAST = {"thumbnails": 1, "baskets": 2, "stock": 2}  # min.insync.replicas of the exercise's topics
AWAY = 2
METRIC = (
    "what the brokers' own metric says: each counts the partitions that it leads, "
    "and a partition without a leader is missing in it"
)


@dataclass(frozen=True)
class Damage:
    """The partitions of the three topics, each with its min.insync.replicas, and what they are."""

    partitions: tuple[tuple[PartitionState, int], ...]

    @property
    def under_replicated(self) -> list[PartitionState]:
        """Those with fewer replicas in sync than replicas."""
        return [p for p, _ in self.partitions if len(p.isr) < len(p.replicas)]

    @property
    def under_min_isr(self) -> list[PartitionState]:
        """Those with fewer replicas in sync than their topic asks for."""
        return [p for p, least in self.partitions if len(p.isr) < least]

    @property
    def offline(self) -> list[PartitionState]:
        """Those without a leader."""
        return [p for p, _ in self.partitions if p.leader is None]


def damage_now(lab: Lab) -> Damage:
    """Return the damage as it is now.

    Raises NotYet if a topic is missing, or if another broker than 2 is away, or none.
    """
    least = {lab.topic(name): number for name, number in LEAST.items()}
    state = lab.cluster.state(list(least))
    if state.last_response_at is None:
        raise no_answer(lab)
    found = tuple((p, least[p.topic]) for topic in state.topics for p in topic.partitions)
    if {p.topic for p, _ in found} != set(least):
        raise NotYet(
            "one of the topics thumbnails, baskets and stock is missing",
            "the lab makes them before broker 2 dies",
            "the cell that makes them, above: run it again",
        )
    away = sorted({b for p, _ in found for b in set(p.replicas) - set(p.isr)})
    if not away:
        raise NotYet(
            "all replicas of all partitions are in sync now",
            "broker 2 should be away while you count",
            "the exercise's cell: run it again, it sends broker 2 away",
        )
    if away == [AWAY] and not Damage(found).offline:  # one replica of `thumbnails` is only there
        raise NotYet(
            "broker 2 runs again: each partition has a leader, and only its replicas are not in sync yet",
            "broker 2 should be away while you count, and while the check looks",
            "the exercise's cell: run it again, it sends broker 2 away",
        )
    if away != [AWAY]:
        raise NotYet(
            f"broker {listed(away)} {have(away)} replicas that are not in sync",
            "only broker 2 should be away while you count",
            "lab.cluster.wait_in_sync(), then the exercise's cell again",
        )
    return Damage(found)


def is_each_counted(found: Damage, under_replicated: int, under_min_isr: int, offline: int) -> None:
    """Raise NotYet if only the first number is right, and nothing was counted after it."""
    if (under_replicated, under_min_isr, offline) == (len(found.under_replicated), 0, 0):
        raise NotYet(
            "`under_replicated` is right, and `under_min_isr` and `offline` are 0",
            "each of the three counts should go through all partitions",
            "what they go through: a generator, (… for … in …), gives its items once, and a list each time",
        )


def is_of_all(found: Damage, under_replicated: int, under_min_isr: int, offline: int) -> None:
    """Raise NotYet if the three numbers are those of one of the topics: a loop that counts anew for each."""
    answer = (under_replicated, under_min_isr, offline)
    for name in sorted({p.topic for p, _ in found.partitions}):
        one = Damage(tuple((p, least) for p, least in found.partitions if p.topic == name))
        if answer == (len(one.under_replicated), len(one.under_min_isr), len(one.offline)):
            lost = ", or three times the number of partitions that lost their last replica in sync"
            or_lost = lost if set(answer) == {len(found.offline)} else ""
            raise NotYet(
                f"these are the numbers of {name!r} alone{or_lost}",
                "all three topics count together, and each of the three words has a number of its own",
                "your loop over the topics: does it add to the numbers, or begin anew for each topic?",
            )


def is_offline(found: Damage, answer: int) -> None:
    """Raise NotYet if the number of partitions without a leader is another one."""
    right = len(found.offline)
    if answer == right:
        return
    said = {
        len(found.under_min_isr): f"{answer} partitions are under min ISR, and some of them have a leader",
        len(found.under_replicated): (
            f"{answer} partitions have a replica on broker 2, but most of them still have a leader"
        ),
    }
    raise NotYet(
        said.get(answer, f"`offline` is {answer}; {right} partition{_has(right)} no leader now"),
        "offline are those that have none",
        "`offline` and p.leader, which is None if a partition has no leader",
    )


def is_under_replicated(found: Damage, answer: int) -> None:
    """Raise NotYet if the number of partitions that have a replica out of sync is another one."""
    short = found.under_replicated
    if answer == len(short):
        return
    topics = len({p.topic for p in short})
    if answer > max(len(found.partitions), sum(len(p.replicas) for p in short)):
        raise NotYet(
            f"`under_replicated` is {answer}, and the three topics have {len(found.partitions)} partitions",
            "only the partitions of these topics count, not all of the cluster",
            "`found.topics`, or --topic for Kafka's tool",
        )
    known = (  # several of them can be the same number
        (len(found.partitions), "the number of all partitions"),
        (sum(len(p.replicas) for p in short), "the number of replicas of these partitions"),
        (_led(short), METRIC),
        (topics, "the number of topics with such partitions"),
        (len(found.under_min_isr), "the number of partitions under min ISR"),
        (
            len(short) - len(found.under_min_isr),
            "the number without those under min ISR, which are under-replicated, too",
        ),
        (len(found.offline), "the number of partitions that lost their last replica in sync"),
        (
            sum(p.replicas[0] == AWAY for p in short),
            "the number of partitions of which broker 2 was the preferred leader",
        ),
    )
    said = [words for number, words in known if number == answer]
    raise NotYet(
        f"{answer} is {', or '.join(said)}" if said else f"`under_replicated` is {answer}",
        "a partition counts once, and it counts if its ISR is smaller than its list of replicas",
        "`under_replicated`, len(p.isr) and len(p.replicas)",
    )


def is_under_minimum(found: Damage, answer: int) -> None:
    """Raise NotYet if the number of partitions with an ISR below the topic's minimum is another one."""
    short = found.under_min_isr
    if answer == len(short):
        return
    said = {
        len(found.under_replicated): f"{answer} is the number of under-replicated partitions",
        sum(len(p.isr) <= least for p, least in found.partitions): (
            f"{answer} partitions are at the minimum or under it"
        ),
        sum(len(p.isr) < max(LEAST.values()) for p, _ in found.partitions): (
            f"{answer} partitions have fewer than 2 replicas in sync, but one topic asks for 1 only"
        ),
        _led(short): f"{answer} is {METRIC}",
        len(found.offline): f"{answer} is the number of partitions that are offline",
    }
    raise NotYet(
        said.get(answer, f"`under_min_isr` is {answer}"),
        "a partition counts if it has fewer replicas in sync than its own topic asks for",
        "`under_min_isr`, len(p.isr) and least_of[p.topic]",
    )


def _led(partitions: list[PartitionState]) -> int:
    return sum(p.leader is not None for p in partitions)


def _has(count: int) -> str:
    return " has" if count == 1 else "s have"
