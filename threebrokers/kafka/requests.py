"""What the brokers are asked, and how to read what they answer."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kafka.protocol.admin.cluster import DescribeQuorumRequest, DescribeQuorumResponse
from kafka.protocol.consumer.offsets import ListOffsetsRequest, ListOffsetsResponse
from kafka.protocol.metadata.metadata import MetadataRequest, MetadataResponse

from threebrokers.kafka.connection import Question

Partitions = Mapping[str, Sequence[int]]
Offsets = dict[tuple[str, int], int]

LATEST, EARLIEST = -1, -2
# As "debugging replica" a broker tells its own copy's log end offset, leader or not; as consumer (-1)
# only the leader answers, with the high watermark (ReplicaManager.fetchOffset in Kafka 4.3.1).
CONSUMER, OWN_COPY = -1, -2
METADATA_TOPIC = "__cluster_metadata"


def metadata(topics: Iterable[str] | None) -> Question:
    """Ask for the brokers that are registered, and for these topics (all of them if None)."""
    named = MetadataRequest.MetadataRequestTopic
    wanted = None if topics is None else [named(name=name, topic_id=None) for name in topics]
    request = MetadataRequest(topics=wanted, allow_auto_topic_creation=False)
    return Question(request, MetadataResponse, 9)


def offsets(partitions: Partitions, when: int, replica: int) -> Question:
    """Ask for one offset of each partition: EARLIEST or LATEST, as a CONSUMER or of the broker's OWN_COPY."""
    topic = ListOffsetsRequest.ListOffsetsTopic
    place = topic.ListOffsetsPartition
    wanted = [
        topic(name=name, partitions=[place(partition_index=p, timestamp=when) for p in numbers])
        for name, numbers in partitions.items()
    ]
    request = ListOffsetsRequest(replica_id=replica, isolation_level=0, topics=wanted)
    return Question(request, ListOffsetsResponse, 6)


def told_offsets(answer: Any) -> Offsets:
    """Return the offset of each partition that the broker could answer for."""
    return {
        (topic.name, p.partition_index): p.offset
        for topic in answer.topics
        for p in topic.partitions
        if p.error_code == 0
    }


def quorum() -> Question:
    """Ask a controller who leads the metadata quorum: only the leader itself answers."""
    topic = DescribeQuorumRequest.TopicData
    log = topic(topic_name=METADATA_TOPIC, partitions=[topic.PartitionData(partition_index=0)])
    return Question(DescribeQuorumRequest(topics=[log]), DescribeQuorumResponse, 1)


def told_leader(answer: Any) -> tuple[int, int] | None:
    """Return (epoch, leader) of the metadata quorum, or None if the one that was asked does not lead."""
    told = [p for topic in answer.topics for p in topic.partitions]
    if answer.error_code or not told or told[0].error_code or told[0].leader_id < 0:
        return None
    return told[0].leader_epoch, told[0].leader_id
