"""Several brokers' views of the cluster become one: the newest knowledge wins, and who disagrees is kept."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from threebrokers.kafka.requests import Offsets
from threebrokers.kafka.state import PartitionState, TopicState

NO_ERROR = 0


@dataclass(frozen=True)
class View:
    """What one broker says: who is registered, the topics, and offsets of its own copies.

    `readable` and `start` hold only partitions that it leads.
    """

    registered: frozenset[int]
    topics: Mapping[str, tuple[PartitionState, ...]]
    ends: Offsets
    readable: Offsets
    start: Offsets


def read_view(metadata: Any, ends: Offsets, readable: Offsets, start: Offsets) -> View:
    """Return the view of one broker from its answers."""
    topics = {
        topic.name: tuple(
            PartitionState(
                topic=topic.name,
                id=p.partition_index,
                leader=None if p.leader_id < 0 else p.leader_id,
                leader_epoch=p.leader_epoch,
                replicas=tuple(p.replica_nodes),
                isr=tuple(sorted(p.isr_nodes)),
            )
            for p in sorted(topic.partitions, key=lambda p: p.partition_index)
        )
        for topic in metadata.topics
        if topic.error_code == NO_ERROR
    }
    return View(frozenset(b.node_id for b in metadata.brokers), topics, ends, readable, start)


def chief(views: Mapping[int, View], quorum_leader: int | None) -> int | None:
    """Return the broker whose view is the newest: the active controller, else who knows most elections."""
    if quorum_leader in views:
        return quorum_leader

    def news(number: int) -> tuple[int, int]:
        partitions = [p for of in views[number].topics.values() for p in of]
        return sum(p.leader_epoch for p in partitions), -number

    return max(views, key=news, default=None)


def merge_topics(views: Mapping[int, View], first: int) -> tuple[TopicState, ...]:
    """Return the topics that broker `first` knows, each partition as the newest leader epoch has it."""
    order = [first, *(n for n in sorted(views) if n != first)]
    return tuple(
        TopicState(name, tuple(_partition(views, order, p) for p in partitions))
        for name, partitions in sorted(views[first].topics.items())
    )


def _partition(views: Mapping[int, View], order: list[int], known: PartitionState) -> PartitionState:
    place = (known.topic, known.id)
    told = {n: p for n in order for p in views[n].topics.get(known.topic, ()) if p.id == known.id}
    newest = max(told.values(), key=lambda p: p.leader_epoch)  # the first of equals is the chief's
    leader_view = views.get(newest.leader) if newest.leader is not None else None
    return PartitionState(
        topic=known.topic,
        id=known.id,
        leader=newest.leader,
        leader_epoch=newest.leader_epoch,
        replicas=newest.replicas,
        isr=newest.isr,
        log_start_offset=leader_view.start.get(place) if leader_view else None,
        high_watermark=leader_view.readable.get(place) if leader_view else None,
        log_end_offsets=tuple((n, views[n].ends[place]) for n in sorted(views) if place in views[n].ends),
        stale_leaders=tuple(n for n, p in sorted(told.items()) if p.leader == n and newest.leader != n),
    )
