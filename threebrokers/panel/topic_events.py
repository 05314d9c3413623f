"""What happened to topics between two states of the cluster, in words."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from threebrokers.kafka.elections import UncleanElection
from threebrokers.kafka.state import ClusterState, PartitionState, TopicState
from threebrokers.panel.between import Between, Event
from threebrokers.text import counted, have, numbered

# So many partitions are named, and so many lines are about one partition each.
NAMED_PARTITIONS = 6
Pairs = list[tuple[PartitionState, PartitionState]]


def topic_news(
    before: ClusterState, after: ClusterState, between: Between, unclean: Sequence[UncleanElection] = ()
) -> Iterator[Event]:
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
    yield from _leaders(pairs, totals, between)
    yield from _unclean(unclean, after.at)
    yield from _cut_back(pairs, unclean, after.at)
    yield from _copies(pairs, totals, between, {(one.topic, one.partition, one.leader) for one in unclean})
    yield from _claims(pairs, totals, after.at)


def named(partitions: Sequence[PartitionState], totals: Mapping[str, int]) -> str:
    """Name these partitions, in as few words as possible; `totals` holds the number of each topic."""
    topics = sorted({p.topic for p in partitions})
    if len(topics) > 1:
        return f"{len(partitions)} partitions of {len(topics)} topics"
    [topic] = topics
    count = len(partitions)
    if count == totals.get(topic) and count > 1:
        return f"all {count} partitions of {topic}"
    if count > NAMED_PARTITIONS:
        return f"{count} partitions of {topic}"
    return f"{numbered('partition', [p.id for p in partitions])} of {topic}"


PREFERRED, NEW, AGAIN = "the preferred leader now", "a new leader", "a leader again"


def _leaders(pairs: Pairs, totals: dict[str, int], between: Between) -> Iterator[Event]:
    moved: dict[tuple[str, str], list[PartitionState]] = defaultdict(list)
    for old, new in pairs:
        if old.leader != new.leader and new.leader is not None:
            moved[_what(old, new), _why(old, new, between)].append(new)
    for (what, why), theirs in moved.items():
        places = "; ".join(
            f"{_ids([p for p in theirs if p.leader == to])} → broker {to}"
            for to in sorted({p.leader for p in theirs if p.leader is not None})
        )
        # Each is named in `places`, so here they are only counted.
        topics = sorted({p.topic for p in theirs})
        of = f"of {topics[0]}" if len(topics) == 1 else f"of {len(topics)} topics"
        words = f"{counted(len(theirs), 'partition')} {of} {have(theirs)} {what}{why}: {places}"
        yield Event(between.at, words, "good")
    alone = [new for old, new in pairs if new.leader is None and old.leader is not None]
    if alone:
        words = f"{named(alone, totals)} {have(alone)} no leader: nobody can write or read there"
        yield Event(between.at, words, "bad")


def _what(old: PartitionState, new: PartitionState) -> str:
    if old.leader is None:
        return AGAIN
    # A leader that stays in sync gives way only to the first replica, when somebody asks for an election.
    return PREFERRED if new.leader == new.replicas[0] and old.leader in new.isr else NEW


def _why(old: PartitionState, new: PartitionState, between: Between) -> str:
    """Say what was done to the old leader, if that was the cause: it is no longer in sync then.

    Of several elections only the last is seen, and nothing is known of its cause.
    """
    elections = new.leader_epoch - old.leader_epoch
    if old.leader is None or old.leader in new.isr:
        return ""
    return between.after_breaking(old.leader) if elections == 1 else f", after {elections} elections"


def _unclean(elections: Sequence[UncleanElection], at: float) -> Iterator[Event]:
    for one in elections[:NAMED_PARTITIONS]:
        place = f"partition {one.partition} of {one.topic}"
        who = f": broker {one.leader} leads and was not in sync" if one.leader is not None else ""
        said = [] if one.again else [f"unclean election in {place}{who}"]
        if one.readable_before is not None and one.readable_after is not None:
            what = f"records of {place} are lost" if one.again else "records are lost"
            said.append(
                f"{what}: readable up to offset {one.readable_before:,} before, {one.readable_after:,} now"
            )
        yield Event(at, "; ".join(said), "bad")
    if more := len(elections[NAMED_PARTITIONS:]):
        yield Event(at, f"unclean elections in {counted(more, 'more partition')}", "bad")


def _cut_back(pairs: Pairs, unclean: Sequence[UncleanElection], at: float) -> Iterator[Event]:
    """Tell what new leaders do not have, and what followers cut off to agree with them."""
    told = {(one.topic, one.partition) for one in unclean}
    lines = [line for old, new in pairs for line in _shorter(old, new, (new.topic, new.id) in told)]
    yield from (Event(at, line, "bad") for line in lines[:NAMED_PARTITIONS])
    if more := len(lines[NAMED_PARTITIONS:]):
        yield Event(at, f"{counted(more, 'more log')} cut back", "bad")


def _shorter(old: PartitionState, new: PartitionState, unclean: bool) -> Iterator[str]:
    place = f"partition {new.id} of {new.topic}"
    reached, begins = old.log_end_offset, new.log_end_offset
    # Who tells of a high watermark answered as leader. A follower's log may lack what was still on its way.
    leads = new.leader != old.leader and new.high_watermark is not None and not unclean
    if leads and reached is not None and begins is not None and begins < reached:
        yield f"{place} goes on at offset {begins:,}, but its old leader had reached {reached:,}"
    ends, now = dict(old.log_end_offsets), dict(new.log_end_offsets)
    for broker in sorted(ends.keys() & now.keys() - {new.leader}):
        if now[broker] < ends[broker]:
            back = f"from offset {ends[broker]:,} to {now[broker]:,}"
            yield f"broker {broker} cut its log of {place} back {back}"


def _copies(
    pairs: Pairs,
    totals: dict[str, int],
    between: Between,
    elected: Collection[tuple[str, int, int | None]],
) -> Iterator[Event]:
    """Tell who left and who joined an ISR; who was `elected` out of sync is in it only because it leads."""
    gone: dict[int, list[PartitionState]] = defaultdict(list)
    back: dict[int, list[PartitionState]] = defaultdict(list)
    for old, new in pairs:
        for broker in sorted(set(old.isr) - set(new.isr)):
            gone[broker].append(new)
        for broker in sorted(set(new.isr) - set(old.isr)):
            if (new.topic, new.id, broker) not in elected:
                back[broker].append(new)
    for broker, theirs in gone.items():
        left = {(len(p.isr), len(p.replicas)) for p in theirs}
        rest = ""
        if len(left) == 1:
            [(some, of)] = left
            rest = f": {some} of {counted(of, 'replica')} {'is' if some == 1 else 'are'} left"
        when = between.after_breaking(broker)
        yield Event(
            between.at, f"broker {broker} is out of sync in {named(theirs, totals)}{when}{rest}", "bad"
        )
    for broker, theirs in back.items():
        when = between.after_mending(broker)
        yield Event(between.at, f"broker {broker} is in sync again in {named(theirs, totals)}{when}", "good")


def _claims(pairs: Pairs, totals: dict[str, int], at: float) -> Iterator[Event]:
    begun: dict[int, list[PartitionState]] = defaultdict(list)
    ended: dict[int, list[PartitionState]] = defaultdict(list)
    for old, new in pairs:
        for broker in sorted(set(new.stale_leaders) - set(old.stale_leaders)):
            begun[broker].append(new)
        for broker in sorted(set(old.stale_leaders) - set(new.stale_leaders)):
            ended[broker].append(new)
    for broker, theirs in begun.items():
        real = sorted({p.leader for p in theirs if p.leader is not None})
        others = f": {numbered('broker', real)} {'does' if len(real) == 1 else 'do'}" if real else ""
        words = f"broker {broker} still believes that it leads {named(theirs, totals)}{others}"
        yield Event(at, words, "bad")
    for broker, theirs in ended.items():
        words = f"broker {broker} no longer believes that it leads {named(theirs, totals)}"
        yield Event(at, words, "good")


def _made_anew(old: TopicState, new: TopicState) -> bool:
    """Tell whether this is another topic of the same name."""
    if old.id and new.id:
        return old.id != new.id
    # Without ids: leader epochs and log ends never go back.
    known = {p.id: p for p in old.partitions}
    for p in new.partitions:
        was = known.get(p.id)
        if was is None:
            continue
        shorter = (
            was.log_end_offset is not None
            and p.log_end_offset is not None
            and p.log_end_offset < was.log_end_offset
        )
        if p.leader_epoch < was.leader_epoch or (
            shorter and p.leader_epoch == was.leader_epoch and p.leader == was.leader
        ):
            return True
    return len(new.partitions) < len(old.partitions)


def _ids(partitions: Sequence[PartitionState]) -> str:
    if len({p.topic for p in partitions}) > 1 or len(partitions) > 8:
        return str(len(partitions))
    return ", ".join(str(p.id) for p in partitions)


def _count(topic: TopicState) -> str:
    return counted(len(topic.partitions), "partition")
