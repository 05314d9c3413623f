"""What happened between two states of the cluster, in words: brokers, the quorum, groups."""

from collections.abc import Iterable, Iterator, Sequence

from threebrokers.cluster.actions import Action
from threebrokers.kafka.elections import UncleanElection
from threebrokers.kafka.state import BrokerState, ClusterState, GroupState
from threebrokers.panel.between import Between, Event, action_event
from threebrokers.panel.cells import NO_COORDINATOR, member_names, share
from threebrokers.panel.topic_events import topic_news
from threebrokers.text import listed

__all__ = ["Event", "action_event", "changes", "events", "quorum_left"]

# Shorter than this nobody's silence is worth a line: a busy machine is silent for a moment too.
SILENT_SECONDS = 1.0


def opening(state: ClusterState) -> list[Event]:
    """Say how things are when the watching begins."""
    up = [b.id for b in state.brokers if b.state == "up"]
    leader = state.quorum_leader
    led = f"; broker {leader} is the active controller" if leader is not None else ""
    others = [f"broker {b.id} is {b.state}" for b in state.brokers if b.state != "up"]
    if not others:
        return [Event(state.at, f"all {len(up)} brokers are up{led}")]
    return [Event(state.at, f"{', '.join(others)}{led}", "bad"), *_quorum_lost(None, state)]


def broker_news(before: ClusterState, after: ClusterState, between: Between) -> Iterator[Event]:
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
        known = before.last_response_at is not None
        if known and _all_answered(after) and old.registered != new.registered:
            yield _noticed(new, between)
    if _silence(before) <= SILENT_SECONDS < _silence(after):
        yield Event(after.at, "no broker answers: topics are shown as they were last seen", "bad")
    if _silence(after) <= SILENT_SECONDS < _silence(before):
        yield Event(after.at, "brokers answer again", "good")


def quorum_news(before: ClusterState, after: ClusterState, between: Between) -> Iterator[Event]:
    """Say who is the active controller, if that changed, and whether there is a quorum at all."""
    old, new = before.quorum_leader, after.quorum_leader
    if new is not None and old != new:
        lost = [old] if old is not None else [b.id for b in after.brokers if b.state != "up"]
        when = next((words for b in lost if (words := between.after_breaking(b))), "")
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
        words = f"the quorum is lost: of {len(after.brokers)} voters {who} is left, so nothing can be elected"
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


def _noticed(broker: BrokerState, between: Between) -> Event:
    if broker.registered:
        when = between.after_mending(broker.id)
        return Event(between.at, f"the others count broker {broker.id} again{when}", "good")
    when = between.after_breaking(broker.id)
    return Event(between.at, f"the others no longer count broker {broker.id}{when}", "bad")


def _all_answered(state: ClusterState) -> bool:
    """Tell whether a broker told of the cluster at this very moment."""
    return state.last_response_at is not None and state.last_response_at >= state.at


def _silence(state: ClusterState) -> float:
    return state.at - state.last_response_at if state.last_response_at is not None else 0.0


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


def events(
    before: ClusterState | None,
    after: ClusterState,
    actions: Iterable[Action] = (),
    unclean: Sequence[UncleanElection] = (),
) -> list[Event]:
    """Return what happened after `before` up to `after`: actions of that time, and all that changed.

    Actions from earlier are welcome too: they say after what something happened. `unclean` are the elections
    that `after` proves to be so.
    """
    known = list(actions)
    begun = before.at if before else after.at
    done = [action_event(action) for action in known if begun < action.at <= after.at]
    return sorted([*done, *changes(before, after, known, unclean)], key=lambda event: event.at)


def changes(
    before: ClusterState | None,
    after: ClusterState,
    actions: Sequence[Action],
    unclean: Sequence[UncleanElection],
) -> list[Event]:
    """Return what changed between two states; all of the second if there was none before.

    A change is dated with the state that showed it first, so it happened at that time or a little earlier;
    and in whichever order.
    """
    if before is None:
        return opening(after)
    between = Between.of(before, after, actions)
    return [
        *broker_news(before, after, between),
        *quorum_news(before, after, between),
        *topic_news(before, after, between, unclean),
        *group_news(before, after),
    ]
