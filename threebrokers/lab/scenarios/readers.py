"""Consumers of one group that share a topic, and consumers that get nothing, each for a reason of its own."""

import time
from collections.abc import Sequence

from confluent_kafka import KafkaException, Message, TopicPartition

from threebrokers.kafka.clients import LabConsumer
from threebrokers.kafka.state import GroupState
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.partitions import topic_of

JOIN_SECONDS, READ_SECONDS = 30.0, 20.0
HEADLINES, DELETED = 10, 5
# A member hears of a rebalance with its next heartbeat: 3 s by default, and a page should not wait so long.
EARLIEST = {"auto.offset.reset": "earliest", "heartbeat.interval.ms": 500}


def ten_greetings(lab: Lab, name: str) -> str:
    """Return a new topic of three partitions with ten greetings, sent to each partition in turn."""
    full = lab.fresh_topic(name, partitions=3, replication_factor=3)
    producer = lab.producer()
    for number in range(10):
        producer.produce(full, f"greeting {number}", partition=number % 3)
    producer.flush()
    return full


def join_group(lab: Lab, topic: str, name: str, *, members: int) -> list[LabConsumer]:
    """Return so many consumers of a group that nobody has used, once each knows which partitions it has.

    The topic should be empty until then: what they read while they join is let go.
    """
    group = lab.group(name)
    made = [lab.consumer({"group.id": group, **EARLIEST}) for _ in range(members)]
    for consumer in made:
        consumer.subscribe([topic])
    _joined(lab, topic, group, made)
    return made


def read_together(lab: Lab, consumers: Sequence[LabConsumer], count: int) -> list[list[Message]]:
    """Poll consumers in turn until they have so many records together; return the records of each."""
    shares: list[list[Message]] = [[] for _ in consumers]

    def complete() -> bool:
        for consumer, share in zip(consumers, shares, strict=True):
            message = consumer.poll(0.05)
            while message is not None and message.error() is None:
                share.append(message)
                message = consumer.poll(0)
        return sum(map(len, shares)) >= count

    lab.wait_until(complete, what=f"{count} records", within=READ_SECONDS)
    return shares


def silent_consumers(lab: Lab, topic: str) -> dict[str, LabConsumer]:
    """Return three consumers, A, B and C, that get none of the five records of a topic of one partition.

    The records are written here. A's group has read them, B's group is new and begins at the end, and C
    shares its group with a consumer that has the only partition. All three are members of their groups.
    """
    before = join_group(lab, topic, "readers", members=1)
    pair = join_group(lab, topic, "couple", members=2)
    producer = lab.producer()
    for number in range(5):
        producer.produce(topic, f"news {number}")
    producer.flush()
    for group in (before, pair):
        read_together(lab, group, 5)
    before[0].close()  # and so its group has committed
    pair.sort(key=lambda consumer: len(consumer.assignment()))
    pair[1].commit(asynchronous=False)
    a = lab.consumer({"group.id": lab.group("readers"), "auto.offset.reset": "earliest"})
    b = lab.consumer({"group.id": lab.group("newcomers")})
    for consumer in (a, b):
        consumer.subscribe([topic])
        _joined(lab, topic, str(consumer.config["group.id"]), [consumer])
        wait_for_position(lab, consumer)
    return {"A": a, "B": b, "C": pair[0]}


def _joined(lab: Lab, topic: str, group: str, members: Sequence[LabConsumer]) -> None:
    """Poll the members until each knows which partitions the group has given to it, and all are given."""
    partitions = len(topic_of(lab, topic).partitions)

    def settled() -> bool:
        for consumer in members:
            consumer.poll(0.05)
        own = {str(c.memberid()): {place.partition for place in c.assignment()} for c in members}
        if sum(map(len, own.values())) != partitions:
            return False  # before the brokers are asked, for that takes longer
        return own == _told(lab.cluster.state([topic], [group]).groups)

    lab.wait_until(settled, what="the group to share out its partitions", within=JOIN_SECONDS)


def _told(groups: Sequence[GroupState]) -> dict[str, set[int]]:
    return {
        member.id: {partition for _, partition in member.partitions}
        for group in groups
        if group.state == "Stable"
        for member in group.members
    }


def wait_for_position(lab: Lab, consumer: LabConsumer) -> None:
    """Poll a consumer until it has a position in each of its partitions, and has asked for what comes there.

    Records that come meanwhile are read, and nobody gets them.
    """

    def asked() -> bool:
        consumer.poll(0.05)
        places = consumer.assignment()
        ends = [consumer.get_watermark_offsets(place, cached=True)[1] for place in places]
        return bool(ends) and min(ends) >= 0

    lab.wait_until(asked, what="the consumer to find its position", within=JOIN_SECONDS)


def three_without_records(lab: Lab) -> tuple[str, dict[str, LabConsumer]]:
    """Return a new topic with five records, and three consumers, A, B and C, that get none of them.

    A has subscribed to a name that no topic has. B's group has committed an offset that is not there any
    more. C waits for a forgotten member of its group.
    """
    topic = lab.fresh_topic("headlines")
    producer = lab.producer()
    for number in range(HEADLINES):
        producer.produce(topic, f"headline {number}")
    producer.flush()
    groups = {name: lab.group(f"{name.lower()}-{time.time_ns()}") for name in "ABC"}
    late = lab.consumer({"group.id": groups["B"]})
    late.commit(offsets=[TopicPartition(topic, 0, DELETED - 2)], asynchronous=False)
    late.close()
    delete_before(lab, topic, DELETED)
    forgotten = lab.consumer({"group.id": groups["C"]})
    forgotten.subscribe([topic])
    lab.wait_until(lambda: _polled(forgotten), what="the forgotten member to join", within=JOIN_SECONDS)
    found = {
        "A": lab.consumer({"group.id": groups["A"], "auto.offset.reset": "earliest"}),
        "B": lab.consumer({"group.id": groups["B"]}),
        "C": lab.consumer({"group.id": groups["C"], "auto.offset.reset": "earliest"}),
    }
    found["A"].subscribe([f"{lab.topic('head')}.*"])
    for name in "BC":
        found[name].subscribe([topic])
    lab.wait_until(lambda: _polled(found["B"]), what="B to join", within=JOIN_SECONDS)
    for one in found.values():
        one.consume(1, timeout=0.3)
    return topic, found


def _polled(consumer: LabConsumer) -> list[TopicPartition]:
    consumer.poll(0.05)
    held: list[TopicPartition] = consumer.assignment()
    return held


def delete_before(lab: Lab, topic: str, offset: int, partition: int = 0) -> None:
    """Delete the records of a partition before this offset, as retention would."""

    def deleted() -> bool:
        told = lab.admin().delete_records([TopicPartition(topic, partition, offset)], request_timeout=5)
        try:
            return all(future.result().low_watermark == offset for future in told.values())
        except KafkaException:  # the leader may be asked before it knows that it leads
            return False

    lab.wait_until(deleted, what="the first records to be deleted", within=JOIN_SECONDS)
