"""One line of what happened, and the small words that all such lines need."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from threebrokers.cluster.actions import ACTION_KINDS, Action, action_kind
from threebrokers.kafka.state import BrokerState, ClusterState, GroupState, PartitionState, TopicState
from threebrokers.panel.cells import member_names, share
from threebrokers.text import have, listed

# Later than this a change is hardly the action's doing.
CAUSE_SECONDS = 30.0
NAMED_PARTITIONS = 6


class Event(NamedTuple):
    """What happened, and when (s since 1970).

    `kind` is 'action' (done on purpose), 'bad', 'good', 'note', or 'fault' (something could not be done).
    """

    at: float
    words: str
    kind: str = "note"


def action_event(action: Action) -> Event:
    """Say what was done."""
    words = action_kind(action.kind).sentence.format(action.broker)
    return Event(action.at, f"{words} {action.more}".rstrip(), "action")


def since(at: float, actions: Sequence[Action], broker: int | None, *kinds: str) -> str:
    """Say how long after the latest such action on this broker something was seen; empty if there is none.

    What is seen at `at` happened before it, so the time is an upper bound.
    """
    causes = [
        a for a in actions if a.broker == broker and a.kind in kinds and a.at <= at < a.at + CAUSE_SECONDS
    ]
    if not causes:
        return ""
    last = max(causes, key=lambda action: action.at)
    return f", at most {at - last.at:.1f} s after the {last.kind}"


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
    return f"{'partition' if count == 1 else 'partitions'} {listed(p.id for p in partitions)} of {topic}"


# Shorter than this nobody's silence is worth a line: a busy machine is silent for a moment too.
SILENT_SECONDS = 1.0
BREAKING = tuple(kind.name for kind in ACTION_KINDS.values() if kind.takes_away)
MENDING = tuple({kind.undo for kind in ACTION_KINDS.values() if kind.harm})


def opening(state: ClusterState) -> list[Event]:
    """Say how things are when the watching begins."""
    up = [b.id for b in state.brokers if b.state == "up"]
    led = f"; broker {state.quorum_leader} is the active controller" if state.quorum_leader else ""
    others = [f"broker {b.id} is {b.state}" for b in state.brokers if b.state != "up"]
    if not others:
        return [Event(state.at, f"all {len(up)} brokers are up{led}")]
    return [Event(state.at, f"{', '.join(others)}{led}", "bad"), *_quorum_lost(None, state)]


def broker_news(before: ClusterState, after: ClusterState, actions: Sequence[Action]) -> Iterator[Event]:
    """Say which brokers went, came, fell silent or moved, and whom the others count as alive."""
    for new in after.brokers:
        old = before.broker(new.id)
        if old is None:
            yield Event(after.at, f"broker {new.id} is new here ({new.state})")
            continue
        if old.state != new.state:
            yield _changed(after.at, old, new)
        elif old.address and new.address and old.address != new.address:
            yield Event(after.at, f"broker {new.id} has another address: {new.address}")
        if _all_answered(before) and _all_answered(after) and old.registered != new.registered:
            yield _noticed(after.at, new, actions)
    if _silence(before) <= SILENT_SECONDS < _silence(after):
        yield Event(after.at, "no broker answers: topics are shown as they were last seen", "bad")
    if _silence(after) <= SILENT_SECONDS < _silence(before):
        yield Event(after.at, "brokers answer again", "good")


def quorum_news(before: ClusterState, after: ClusterState, actions: Sequence[Action]) -> Iterator[Event]:
    """Say who is the active controller, if that changed, and whether there is a quorum at all."""
    old, new = before.quorum_leader, after.quorum_leader
    if new is not None and old != new:
        lost = [old] if old is not None else [b.id for b in after.brokers if b.state != "up"]
        when = next((words for b in lost if (words := since(after.at, actions, b, *BREAKING))), "")
        not_old = f", not broker {old}" if old is not None else ""
        yield Event(after.at, f"broker {new} is the active controller now{not_old}{when}")
    elif new is None and old is not None and _all_answered(after):
        yield Event(after.at, "there is no active controller now: the voters must elect one", "bad")
    yield from _quorum_lost(before, after)
    if quorum_left(before) is not None and quorum_left(after) is None:
        yield Event(after.at, "enough voters are up again for a quorum", "good")


def quorum_left(state: ClusterState) -> list[int] | None:
    """Return the brokers that are left if they are too few to elect anything; None if they are enough.

    One that only does not answer may be busy, so it counts.
    """
    left = [b.id for b in state.brokers if b.state not in ("down", "paused")]
    return None if 2 * len(left) > len(state.brokers) else left


def _quorum_lost(before: ClusterState | None, after: ClusterState) -> Iterator[Event]:
    left = quorum_left(after)
    if left is not None and (before is None or quorum_left(before) is None):
        who = f"only broker {listed(left)}" if left else "none"
        words = f"the quorum is lost: {who} of {len(after.brokers)} voters is left, so nothing can be elected"
        yield Event(after.at, words, "bad")


def _changed(at: float, old: BrokerState, new: BrokerState) -> Event:
    name = f"broker {new.id}"
    match old.state, new.state:
        case _, "up" if old.address and new.address and old.address != new.address:
            return Event(at, f"{name} is back at another address: {new.address}", "good")
        case "paused", "up":
            return Event(at, f"{name} goes on", "good")
        case "down", "up":
            return Event(at, f"{name} is back", "good")
        case _, "up":
            return Event(at, f"{name} answers", "good")
        case _, "down":
            return Event(at, f"{name} is gone: its process has ended", "bad")
        case _, "paused":
            return Event(at, f"{name} stands still: its process is there and answers nobody", "bad")
        case "paused", _:
            return Event(at, f"{name} goes on, and does not answer yet")
        case "down", _:
            return Event(at, f"{name} has a process again, which does not answer yet")
        case _:
            return Event(at, f"{name} answers nobody", "bad")


def _noticed(at: float, broker: BrokerState, actions: Sequence[Action]) -> Event:
    if broker.registered:
        return Event(
            at, f"the others count broker {broker.id} again{since(at, actions, broker.id, *MENDING)}", "good"
        )
    when = since(at, actions, broker.id, *BREAKING)
    return Event(at, f"the others no longer count broker {broker.id}{when}", "bad")


def _all_answered(state: ClusterState) -> bool:
    """Tell whether a broker told of the cluster at this very moment."""
    return state.last_response_at is not None and state.last_response_at >= state.at


def _silence(state: ClusterState) -> float:
    return state.at - state.last_response_at if state.last_response_at is not None else 0.0


NO_COORDINATOR = "no coordinator"


def group_news(before: ClusterState, after: ClusterState) -> Iterator[Event]:
    """Say who joined or left, how partitions are shared now, and who coordinates."""
    known = {group.name: group for group in before.groups}
    for new in after.groups:
        old = known.get(new.name)
        if old is not None and new.state == NO_COORDINATOR and old.state != NO_COORDINATOR:
            yield Event(after.at, f"{new.name}: no coordinator answers", "bad")
        elif old is not None and new.state != NO_COORDINATOR:
            yield from _of_one(old, new, after.at)


def _of_one(old: GroupState, new: GroupState, at: float) -> Iterator[Event]:
    if new.coordinator is not None and old.coordinator != new.coordinator:
        yield Event(at, f"{new.name}: broker {new.coordinator} coordinates this group now")
    names = member_names(new) | {m: n for m, n in member_names(old).items() if m not in member_names(new)}
    was, now = {m.id: m for m in old.members}, {m.id: m for m in new.members}
    joined, left = [names[m] for m in now if m not in was], [names[m] for m in was if m not in now]
    if joined:
        yield Event(at, f"{new.name}: {', '.join(joined)} joined")
    if left:
        yield Event(at, f"{new.name}: {', '.join(left)} left" + ("; nobody is left" if not now else ""))
    shares = {m.id: m.partitions for m in new.members}
    if any(shares.values()) and shares != {m.id: m.partitions for m in old.members}:
        told = "; ".join(f"{names[m.id]} has {share(m)}" for m in new.members)
        yield Event(at, f"{new.name} shared its partitions anew: {told}")


Pairs = list[tuple[PartitionState, PartitionState]]


def topic_news(before: ClusterState, after: ClusterState, actions: Sequence[Action]) -> Iterator[Event]:
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
    yield from _leaders(pairs, totals, after.at, actions)
    yield from _unclean(pairs, after.at)
    yield from _copies(pairs, totals, after.at, actions)
    yield from _claims(pairs, totals, after.at)


def _leaders(pairs: Pairs, totals: dict[str, int], at: float, actions: Sequence[Action]) -> Iterator[Event]:
    moved: dict[int | None, list[PartitionState]] = defaultdict(list)
    for old, new in pairs:
        if old.leader != new.leader and new.leader is not None:
            moved[old.leader].append(new)
    for leader, theirs in moved.items():
        places = "; ".join(
            f"{_ids([p for p in theirs if p.leader == to])} → broker {to}"
            for to in sorted({p.leader for p in theirs if p.leader is not None})
        )
        what = "a leader again" if leader is None else "a new leader"
        when = since(at, actions, leader, *BREAKING)
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
        if (
            new.leader != old.leader
            and old.log_end_offset is not None
            and new.log_end_offset is not None
            and new.log_end_offset < old.log_end_offset
        ):
            reached = f"but its old leader had reached {old.log_end_offset:,}"
            words = f"{place} goes on at offset {new.log_end_offset:,}, {reached}"
            yield Event(at, words, "bad")


def _copies(pairs: Pairs, totals: dict[str, int], at: float, actions: Sequence[Action]) -> Iterator[Event]:
    gone: dict[int, list[PartitionState]] = defaultdict(list)
    back: dict[int, list[PartitionState]] = defaultdict(list)
    for old, new in pairs:
        for broker in sorted(set(old.isr) - set(new.isr)):
            gone[broker].append(new)
        for broker in sorted(set(new.isr) - set(old.isr)):
            back[broker].append(new)
    for broker, theirs in gone.items():
        left = {f"{len(p.isr)} of {len(p.replicas)}" for p in theirs}
        rest = f": {left.pop()} replicas are left" if len(left) == 1 else ""
        when = since(at, actions, broker, *BREAKING)
        yield Event(at, f"broker {broker} is out of sync in {named(theirs, totals)}{when}{rest}", "bad")
    for broker, theirs in back.items():
        when = since(at, actions, broker, *MENDING)
        yield Event(at, f"broker {broker} is in sync again in {named(theirs, totals)}{when}", "good")


def _claims(pairs: Pairs, totals: dict[str, int], at: float) -> Iterator[Event]:
    begun: dict[int, list[PartitionState]] = defaultdict(list)
    ended: dict[int, list[PartitionState]] = defaultdict(list)
    for old, new in pairs:
        for broker in sorted(set(new.stale_leaders) - set(old.stale_leaders)):
            begun[broker].append(new)
        for broker in sorted(set(old.stale_leaders) - set(new.stale_leaders)):
            ended[broker].append(new)
    for broker, theirs in begun.items():
        real = listed(sorted({p.leader for p in theirs if p.leader is not None}))
        words = f"broker {broker} still believes that it leads {named(theirs, totals)}: broker {real} does"
        yield Event(at, words, "bad")
    for broker, theirs in ended.items():
        words = f"broker {broker} no longer believes that it leads {named(theirs, totals)}"
        yield Event(at, words, "good")


def _made_anew(old: TopicState, new: TopicState) -> bool:
    """Tell whether this is another topic of the same name: leader epochs and log ends never go back."""
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
    count = len(topic.partitions)
    return f"{count} partition{'' if count == 1 else 's'}"


def events(before: ClusterState | None, after: ClusterState, actions: Iterable[Action] = ()) -> list[Event]:
    """Return what happened after `before` up to `after`: actions of that time, and all that changed.

    Acts from earlier are welcome too: they say after what something happened.
    """
    known = list(actions)
    begun = before.at if before else after.at
    done = [action_event(action) for action in known if begun < action.at <= after.at]
    return sorted([*done, *changes(before, after, known)], key=lambda event: event.at)


def changes(before: ClusterState | None, after: ClusterState, actions: Sequence[Action] = ()) -> list[Event]:
    """Return what changed between two states, oldest first; all of the second if there was none before.

    A change is dated with the state that showed it first, so it happened at that time or a little earlier.
    """
    if before is None:
        return opening(after)
    return [
        *broker_news(before, after, actions),
        *quorum_news(before, after, actions),
        *topic_news(before, after, actions),
        *group_news(before, after),
    ]
