"""The same as the panel, in words: one line a fact, for eyes, ears and saved notebooks. Pure."""

from collections.abc import Iterator

from threebrokers.kafka.state import BrokerState, ClusterState, PartitionState, TopicState, lag
from threebrokers.panel.cells import copy_cell, group_summary, member_names, share, topic_summary
from threebrokers.text import duration, listed

# With more partitions than this a topic is told in one line.
TOLD_PARTITIONS = 40


def words(sight: ClusterState) -> str:
    """Return what a look shows, in lines of plain text."""
    return "\n".join([*_cluster(sight), *_topics(sight), *_groups(sight)])


def _cluster(sight: ClusterState) -> Iterator[str]:
    for broker in sight.brokers:
        yield f"Broker {broker.id}: {_state(sight, broker)}."
    if sight.quorum_leader is None:
        yield "No active controller answers."
    else:
        yield f"The active controller is broker {sight.quorum_leader}."
    if sight.last_response_at is None:
        yield "No broker has answered yet."
    elif sight.at - sight.last_response_at > 1:
        silence = duration(sight.at - sight.last_response_at)
        yield f"No broker has answered for {silence}: the rest is from then."


def _state(sight: ClusterState, broker: BrokerState) -> str:
    since = duration(sight.at - broker.since)
    if broker.state != "up":
        return (
            f"unknown for {since}, it does not answer"
            if broker.state == "unknown"
            else f"{broker.state} for {since}"
        )
    partitions = [p for topic in sight.topics for p in topic.partitions]
    leads = f"leads {sum(p.leader == broker.id for p in partitions)} of {len(partitions)} partitions"
    return f"up at {broker.address or 'no address yet'}, {leads}"


def _topics(sight: ClusterState) -> Iterator[str]:
    whole = sum(len(topic.partitions) for topic in sight.topics) <= TOLD_PARTITIONS
    for topic in sight.topics:
        yield f"Topic {topic.name}: {topic_summary(topic)}."
        if whole:
            yield from (
                f"{topic.name}, partition {p.id}: {_partition(sight, topic, p)}." for p in topic.partitions
            )


def _partition(sight: ClusterState, topic: TopicState, p: PartitionState) -> str:
    leader = f"broker {p.leader} leads" if p.leader is not None else "nobody leads"
    others = [
        f"broker {number} {copy_cell(sight, p, number)['sentence']}"
        for number in sorted({*p.replicas, *p.stale_leaders})
        if copy_cell(sight, p, number)["kind"] not in ("leader", "sync")
    ]
    facts = [leader, f"in sync: {listed(p.isr)}", *others]
    if p.high_watermark is not None:
        facts.append(f"readable up to offset {p.high_watermark:,}")
    if p.log_end_offset is not None and p.log_end_offset != p.high_watermark:
        facts.append(f"the log ends at {p.log_end_offset:,}")
    for group in sight.groups:
        if (late := lag(sight, group, topic.name, p.id)) is not None:
            facts.append(f"{group.name} is {late:,} behind")
    return "; ".join(facts)


def _groups(sight: ClusterState) -> Iterator[str]:
    for group in sight.groups:
        yield f"Group {group.name}: {group_summary(sight, group)}."
        names = member_names(group)
        yield from (f"{group.name}, member {names[m.id]}: reads {share(m)}." for m in group.members)
