"""What lab 03 reads and says about partitions that have lost replicas."""

from typing import Any

from confluent_kafka import KafkaError, Producer

from threebrokers.checks.expect import existing_topic, expect_choice, expect_topic, topic_setting
from threebrokers.kafka.clients import LabProducer
from threebrokers.kafka.state import PartitionState
from threebrokers.lab.exercise import NotYet, eventually, exercise
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios import is_balanced
from threebrokers.text import counted

DAMAGED = {"thumbnails": 1, "baskets": 2, "stock": 2}  # min.insync.replicas of the exercise's topics


def _partitions(lab: Lab) -> list[tuple[PartitionState, int]]:
    """Return the partitions of the three topics as they are now, each with its min.insync.replicas.

    Raises NotYet if a topic is missing, or if no broker is away.
    """
    least = {lab.topic(name): number for name, number in DAMAGED.items()}
    found = [p for topic in lab.cluster.state(list(least)).topics for p in topic.partitions]
    if {p.topic for p in found} != set(least):
        raise NotYet(
            "one of the topics thumbnails, baskets and stock is missing",
            "the lab makes them before broker 2 dies",
            "the cell that makes them, above: run it again",
        )
    if all(len(p.isr) == len(p.replicas) for p in found):
        raise NotYet(
            "all replicas of all partitions are in sync now",
            "broker 2 should be away while you count",
            "the exercise's cell: run it again, it sends broker 2 away",
        )
    return [(p, least[p.topic]) for p in found]


def is_offline(found: list[tuple[PartitionState, int]], answer: int) -> None:
    """Raise NotYet if the number of partitions without a leader is another one."""
    right = sum(p.leader is None for p, _ in found)
    if answer == right:
        return
    gone = {b for p, _ in found for b in set(p.replicas) - set(p.isr)}
    if answer == sum(bool(gone & set(p.replicas)) for p, _ in found):
        raise NotYet(
            f"{answer} partitions have a replica on broker 2, but most of them still have a leader",
            "offline are those that have none",
            "`offline` and p.leader",
        )
    raise NotYet(
        f"`offline` is {answer}", f"{_without(right)}", "p.leader, which is None if a partition has no leader"
    )


