"""What lab 03 reads and says about writes that are refused, and records that cannot be read yet."""

from typing import Any

from confluent_kafka import KafkaError, Producer

from threebrokers.checks.reading import existing_topic
from threebrokers.kafka.clients import LabProducer
from threebrokers.lab.exercise import NotYet, eventually
from threebrokers.lab.lab import Lab

LEAST = {"clicks": 1, "invoices": 2, "payments": 3}  # min.insync.replicas of the exercise's topics
COPIES = 3
ALL = ("all", -1, "-1")
NOT_WHY = {
    "full": ("the brokers have little to do", "they count copies, not work"),
    "leader": ("the leader itself has answered, so there is one", "it has counted its in-sync replicas"),
    "lost": ("the record was never stored: the leader looks before it writes", "so nothing can be lost"),
}
NOT_WAITING = {
    "flush": (
        "the leader has written it already: its log end offset counts it",
        "another disk is what is missing",
    ),
    "transaction": (
        "no transaction is open, and a reader with read_uncommitted stops at the high watermark, too",
        "something else keeps the high watermark back",
    ),
    "consumer": (
        "the brokers answer every consumer with the same end, however long it asks",
        "something on the brokers keeps the record back",
    ),
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
            "the error is REQUEST_TIMED_OUT: the leader took the record and waited for a copy in vain",
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
            "the record was stored: all three copies were in sync",
            "broker 2 should be away",
            "the exercise's cell, which sends it away; do not start it again",
        )
    return NotYet(
        "the record was stored in a topic which is content with 2 copies in sync, or with 1",
        "it should ask for more than are left",
        "the three topics and their min.insync.replicas",
    )


def is_the_reason(why: str) -> None:
    """Raise NotYet unless the reason is the topic's promise."""
    if why in NOT_WHY:
        found, expected = NOT_WHY[why]
        raise NotYet(f"the error is right, but {found}", expected, "`why`")
    if why != "promise":
        words = ", ".join(["promise", *NOT_WHY])
        raise NotYet(f"`why` is {why!r}", f"it should be one of {words}", "the task, above")


def ends(lab: Lab) -> tuple[int, int]:
    """Return the log end offset of the leader of 'unseen', and its high watermark, as they are now."""
    topic = lab.topic("unseen")
    existing_topic(lab, topic)

    def told() -> tuple[int, int]:
        seen = lab.cluster.sight([topic]).topic(topic)
        partition = seen.partitions[0] if seen else None
        if partition is None or partition.end is None or partition.readable is None:
            raise NotYet(
                "nobody tells where the log of 'unseen' ends: it has no leader that answers",
                "its leader should be up",
                "lab.cluster.resume(…) for the leader; a follower should be frozen",
            )
        return partition.end, partition.readable

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
            "a copy that is needed should not get the record",
            "lab.cluster.pause(…) for a follower, before you send",
        )


def are_the_ends(end: int, readable: int, leader_end: int, watermark: int) -> None:
    """Raise NotYet unless both offsets are those of the leader."""
    look = "lab.cluster.sight([unseen]): .end and .readable of its partition"
    if end != leader_end:
        said = {
            watermark: ", which is the high watermark, not the end",
            leader_end - 1: ", which is the offset of the last record",
        }
        raise NotYet(
            f"`end` is {end}{said.get(end, '')}", "it should be the offset that the next record gets", look
        )
    if readable != watermark:
        raise NotYet(
            f"`readable` is {readable}", "it should be the offset before which everybody can read", look
        )


def stays_so(lab: Lab) -> None:
    """Wait until the copy that got nothing has left the ISR: nor can the records be read after that."""
    topic = lab.topic("unseen")

    def expelled() -> None:
        if len(existing_topic(lab, topic).partitions[0].isr) == COPIES:
            raise NotYet(
                "all three copies of 'unseen' are in sync again",
                "one of them should stay away",
                "lab.cluster.pause(…), and whether something lets the copy go on",
            )

    eventually(expelled, what="the frozen copy to leave the ISR", within=10)
    is_hidden(*ends(lab))


def is_waited_for(word: str) -> None:
    """Raise NotYet unless the record waits for copies."""
    if word in NOT_WAITING:
        found, expected = NOT_WAITING[word]
        raise NotYet(f"the two numbers are right, but {found}", expected, "`waits_for`")
    if word != "copies":
        words = ", ".join(["copies", *NOT_WAITING])
        raise NotYet(f"`waits_for` is {word!r}", f"it should be one of {words}", "the task, above")
