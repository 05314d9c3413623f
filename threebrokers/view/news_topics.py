"""What changed about topics: leaders, copies in sync, and brokers that do not know it yet."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from threebrokers.kafka.state import Act, PartitionSight, Sight, TopicSight
from threebrokers.view.event import Event, have, listed, named, since
from threebrokers.view.news_brokers import BREAKING, MENDING

Pairs = list[tuple[PartitionSight, PartitionSight]]


def topic_news(before: Sight, after: Sight, acts: Sequence[Act]) -> Iterator[Event]:
    """Say which topics came and went, and what changed in those that stayed."""
    pairs: Pairs = []
    for topic in after.topics:
        old = before.topic(topic.name)
        if old is None:
            yield Event(after.at, f"{topic.name} is here: {_count(topic)}")
        elif _made_anew(old, topic):
            yield Event(after.at, f"{topic.name} was deleted and made anew: {_count(topic)}")
        else:
            if len(old.partitions) < len(topic.partitions):
                yield Event(after.at, f"{topic.name} has {_count(topic)} now, not {len(old.partitions)}")
            known = {p.id: p for p in old.partitions}
            pairs += [(known[p.id], p) for p in topic.partitions if p.id in known]
    for topic in before.topics:
        if after.topic(topic.name) is None:
            yield Event(after.at, f"{topic.name} was deleted")
    totals = {topic.name: len(topic.partitions) for topic in after.topics}
    yield from _leaders(pairs, totals, after.at, acts)
    yield from _unclean(pairs, after.at)
    yield from _copies(pairs, totals, after.at, acts)
    yield from _claims(pairs, totals, after.at)


def _leaders(pairs: Pairs, totals: dict[str, int], at: float, acts: Sequence[Act]) -> Iterator[Event]:
    moved: dict[int | None, list[PartitionSight]] = defaultdict(list)
    for old, new in pairs:
        if old.leader != new.leader and new.leader is not None:
            moved[old.leader].append(new)
    for leader, theirs in moved.items():
        places = "; ".join(
            f"{_ids([p for p in theirs if p.leader == to])} → broker {to}"
            for to in sorted({p.leader for p in theirs if p.leader is not None})
        )
        what = "a leader again" if leader is None else "a new leader"
        when = since(at, acts, leader, *BREAKING)
        # Each is named in `places`, so here they are only counted.
        topics = sorted({p.topic for p in theirs})
        of = f"of {topics[0]}" if len(topics) == 1 else f"of {len(topics)} topics"
        count = f"{len(theirs)} partition{'' if len(theirs) == 1 else 's'}"
        yield Event(at, f"{count} {of} {have(theirs)} {what}{when}: {places}", "good")
    alone = [new for old, new in pairs if new.leader is None and old.leader is not None]
    if alone:
        words = f"{named(alone, totals)} {have(alone)} no leader: nobody can write or read there"
        yield Event(at, words, "bad")


def _unclean(pairs: Pairs, at: float) -> Iterator[Event]:
    for old, new in pairs:
        place = f"partition {new.id} of {new.topic}"
        if new.leader != old.leader and new.leader is not None and old.isr and new.leader not in old.isr:
            yield Event(at, f"broker {new.leader} leads {place} although it was not in sync", "bad")
        if new.leader != old.leader and old.end is not None and new.end is not None and new.end < old.end:
            words = f"{place} goes on at offset {new.end:,}, but its old leader had reached {old.end:,}"
            yield Event(at, words, "bad")


def _copies(pairs: Pairs, totals: dict[str, int], at: float, acts: Sequence[Act]) -> Iterator[Event]:
    gone: dict[int, list[PartitionSight]] = defaultdict(list)
    back: dict[int, list[PartitionSight]] = defaultdict(list)
    for old, new in pairs:
        for broker in sorted(set(old.isr) - set(new.isr)):
            gone[broker].append(new)
        for broker in sorted(set(new.isr) - set(old.isr)):
            back[broker].append(new)
    for broker, theirs in gone.items():
        left = {f"{len(p.isr)} of {len(p.replicas)}" for p in theirs}
        rest = f": {left.pop()} copies are left" if len(left) == 1 else ""
        when = since(at, acts, broker, *BREAKING)
        yield Event(at, f"broker {broker} is out of sync in {named(theirs, totals)}{when}{rest}", "bad")
    for broker, theirs in back.items():
        when = since(at, acts, broker, *MENDING)
        yield Event(at, f"broker {broker} is in sync again in {named(theirs, totals)}{when}", "good")


def _claims(pairs: Pairs, totals: dict[str, int], at: float) -> Iterator[Event]:
    begun: dict[int, list[PartitionSight]] = defaultdict(list)
    ended: dict[int, list[PartitionSight]] = defaultdict(list)
    for old, new in pairs:
        for broker in sorted(set(new.claims) - set(old.claims)):
            begun[broker].append(new)
        for broker in sorted(set(old.claims) - set(new.claims)):
            ended[broker].append(new)
    for broker, theirs in begun.items():
        real = listed(sorted({p.leader for p in theirs if p.leader is not None}))
        words = f"broker {broker} still believes that it leads {named(theirs, totals)}: broker {real} does"
        yield Event(at, words, "bad")
    for broker, theirs in ended.items():
        words = f"broker {broker} no longer claims to lead {named(theirs, totals)}"
        yield Event(at, words, "good")


def _made_anew(old: TopicSight, new: TopicSight) -> bool:
    """Tell whether this is another topic of the same name: leader epochs and log ends never go back."""
    known = {p.id: p for p in old.partitions}
    for p in new.partitions:
        was = known.get(p.id)
        if was is None:
            continue
        shorter = was.end is not None and p.end is not None and p.end < was.end
        if p.epoch < was.epoch or (shorter and p.epoch == was.epoch and p.leader == was.leader):
            return True
    return len(new.partitions) < len(old.partitions)


def _ids(partitions: Sequence[PartitionSight]) -> str:
    if len({p.topic for p in partitions}) > 1 or len(partitions) > 8:
        return str(len(partitions))
    return ", ".join(str(p.id) for p in partitions)


def _count(topic: TopicSight) -> str:
    count = len(topic.partitions)
    return f"{count} partition{'' if count == 1 else 's'}"
