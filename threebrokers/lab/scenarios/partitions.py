"""One partition of a topic that must be there."""

from typing import TypeVar

from threebrokers.errors import LabError
from threebrokers.kafka.state import PartitionState
from threebrokers.lab.lab import Lab

T = TypeVar("T")


def partition_of(lab: Lab, topic: str, number: int = 0) -> PartitionState:
    """Return one partition of a topic as the brokers tell it now. Raises LabError if there is no topic."""
    return existing(lab.cluster.state([topic]).topic(topic), topic).partitions[number]


def existing(topic: T | None, name: str) -> T:
    """Return the topic that was found. Raises LabError if there was none."""
    if topic is None:
        raise LabError(f"There is no topic '{name}': run the cell that makes it again.")
    return topic
