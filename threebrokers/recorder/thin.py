"""Sights that are kept for long: what did not change is kept once."""

from dataclasses import replace

from threebrokers.kafka.state import Sight, TopicSight

MEGABYTE = 10**6


def thin(sight: Sight, before: Sight | None) -> Sight:
    """Return the sight with times in whole ms, memory in whole MB, and the equal parts of the one before."""
    topics = {topic.name: topic for topic in before.topics} if before else {}
    groups = tuple(replace(group, committed=tuple(sorted(group.committed))) for group in sight.groups)
    return replace(
        sight,
        at=round(sight.at, 3),
        heard=None if sight.heard is None else round(sight.heard, 3),
        brokers=tuple(
            replace(b, since=round(b.since, 3), rss=b.rss // MEGABYTE * MEGABYTE) for b in sight.brokers
        ),
        topics=tuple(_kept(topic, topics.get(topic.name)) for topic in sight.topics),
        groups=before.groups if before and before.groups == groups else groups,
    )


def _kept(topic: TopicSight, before: TopicSight | None) -> TopicSight:
    if before is None or before == topic:
        return before or topic
    known = {p.id: p for p in before.partitions}
    return TopicSight(topic.name, tuple(known[p.id] if known.get(p.id) == p else p for p in topic.partitions))