def is_under_replicated(found: list[tuple[PartitionState, int]], answer: int) -> None:
    """Raise NotYet if the number of partitions that have a replica out of sync is another one."""
    short = [p for p, _ in found if len(p.isr) < len(p.replicas)]
    gone = {b for p in short for b in set(p.replicas) - set(p.isr)}
    if answer == len(short):
        return
    said = {
        sum(p.leader is None for p, _ in found): (
            f"{answer} is the number of partitions that lost their last replica, or their leader"
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


def is_under_minimum(found: list[tuple[PartitionState, int]], answer: int) -> None:
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
        "a partition counts if it has fewer replicas in sync than its own topic asks for",
        "len(p.isr) and least[p.topic]",
    )


def _without(count: int) -> str:
    return f"{count} partition{' has' if count == 1 else 's have'} no leader now"


LEAST = {"clicks": 1, "invoices": 2, "payments": 3}  # min.insync.replicas of the exercise's topics
REPLICAS = 3
ALL = ("all", -1, "-1")
NOT_WHY = {
    word: (f"the error is right, but {found}", expected, "`why`")
    for word, found, expected in (
        ("full", "the brokers have little to do", "they count replicas, not work"),
        ("leader", "the leader itself has answered, so there is one", "it has counted its in-sync replicas"),
        ("lost", "the record was never stored: the leader looks before it writes", "so nothing can be lost"),
    )
}
NOT_WAITING = {
    word: (f"the two numbers are right, but {found}", expected, "`waits_for`")
    for word, found, expected in (
        (
            "flush",
            "the leader has written it already: its log end offset counts it",
            "another disk is what is missing",
        ),
        (
            "transaction",
            "no transaction is open, and a reader with read_uncommitted stops at the high watermark, too",
            "something else keeps the high watermark back",
        ),
        (
            "consumer",
            "the brokers answer every consumer with the same end, however long it asks",
            "something on the brokers keeps the record back",
        ),
    )
}


def is_refused(lab: Lab, producer: Producer, errors: list[Any]) -> None:
    """Raise NotYet unless the last delivery report is NOT_ENOUGH_REPLICAS."""
    if not errors:
        raise NotYet(
            "`errors` is empty: no delivery report has come",
            "there should be one for the record that you sent",
            "**patience in the producer's settings, produce(…) and flush()",
        )
    last = errors[-1]
    if last is None:
        raise _stored(lab, producer)
    code = last.code() if isinstance(last, KafkaError) else None
    if code == KafkaError.NOT_ENOUGH_REPLICAS:
        return
    if code == KafkaError._MSG_TIMED_OUT:
        raise NotYet(
            "the error is _MSG_TIMED_OUT: the producer's own time was over",
            "it was refused and tried again, so the last thing that it can tell is the time",
            "retries",
        )
    if code == KafkaError.REQUEST_TIMED_OUT:
        raise NotYet(
            "the error is REQUEST_TIMED_OUT: the leader took the record and waited for a follower in vain",
            "broker 2 should be out of the ISR before you send",
            "the exercise's cell: run it as it stands, it waits for that",
        )
    raise NotYet(
        f"the last error is {last.name() if code is not None else repr(last)}",
        "it should be NOT_ENOUGH_REPLICAS",
        "the topic, `acks` and `retries`",
    )


def _stored(lab: Lab, producer: Producer) -> NotYet:
    settings = producer.config if isinstance(producer, LabProducer) else {}
    acks = settings.get("acks", settings.get("request.required.acks", "all"))
    if acks not in ALL:
        return NotYet(
            f"the record was stored, because the producer asked for the leader alone (acks={acks})",
            "min.insync.replicas is a promise to those who ask for all",
            "acks",
        )
    names = [lab.topic(name) for name in LEAST]
    partitions = [p for topic in lab.cluster.state(names).topics for p in topic.partitions]
    if partitions and all(len(p.isr) == len(p.replicas) for p in partitions):
        return NotYet(
            "the record was stored: all three replicas were in sync",
            "broker 2 should be away",
            "the exercise's cell, which sends it away; do not start it again",
        )
    return NotYet(
        "the record was stored in a topic which is content with 2 replicas in sync, or with 1",
        "it should ask for more than are left",
        "the three topics and their min.insync.replicas",
    )


def ends(lab: Lab) -> tuple[int, int]:
    """Return the log end offset of the leader of 'unseen', and its high watermark, as they are now."""
    topic = lab.topic("unseen")
    existing_topic(lab, topic)

    def told() -> tuple[int, int]:
        found = lab.cluster.state([topic]).topic(topic)
        partition = found.partitions[0] if found else None
        if partition is None or partition.log_end_offset is None or partition.high_watermark is None:
            raise NotYet(
                "nobody tells where the log of 'unseen' ends: it has no leader that answers",
                "its leader should be up",
                "lab.cluster.resume(…) for the leader; a follower should be frozen",
            )
        return partition.log_end_offset, partition.high_watermark

    return eventually(told, what="the leader of 'unseen' to answer", within=5)


def is_hidden(leader_end: int, watermark: int) -> None:
    """Raise NotYet unless the leader's log goes beyond the high watermark."""
    if leader_end == 0:
        raise NotYet(
            "the leader has stored nothing",
            "it should have a record, and for that it must be asked alone",
            "acks, and whether you have frozen the leader itself",
        )
    if leader_end == watermark:
        raise NotYet(
            f"everybody can read up to the leader's end, offset {leader_end}",
            "a follower that is needed should not get the record",
            "lab.cluster.pause(…) for a follower, before you send",
        )


def are_the_ends(log_end_offset: int, high_watermark: int, leader_end: int, watermark: int) -> None:
    """Raise NotYet unless both offsets are those of the leader."""
    look = "lab.cluster.state([unseen]): .log_end_offset and .high_watermark of its partition"
    if log_end_offset != leader_end:
        said = {
            watermark: ", which is the high watermark, not the log end offset",
            leader_end - 1: ", which is the offset of the last record",
        }
        raise NotYet(
            f"`log_end_offset` is {log_end_offset}{said.get(log_end_offset, '')}",
            "it should be the offset that the next record gets",
            look,
        )
    if high_watermark != watermark:
        raise NotYet(
            f"`high_watermark` is {high_watermark}",
            "it should be the offset before which everybody can read",
            look,
        )


def stays_so(lab: Lab) -> None:
    """Wait until the follower that got nothing has left the ISR: nor can the records be read after that."""
    topic = lab.topic("unseen")

    def expelled() -> None:
        if len(existing_topic(lab, topic).partitions[0].isr) == REPLICAS:
            raise NotYet(
                "all three replicas of 'unseen' are in sync again",
                "one of them should stay away",
                "lab.cluster.pause(…), and whether something lets the follower go on",
            )

    eventually(expelled, what="the frozen follower to leave the ISR", within=10)
    is_hidden(*ends(lab))


TOPICS = (
    "failsafe",
    "small-a",
    "small-b",
    "small-c",
    "orders",
    *(f"replicas-{count}-least-{least}" for count in (1, 2, 3) for least in range(1, count + 1)),
    *DAMAGED,
    *LEAST,
    "films",
    "work",
    "slow",
    "unseen",
    "nearest",
)
GROUPS = ("greetings", "slow", "unseen", "nearest")


@exercise("3.1", "Survive one broker")
def survives_one_broker(lab: Lab, orders: str) -> str:
    """Solved if the topic has 13 partitions, three replicas, and min.insync.replicas=2."""
    partitions = expect_topic(lab, orders, "orders").partitions
    replicas, least = len(partitions[0].replicas), int(topic_setting(lab, orders, "min.insync.replicas"))
    if replicas < 3:
        raise NotYet(
            f"'{orders}' keeps {counted(replicas, 'replica')} of each partition",
            "two must be left when one broker is gone, so there should be 3",
            "replication_factor",
        )
    if least > 2:
        raise NotYet(
            f"min.insync.replicas is {least} of {replicas} replicas",
            "with one broker gone, only 2 are left and every write would be refused; it should be 2",
            "min.insync.replicas",
        )
    if least < 2:
        raise NotYet(
            f"min.insync.replicas is {least}",
            "an order would be acknowledged when one broker alone has it; it should be 2",
            'config={"min.insync.replicas": …}; the default is 1',
        )
    if len(partitions) != 13:
        raise NotYet(
            f"'{orders}' has {counted(len(partitions), 'partition')}",
            "13 are asked for",
            "partitions=…",
        )
    return (
        "any one broker may die: two replicas remain, acks=all still writes, and each order is on two disks."
    )


@exercise("3.2", "Count the damage")
def damage_counted(lab: Lab, under_replicated: int, under_min_isr: int, offline: int) -> str:
    """Solved if the three numbers are those that the cluster's metadata gives now."""
    partitions = _partitions(lab)
    is_offline(partitions, offline)
    is_under_replicated(partitions, under_replicated)
    is_under_minimum(partitions, under_min_isr)
    return (
        f"{under_replicated} partitions have a replica too few, {under_min_isr} of them cannot be written "
        f"with acks=all, and {offline} cannot be read either; these are the three alarms of a Kafka cluster."
    )


@exercise("3.3", "Have a write refused")
def write_refused(lab: Lab, producer: Producer, errors: list[Any], why: str) -> str:
    """Solved if the last report is NOT_ENOUGH_REPLICAS, and the reason is the promise."""
    is_refused(lab, producer, errors)
    expect_choice("why", why, "promise", NOT_WHY)
    return (
        "nothing was stored, and the producer knows it at once: it can keep the payment and try again, "
        "which is better than a payment that only one disk has."
    )


@exercise("3.4", "Put leadership back")
def leadership_back(lab: Lab, work: str, elected: dict[Any, Any]) -> str:
    """Solved if every partition is led by the first of its replicas, and these are spread as at first."""
    topic = existing_topic(lab, work) if work == lab.topic("work") else expect_topic(lab, work, "work")
    if not is_balanced(topic):
        raise NotYet(
            "the order of the replicas has been changed, so the preferred leaders are not spread any more",
            "the order should stay, and the leaders should follow it",
            "elect_leaders, which changes leaders and nothing else; run the exercise's cell again",
        )

    def led() -> None:
        partitions = existing_topic(lab, work).partitions
        meant = [p.id for p in partitions if p.replicas[0] == 2]
        done = [p.id for p in partitions if p.replicas[0] == 2 == p.leader]
        wrong = [p.id for p in partitions if p.leader != p.replicas[0]]
        if wrong and not done:
            raise NotYet(
                f"broker 2 leads none of its partitions ({', '.join(map(str, meant))})",
                "a broker that starts again only follows, until somebody holds an election",
                "AdminClient.elect_leaders",
            )
        if wrong:
            raise NotYet(
                f"broker 2 leads {len(done)} of the partitions that broker 2 should lead ({len(meant)})",
                "all 13 partitions should be led by the first of their replicas",
                "the list of TopicPartition that you give to elect_leaders",
            )

    eventually(led, what="the leaders to change", within=2)
    if {place.partition for place in elected} != set(range(13)):
        raise NotYet(
            "the leaders are right, but `elected` is not the result for 13 partitions",
            "it should be what the election returned",
            "elect_leaders(…).result()",
        )
    return "every partition is led by its first replica again; the work is spread, and no record has moved."


@exercise("3.5", "Hide three records")
def records_hidden(lab: Lab, log_end_offset: int, high_watermark: int, waits_for: str) -> str:
    """Solved if the leader's log end is beyond the high watermark now, and the answers say so."""
    leader_end, watermark = ends(lab)
    is_hidden(leader_end, watermark)
    are_the_ends(log_end_offset, high_watermark, leader_end, watermark)
    expect_choice("waits_for", waits_for, "replicas", NOT_WAITING)
    stays_so(lab)
    return (
        "the leader has the records, and nobody can read them before enough replicas have them; "
        "so no reader ever acts on a record that dies with one broker."
    )
