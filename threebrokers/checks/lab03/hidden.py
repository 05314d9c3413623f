"""Exercise 3.4: records that the leader has stored and that nobody can read."""

from confluent_kafka import KafkaException

from threebrokers.checks.expect import existing_topic, setting_of
from threebrokers.checks.expect_actions import actions_of_attempt
from threebrokers.cluster.actions import action_kind
from threebrokers.lab.exercise import NotYet, eventually
from threebrokers.lab.lab import Lab
from threebrokers.text import counted

HIDDEN = 3
REPLICAS = 3
LEAST_SECONDS = 2.0
QUORUM = {
    "takes the quorum away": (
        "one broker that is away is enough",
        "how many brokers your code sends away",
    )
}
NOT_WAITING = {
    word: (f"the two numbers are right, but {found}", expected, "`waits_for`")
    for word, found, expected in (
        (
            "flush",
            "Kafka never waits for a disk before it lets others read: what is in memory counts, too",
            "another replica is what is missing",
        ),
        (
            "transaction",
            "no transaction is open, and who reads open ones, too, stops at the high watermark",
            "something else keeps the high watermark back",
        ),
        (
            "consumer",
            "the brokers answer every consumer with the same end, however long it asks",
            "something on the brokers keeps the record back",
        ),
    )
}


def ends(lab: Lab) -> tuple[int, int]:
    """Return the log end offset of the leader of 'unseen', and its high watermark, as they are now."""
    topic = lab.topic("unseen")
    existing_topic(lab, topic)

    def told() -> tuple[int, int]:
        state = lab.cluster.state([topic])
        found = state.topic(topic)
        partition = found.partitions[0] if found else None
        if partition is None or partition.log_end_offset is None or partition.high_watermark is None:
            away = [b for b in state.brokers if b.state != "up"]
            names = ", ".join(f"broker {b.id} is {b.state}" for b in away) or "no broker answers"
            raise NotYet(
                f"nobody tells where the log of 'unseen' ends: {names}",
                "its leader should be up, and one follower away",
                "the exercise's cell: run it again, it starts what is missing",
            )
        return partition.log_end_offset, partition.high_watermark

    return eventually(told, what="the leader of 'unseen' to answer", within=5)


def are_hidden(lab: Lab, leader_end: int, watermark: int, least: str) -> None:
    """Raise NotYet unless the leader's log goes three records beyond the high watermark.

    `least` is the topic's min.insync.replicas, empty if it is not known.
    """
    if leader_end == 0:
        raise _nothing(lab)
    if leader_end == watermark and _in_transaction(lab, watermark):
        raise NotYet(
            "the records are in an open transaction: a reader who takes open ones, too, gets them now",
            "nobody should get them, whatever a reader asks for",
            "transactional.id, which is not needed; a follower that does not get the records",
        )
    if leader_end == watermark and _let_go(lab):
        raise NotYet(
            f"everybody can read up to offset {leader_end}: the follower that you held back goes on again",
            "it should stay away",
            "what comes after produce(…): resume, start, wait_in_sync",
        )
    if leader_end == watermark and least not in ("", str(REPLICAS)):
        raise NotYet(
            f"everybody can read up to the leader's end, and min.insync.replicas of 'unseen' is {least} now",
            f"with {REPLICAS}, as the cell has made the topic, a follower that is away is missed",
            "what changes the topic's settings; run the exercise's cell again",
        )
    if leader_end == watermark:
        raise NotYet(
            f"everybody can read up to the leader's end, offset {leader_end}",
            "a follower that is needed should not get the records",
            "lab.cluster.pause(…) for a follower, before you send",
        )
    if least not in ("", str(REPLICAS)):
        raise NotYet(
            f"min.insync.replicas of 'unseen' is {least} now, and so many replicas have the records",
            f"with {REPLICAS}, as the cell has made the topic, they wait for the follower that is away",
            "what changes the topic's settings; run the exercise's cell again",
        )
    if leader_end - watermark != HIDDEN:
        raise NotYet(
            f"the leader has {counted(leader_end - watermark, 'record')} that nobody can read",
            "three are asked for",
            "how many records you send; run the exercise's cell again, it begins with an empty topic",
        )


def _in_transaction(lab: Lab, watermark: int) -> bool:
    """Tell whether an open transaction holds records below the high watermark; False if nobody says so."""
    stable = existing_topic(lab, lab.topic("unseen")).partitions[0].last_stable_offset
    return stable is not None and stable < watermark


