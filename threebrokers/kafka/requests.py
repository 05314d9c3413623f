"""What the brokers are asked, and how to read their responses."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kafka.protocol.admin.cluster import DescribeQuorumRequest, DescribeQuorumResponse
from kafka.protocol.admin.topics import DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse
from kafka.protocol.admin.transactions import ListTransactionsRequest, ListTransactionsResponse
from kafka.protocol.consumer.offsets import ListOffsetsRequest, ListOffsetsResponse
from kafka.protocol.metadata.metadata import MetadataRequest, MetadataResponse

from threebrokers.kafka.connection import Request

Partitions = Mapping[str, Sequence[int]]
Offsets = dict[tuple[str, int], int]
Elr = dict[tuple[str, int], tuple[int, ...]]

LATEST, EARLIEST = -1, -2
# As "debugging replica" a broker tells its own copy's log end offset, leader or not; as consumer (-1)
# only the leader answers, with the high watermark (ReplicaManager.fetchOffset in Kafka 4.3.1).
CONSUMER, OWN_COPY = -1, -2
READ_UNCOMMITTED, READ_COMMITTED = 0, 1
LOADING = 14  # COORDINATOR_LOAD_IN_PROGRESS
METADATA_TOPIC = "__cluster_metadata"


def metadata(topics: Iterable[str] | None) -> Request:
    """Ask for the brokers that are registered, and for these topics (all of them if None)."""
    named = MetadataRequest.MetadataRequestTopic
    wanted = None if topics is None else [named(name=name, topic_id=None) for name in topics]
    message = MetadataRequest(topics=wanted, allow_auto_topic_creation=False)
    return Request(message, MetadataResponse, 9)


def topic_partitions(topics: Iterable[str] | None) -> Request:
    """Ask for what metadata lack of these topics (all of them if None, or if there are none)."""
    named = DescribeTopicPartitionsRequest.TopicRequest
    message = DescribeTopicPartitionsRequest(
        topics=[named(name=name) for name in topics or ()], response_partition_limit=2000, cursor=None
    )
    return Request(message, DescribeTopicPartitionsResponse, 0)


def read_elr(response: Any) -> Elr:
    """Return the eligible leader replicas of each partition that has any (of the first 2000 partitions)."""
    return {
        (topic.name, p.partition_index): tuple(sorted(p.eligible_leader_replicas))
        for topic in response.topics
        for p in topic.partitions
        if p.eligible_leader_replicas
    }


def read_topic_ids(response: Any) -> dict[str, str]:
    """Return the id of each topic: one that is made anew has another."""
    return {topic.name: str(topic.topic_id) for topic in response.topics if topic.error_code == 0}


def offsets(partitions: Partitions, when: int, replica: int, isolation: int = READ_UNCOMMITTED) -> Request:
    """Ask for one offset of each partition: EARLIEST or LATEST, as a CONSUMER or of the broker's OWN_COPY.

    With READ_COMMITTED the latest one of a consumer is the last stable offset.
    """
    topic = ListOffsetsRequest.ListOffsetsTopic
    place = topic.ListOffsetsPartition
    wanted = [
        topic(name=name, partitions=[place(partition_index=p, timestamp=when) for p in numbers])
        for name, numbers in partitions.items()
    ]
    message = ListOffsetsRequest(replica_id=replica, isolation_level=isolation, topics=wanted)
    return Request(message, ListOffsetsResponse, 6)


def read_offsets(response: Any) -> Offsets:
    """Return the offset of each partition that the broker could answer for."""
    return {
        (topic.name, p.partition_index): p.offset
        for topic in response.topics
        for p in topic.partitions
        if p.error_code == 0
    }


def quorum() -> Request:
    """Ask a controller who leads the metadata quorum: only the leader itself answers."""
    topic = DescribeQuorumRequest.TopicData
    log = topic(topic_name=METADATA_TOPIC, partitions=[topic.PartitionData(partition_index=0)])
    return Request(DescribeQuorumRequest(topics=[log]), DescribeQuorumResponse, 1)


def read_leader(response: Any) -> tuple[int, int] | None:
    """Return (epoch, leader) of the metadata quorum, or None if the one that was asked does not lead."""
    found = [p for topic in response.topics for p in topic.partitions]
    if response.error_code or not found or found[0].error_code or found[0].leader_id < 0:
        return None
    return found[0].leader_epoch, found[0].leader_id


def ending_transactions() -> Request:
    """Ask a broker which of the transactions that it coordinates end, and have not all their markers yet."""
    message = ListTransactionsRequest(state_filters=["PrepareCommit", "PrepareAbort"], producer_id_filters=[])
    return Request(message, ListTransactionsResponse, 0)


def read_ending(response: Any) -> bool:
    """Tell whether the broker names a transaction, or reads only now which ones it coordinates."""
    return response.error_code == LOADING or bool(response.transaction_states)
