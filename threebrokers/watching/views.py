"""What each broker says by itself: it is asked at its own address, on a connection of its own."""

from collections.abc import Mapping, Sequence
from typing import Any

from threebrokers.state import Broker, ClusterState, Partition, Topic
from threebrokers.waiting import poll
from threebrokers.watching import questions
from threebrokers.watching.look import ANSWER_SECONDS
from threebrokers.watching.merge import NO_ERROR
from threebrokers.watching.wire import Wire


def views(
    addresses: Mapping[int, str], topics: Sequence[str] | None, within: float
) -> dict[int, ClusterState]:
    """Return what the broker at each address says of the brokers and of these topics (all if None).

    One that does not answer is asked again, for so many seconds, and then left out.
    """
    wire, found = Wire(), dict[int, ClusterState]()
    question = [questions.metadata(topics)]
    try:
        for _ in poll(lambda: None, within):
            silent = {address: n for n, address in addresses.items() if n not in found}
            for address, [told] in wire.ask(dict.fromkeys(silent, question), ANSWER_SECONDS).items():
                found[silent[address]] = _state(told)
            if len(found) == len(addresses):
                break
    finally:
        wire.close()
    return dict(sorted(found.items()))


def _state(told: Any) -> ClusterState:
    return ClusterState(
        brokers=tuple(
            Broker(b.node_id, b.host, b.port) for b in sorted(told.brokers, key=lambda b: b.node_id)
        ),
        topics=tuple(
            Topic(topic.name, tuple(_partition(topic.name, p) for p in _in_order(topic.partitions)))
            for topic in sorted(told.topics, key=lambda topic: topic.name)
            if topic.error_code == NO_ERROR
        ),
    )


def _partition(topic: str, told: Any) -> Partition:
    leader = None if told.leader_id < 0 else told.leader_id
    return Partition(
        topic, told.partition_index, leader, tuple(told.replica_nodes), tuple(sorted(told.isr_nodes))
    )


def _in_order(partitions: Sequence[Any]) -> list[Any]:
    return sorted(partitions, key=lambda p: p.partition_index)