def least_in_sync(lab: Lab) -> str:
    """Return the topic's min.insync.replicas; empty if the client asks a frozen broker for it."""
    try:
        return setting_of(lab, lab.topic("unseen"), "min.insync.replicas", within=LEAST_SECONDS).value
    except KafkaException:
        return ""


def _nothing(lab: Lab) -> NotYet:
    """Say why the leader has stored nothing: who was harmed, and what was sent, tells it."""
    topic = lab.topic("unseen")
    waiting = sum(producer.unreported(topic) for producer in lab.producers())
    leader = existing_topic(lab, topic).partitions[0].replicas[0]  # of a fresh topic the first one leads
    harmed = [done for done in actions_of_attempt(lab) if action_kind(done.kind).harm]
    if past := [action_kind(done.kind).past for done in harmed if done.broker == leader]:
        return NotYet(
            f"the leader has stored nothing: broker {leader}, which led 'unseen', was {past[0]}",
            "it should stay, and a follower should be away",
            "`partition.leader` and `partition.replicas`, which the cell prints",
        )
    if waiting:
        return NotYet(
            f"the leader has stored nothing, and {counted(waiting, 'record')} of your producer "
            f"{'has' if waiting == 1 else 'have'} no delivery report",
            "they should be stored before you look at the offsets",
            "flush(), after produce(…)",
        )
    return NotYet(
        "the leader has stored nothing in 'unseen'",
        "it should have three records, and for that it must be asked alone",
        "the topic in produce(…), acks and flush()",
    )


def are_the_ends(
    log_end_offset: int | None, high_watermark: int | None, leader_end: int, watermark: int
) -> None:
    """Raise NotYet unless both offsets are those of the leader."""
    look = "lab.cluster.state([unseen]): .log_end_offset and .high_watermark of its partition"
    unknown = {"log_end_offset": log_end_offset, "high_watermark": high_watermark}
    for name in (name for name, value in unknown.items() if value is None):
        raise NotYet(
            f"`{name}` is None: no leader told it when you asked",
            "it should be a number",
            look + ", once more",
        )
    if (log_end_offset, high_watermark) == (watermark, leader_end):
        raise NotYet(
            "the two numbers have changed places",
            "the high watermark is never beyond the log end offset",
            look,
        )
    if log_end_offset == watermark:
        raise NotYet(
            f"`log_end_offset` is {watermark}, which is the high watermark, not the log end offset, "
            "and where the log ended before the records were stored",
            "it should be the offset that the next record gets now",
            "lab.cluster.state([unseen]), once more after flush(): the cell's `partition` is older",
        )
    if log_end_offset != leader_end:
        said: dict[int | None, str] = {
            leader_end - 1: ", which is the offset of the last record",
        }
        raise NotYet(
            f"`log_end_offset` is {log_end_offset}{said.get(log_end_offset, '')}",
            "it should be the offset that the next record gets",
            look,
        )
    if high_watermark != watermark:
        said = {-1: ", which is no offset of this log: the records before it are none, and that is 0"}
        raise NotYet(
            f"`high_watermark` is {high_watermark}{said.get(high_watermark, '')}",
            "it should be the offset before which everybody can read",
            look,
        )


def stay_hidden(lab: Lab, least: str) -> None:
    """Raise NotYet if the records can be read after a moment.

    They cannot if all replicas are asked for and the broker of one is away. Else the follower that got
    nothing should leave the ISR, and leave them hidden.
    """
    topic = lab.topic("unseen")
    up = {number for number, process in lab.cluster.processes().items() if process.state == "up"}
    if least == str(REPLICAS) and not up.issuperset(existing_topic(lab, topic).partitions[0].replicas):
        return

    def expelled() -> None:
        if len(existing_topic(lab, topic).partitions[0].isr) == REPLICAS:
            raise NotYet(
                "all three replicas of 'unseen' are in sync again",
                "one of them should stay away",
                "lab.cluster.pause(…), and whether something lets the follower go on",
            )

    eventually(expelled, what="the frozen follower to leave the ISR", within=6)
    are_hidden(lab, *ends(lab), least)


def _let_go(lab: Lab) -> bool:
    """Tell whether a broker was sent away in this try, and is there now."""
    up = {number for number, process in lab.cluster.processes().items() if process.state == "up"}
    return any(done.broker in up for done in actions_of_attempt(lab) if action_kind(done.kind).harm)
