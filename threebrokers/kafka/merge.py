"""Several brokers' views of the cluster become one: the newest knowledge wins, and who disagrees is kept."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from threebrokers.kafka.requests import Elr, Offsets
from threebrokers.kafka.state import PartitionState, TopicState

NO_ERROR = 0


@dataclass(frozen=True)
class View:
    """What one broker says: the address of each registered broker, the topics, and offsets of its own copies.

    `log_end_offsets` are those of all its copies; the others hold only partitions that it leads. `topic_ids`
    are those that it told.
    """

    registered: Mapping[int, str]
    topics: Mapping[str, tuple[PartitionState, ...]]
    log_end_offsets: Offsets
    high_watermarks: Offsets
    last_stable_offsets: Offsets
    log_start_offsets: Offsets
    topic_ids: Mapping[str, str] = field(default_factory=dict)


def read_view(
    metadata: Any,
    elr: Elr,
    ends: Offsets,
    high: Offsets,
    stable: Offsets,
    start: Offsets,
    ids: Mapping[str, str] | None = None,
) -> View:
    """Return the view of one broker from its responses."""
    topics = {
        topic.name: tuple(
            PartitionState(
                topic=topic.name,
                id=p.partition_index,
                leader=None if p.leader_id < 0 else p.leader_id,
                leader_epoch=p.leader_epoch,
                replicas=tuple(p.replica_nodes),
                isr=tuple(sorted(p.isr_nodes)),
                elr=elr.get((topic.name, p.partition_index), ()),
            )
            for p in sorted(topic.partitions, key=lambda p: p.partition_index)
        )
        for topic in metadata.topics
        if topic.error_code == NO_ERROR
    }
    registered = {b.node_id: f"{b.host}:{b.port}" for b in metadata.brokers}
    return View(registered, topics, ends, high, stable, start, ids or {})


def authoritative_view(views: Mapping[int, View], quorum_leader: int | None) -> int | None:
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
        TopicState(
            name,
            tuple(_partition(views, order, p) for p in partitions),
            views[first].topic_ids.get(name, ""),
        )
        for name, partitions in sorted(views[first].topics.items())
    )


def not_older(before: Iterable[TopicState], now: Iterable[TopicState]) -> tuple[TopicState, ...]:
    """Return the topics of now, no partition of which may be older than it was told before.

    Only the active controller changes leaders and ISRs. If it did not tell of them itself this time, what
    is told of the same leader epoch is no newer, and what is told of an earlier one is old.
    """
    known = {(topic.name, topic.id, p.id): p for topic in before for p in topic.partitions}
    return tuple(
        replace(
            topic,
            partitions=tuple(_newer(known.get((topic.name, topic.id, p.id)), p) for p in topic.partitions),
        )
        for topic in now
    )


def _newer(known: PartitionState | None, p: PartitionState) -> PartitionState:
    if known is None or p.leader_epoch > known.leader_epoch:
        return p
    if p.leader_epoch == known.leader_epoch:
        return replace(p, isr=known.isr, elr=known.elr)
    return replace(known, log_end_offsets=p.log_end_offsets)


def _partition(views: Mapping[int, View], order: list[int], known: PartitionState) -> PartitionState:
    place = (known.topic, known.id)
    told = {n: p for n in order for p in views[n].topics.get(known.topic, ()) if p.id == known.id}
    newest = max(told.values(), key=lambda p: p.leader_epoch)  # the first of equals is the authoritative one
    leader_view = views.get(newest.leader) if newest.leader is not None else None
    return replace(
        newest,
        log_start_offset=leader_view.log_start_offsets.get(place) if leader_view else None,
        high_watermark=leader_view.high_watermarks.get(place) if leader_view else None,
        last_stable_offset=leader_view.last_stable_offsets.get(place) if leader_view else None,
        log_end_offsets=tuple(
            (n, view.log_end_offsets[place])
            for n, view in sorted(views.items())
            if place in view.log_end_offsets
        ),
        stale_leaders=tuple(n for n, p in sorted(told.items()) if p.leader == n and newest.leader != n),
    )
