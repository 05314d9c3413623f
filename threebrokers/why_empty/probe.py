"""Asking the consumer itself, and the brokers for what the state of the cluster does not tell."""

from collections.abc import Mapping

from confluent_kafka import Consumer, KafkaError, TopicPartition
from confluent_kafka.admin import AdminClient

from threebrokers.kafka import client_settings
from threebrokers.kafka.clients import LabConsumer
from threebrokers.waiting import poll
from threebrokers.why_empty.facts import Client

CALL_SECONDS, READ_SECONDS, BATCH_SECONDS = 3.0, 3.0, 0.1
# librdkafka takes older words for the same; without any it is "largest", and reads only what is committed.
RESET = {
    **dict.fromkeys(("smallest", "earliest", "beginning"), "earliest"),
    **dict.fromkeys(("largest", "latest", "end"), "latest"),
    "error": "error",
}


def ask(consumer: LabConsumer, topic: str) -> tuple[Client, dict[int, int]]:
    """Return what a consumer tells of itself, and how far it has read each partition of the topic."""
    config = {name: str(value) for name, value in consumer.config.items()}
    try:
        assigned = [place for place in consumer.assignment() if place.topic == topic]
        member = consumer.memberid() or ""
        told = consumer.position(assigned) if assigned else []
    except RuntimeError:  # it is closed
        return Client(closed=True), {}
    client = Client(
        member=member,
        assigned=frozenset(place.partition for place in assigned),
        subscribed=consumer.subscribed,
        reset=RESET.get(config.get("auto.offset.reset", "latest")),
        isolation=config.get("isolation.level", "read_committed"),
        poll_limit=config.get("max.poll.interval.ms", "300000"),
    )
    return client, {place.partition: place.offset for place in told if place.offset >= 0}


def groups(admin: AdminClient) -> tuple[str, ...]:
    """Return the names of all groups. Raises KafkaException if the brokers do not answer within 3 s.

    A coordinator that has just taken over knows its groups a moment later; it is asked again for as long.
    """
    for told in poll(lambda: admin.list_consumer_groups(request_timeout=CALL_SECONDS).result(), CALL_SECONDS):
        if not told.errors:
            break
    return tuple(sorted(group.group_id for group in told.valid))


def barren(bootstrap: str, topic: str, begins: Mapping[int, int], isolation: str) -> frozenset[int]:
    """Return the partitions in which no record is delivered to a reader that begins at these offsets."""
    settings = client_settings.reader(bootstrap, "threebrokers-why-empty", isolation)
    reader, found, left = Consumer(settings), set(), set(begins)
    try:
        reader.assign([TopicPartition(topic, number, offset) for number, offset in begins.items()])
        for message in poll(lambda: reader.poll(BATCH_SECONDS), READ_SECONDS):
            number = message.partition() if message is not None else None
            if message is None or number is None or number not in left:
                continue
            fault = message.error()
            if fault is not None and fault.code() == KafkaError._PARTITION_EOF:
                found.add(number)
            left.discard(number)
            if not left:
                break
            reader.incremental_unassign([TopicPartition(topic, number)])
    finally:
        reader.close()
    return frozenset(found)
