"""Gathering the facts, for as long as it takes to be sure of them, and naming the reason."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from time import monotonic

from confluent_kafka import KafkaException

from threebrokers.cluster import Cluster
from threebrokers.errors import LabError
from threebrokers.kafka.clients import LabConsumer
from threebrokers.kafka.state import ClusterState, GroupState, offsets_partition
from threebrokers.waiting import poll, shown
from threebrokers.why_empty import probe, reasons, reasons_topic
from threebrokers.why_empty.answer import Answer
from threebrokers.why_empty.facts import OFFSETS, Facts, Place

SETTLE_SECONDS = 2.0  # a rebalance, or an election, that takes longer is the reason
BUSY_SECONDS = 6.0  # so much longer brokers that run may be silent before that is the reason
WATCH_SECONDS = 6.0  # clients commit every 5 s (auto.commit.interval.ms)

Look = Callable[[], Facts]


def explain(
    cluster: Cluster,
    group: str | LabConsumer,
    topic: str,
    *,
    settle: float = SETTLE_SECONDS,
    watch: float = WATCH_SECONDS,
) -> Answer:
    """Say why a consumer gets nothing from a topic; it is told by its group's name, or is given itself.

    With a consumer the answer is surer: where it begins, and whether it waits for transactions, only it
    knows. A rebalance or an election may take `settle` seconds before it is the reason; where records wait
    for another member, that one is watched for `watch` seconds. Changes nothing.
    Raises LabError if `group` is neither, or `topic` is no text.
    """
    if not isinstance(group, str | LabConsumer) or not group:
        raise LabError(
            f"A group is told by its name, or by a consumer that lab.consumer() has made, not by {group!r}: "
            "for example lab.why_empty('alerts', 'orders')."
        )
    if not isinstance(topic, str):
        raise LabError(f"A topic is told by its name, not by {topic!r}: for example 'orders'.")
    name = group if isinstance(group, str) else str(group.config.get("group.id", ""))
    poller = cluster.poller()

    def look() -> Facts:
        facts = gathered(poller.poll(None, [name]), name, topic, group)
        return replace(facts, silent=poller.silent)

    try:
        began = monotonic()
        for facts in poll(look, settle + BUSY_SECONDS):
            waited = monotonic() - began > settle and not facts.unheard
            if waited or _settled(facts):
                break
        if (told := reasons.first(reasons.AT_ONCE, facts)) and told.cause == "nobody":
            with suppress(KafkaException):  # else no similar name is offered
                facts = replace(facts, groups=probe.groups(cluster.admin()))
            told = reasons.first(reasons.AT_ONCE, facts)
        if told:
            return told
        facts = _tried(cluster, _watched(facts, look, watch))
        told = reasons.first(reasons.AFTER_WATCHING, facts)
        return told or Answer(*reasons_topic.unknown(facts)[:2], facts)
    finally:
        poller.close()


def gathered(state: ClusterState, name: str, topic: str, asked: str | LabConsumer) -> Facts:
    """Return what one look at the cluster, and the consumer, tell."""
    told = next((g for g in state.groups if g.name == name), GroupState(name, "", None))
    client, positions = (None, {}) if isinstance(asked, str) else probe.ask(asked, topic)
    committed = {p: offset for t, p, offset in told.committed if t == topic}
    holders = {p: member.id for member in told.members for t, p in member.partitions if t == topic}
    found, index = state.topic(topic), state.topic(OFFSETS)
    return Facts(
        topic,
        told,
        heard=state.last_response_at is not None,
        exists=found is not None,
        names=tuple(t.name for t in state.topics),
        brokers=state.brokers,
        places=tuple(
            Place(
                id=p.id,
                leader=p.leader,
                replicas=p.replicas,
                start=p.log_start_offset,
                end=p.log_end_offset,
                readable=p.high_watermark,
                stable=p.last_stable_offset,
                committed=committed.get(p.id),
                position=positions.get(p.id),
                holder=holders.get(p.id, ""),
            )
            for p in (found.partitions if found else ())
        ),
        index=offsets_partition(index.partitions, name) if index and index.partitions else None,
        client=client,
    )


def _settled(facts: Facts) -> bool:
    if facts.client and facts.client.closed:
        return True
    known = all(p.start is not None for p in facts.places)
    return facts.heard and known and not facts.lost_coordinator and not facts.rebalancing


def _watched(facts: Facts, look: Look, seconds: float) -> Facts:
    """Add which of the partitions that other members hold are read while they are watched."""
    own = facts.mine if facts.client else ()
    held = {p.id: p.committed for p in facts.places if p.holder and p not in own and facts.waiting(p)}
    if not held or any(map(facts.waiting, own)):
        return facts
    moved: set[int] = set()
    with shown(f"the group's members to read from '{facts.topic}'", seconds):
        for now in poll(look, seconds):
            moved |= {p.id for p in now.places if p.id in held and p.committed != held[p.id]}
            if moved == held.keys():
                break
    return replace(facts, moved=frozenset(moved))


def _tried(cluster: Cluster, facts: Facts) -> Facts:
    """Add the partitions where offsets are left and no record: only reading can tell."""
    begins = {
        p.id: offset
        for p in facts.mine
        if (offset := facts.next(p)) is not None and facts.waiting(p) and not p.misplaced
    }
    if not begins or facts.moved:
        return facts
    level = "read_committed" if facts.committed_only else "read_uncommitted"
    return replace(facts, barren=probe.barren(cluster.bootstrap, facts.topic, begins, level))
