"""One partition of a topic that must be there."""

from typing import TypeVar

from threebrokers.errors import LabError
from threebrokers.kafka.state import PartitionState, TopicState
from threebrokers.lab.lab import Lab

T = TypeVar("T")


def partition_of(lab: Lab, topic: str, number: int = 0) -> PartitionState:
    """Return one partition of a topic as the brokers tell it now. Raises LabError if there is no topic."""
    return topic_of(lab, topic).partitions[number]


def topic_of(lab: Lab, name: str) -> TopicState:
    """Return a topic as the brokers tell it now. Raises LabError if there is none, or if nobody answers."""
    state = lab.cluster.state([name])
    if state.last_response_at is None:
        raise LabError("No broker has answered for 5 s", "see `threebrokers doctor`, then run the cell again")
    return existing(state.topic(name), name)


def existing(topic: T | None, name: str) -> T:
    """Return the topic that was found. Raises LabError if there was none."""
    if topic is None:
        raise LabError(f"There is no topic '{name}': run the cell that makes it again.")
    return topic
