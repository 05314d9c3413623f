"""A consumer group and its coordinator, for lab 04."""

import time

from confluent_kafka import KafkaException, Message, TopicPartition

from threebrokers.kafka.clients import LabConsumer
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.partitions import controller_last, leader_of
from threebrokers.waiting import wait_until


def coordinator_of(lab: Lab, group: str) -> int:
    """Return the broker that coordinates a group, as the AdminClient tells it. Raises LabError after 20 s."""

    def ask() -> int | None:
        try:
            described = lab.admin().describe_consumer_groups([group], request_timeout=5)
            coordinator: int = described[group].result().coordinator.id
            return coordinator
        except KafkaException:  # a new coordinator reads all offsets before it answers
            return None

    return lab.wait_until(ask, what="the coordinator to answer", within=20)


def member_of_new_group(lab: Lab, topic: str, prefix: str) -> tuple[str, LabConsumer]:
    """Return a new group and a member that has read 20 records; the topic's leader does not coordinate it.

    The group's name begins with `prefix`.
    """
    leader = leader_of(lab, topic)
    wanted = [broker for broker in controller_last(lab) if broker != leader]
    found: dict[int, str] = {}
    for _ in range(12):  # who coordinates a group depends on its name: a few names give a choice
        name = f"{prefix}-{time.time_ns()}"
        found[coordinator_of(lab, name)] = name
        if wanted[0] in found:
            break
    group = next(found[broker] for broker in wanted if broker in found)
    reader = lab.consumer({"group.id": group, "auto.offset.reset": "earliest", "enable.auto.commit": False})
    reader.subscribe([topic])
    read_and_commit(lab, reader)
    return group, reader


def read_and_commit(lab: Lab, reader: LabConsumer) -> None:
    """Read 20 records and commit them, however often that must be tried."""
    messages: list[Message] = []
    while len(messages) < 20:
        messages += reader.consume(20 - len(messages), timeout=0.5)

    def commit() -> list[TopicPartition] | None:
        try:
            offsets: list[TopicPartition] = reader.commit(message=messages[-1], asynchronous=False)
            return offsets
        except KafkaException as fault:
            print("not yet:", fault.args[0].name())
            return None

    wait_until(
        commit,
        what="a commit",
        within=30,
        otherwise="a coordinator that is only paused keeps its members waiting; run the cell again.",
    )
