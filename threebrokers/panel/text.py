"""The same as the panel, in words: one line a fact, for eyes, ears and saved notebooks. Pure."""

from collections.abc import Collection, Iterator

from threebrokers.kafka.state import BrokerState, ClusterState, PartitionState, TopicState, lag
from threebrokers.panel.cells import copy_cell, group_summary, member_names, share, topic_summary
from threebrokers.text import duration, listed
from threebrokers.theme import state_look

# With more partitions than this a topic is told in one line.
TOLD_PARTITIONS = 40


def words(state: ClusterState, starting: Collection[int] = ()) -> str:
    """Return the state in lines of plain text; `starting` are brokers that were started just now."""
    return "\n".join([*_cluster(state, starting), *_topics(state, starting), *_groups(state)])


def _cluster(state: ClusterState, starting: Collection[int]) -> Iterator[str]:
    for broker in state.brokers:
        yield f"Broker {broker.id}: {_state(state, broker, broker.id in starting)}."
    if state.quorum_leader is None:
        yield "No active controller answers."
    else:
        yield f"The active controller is broker {state.quorum_leader}."
    if state.last_response_at is None:
        yield "No broker has answered yet."
    elif state.at - state.last_response_at > 1:
        silence = duration(state.at - state.last_response_at)
        yield f"No broker has answered for {silence}: the rest is from then."


def _state(state: ClusterState, broker: BrokerState, starting: bool) -> str:
    since = duration(state.at - broker.since)
    if broker.state != "up":
        return f"{state_look('starting' if starting else broker.state).word} for {since}"
    partitions = [p for topic in state.topics for p in topic.partitions]
    leads = f"leads {sum(p.leader == broker.id for p in partitions)} of {len(partitions)} partitions"
    return f"up at {broker.address or 'no address yet'}, {leads}"


def _topics(state: ClusterState, starting: Collection[int]) -> Iterator[str]:
    whole = sum(len(topic.partitions) for topic in state.topics) <= TOLD_PARTITIONS
    for topic in state.topics:
        yield f"Topic {topic.name}: {topic_summary(topic)}."
        if whole:
            yield from (
                f"{topic.name}, partition {p.id}: {_partition(state, topic, p, starting)}."
                for p in topic.partitions
            )


def _partition(state: ClusterState, topic: TopicState, p: PartitionState, starting: Collection[int]) -> str:
    leader = f"broker {p.leader} leads" if p.leader is not None else "nobody leads"
    cells = {n: copy_cell(state, p, n, starting) for n in sorted({*p.replicas, *p.stale_leaders})}
    others = [
        f"broker {number} {cell['sentence']}"
        for number, cell in cells.items()
        if cell["kind"] not in ("leader", "sync")
    ]
    facts = [leader, f"in sync: {listed(p.isr)}", *others]
    if p.high_watermark is not None:
        facts.append(f"readable up to offset {p.high_watermark:,}")
    if p.log_end_offset is not None and p.log_end_offset != p.high_watermark:
        facts.append(f"the log ends at {p.log_end_offset:,}")
    for group in state.groups:
        if (late := lag(state, group, topic.name, p.id)) is not None:
            facts.append(f"{group.name} is {late:,} behind")
    return "; ".join(facts)


def _groups(state: ClusterState) -> Iterator[str]:
    for group in state.groups:
        yield f"Group {group.name}: {group_summary(state, group)}."
        names = member_names(group)
        yield from (f"{group.name}, member {names[m.id]}: reads {share(m)}." for m in group.members)
