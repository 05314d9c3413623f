"""What changed about brokers and their quorum."""

from collections.abc import Iterator, Sequence

from threebrokers.kafka.state import Act, BrokerSight, Sight
from threebrokers.view.event import Event, listed, since

# Shorter than this nobody's silence is worth a line: a busy machine is silent for a moment too.
SILENT_SECONDS = 1.0
BREAKING = ("stop", "kill", "pause", "cut", "stall")
MENDING = ("start", "resume", "heal")


def opening(sight: Sight) -> list[Event]:
    """Say how things are when the watching begins."""
    up = [b.id for b in sight.brokers if b.state == "up"]
    led = f"; broker {sight.quorum_leader} leads the quorum" if sight.quorum_leader else ""
    others = [f"broker {b.id} is {b.state}" for b in sight.brokers if b.state != "up"]
    if not others:
        return [Event(sight.at, f"all {len(up)} brokers are up{led}")]
    return [Event(sight.at, f"{', '.join(others)}{led}", "bad"), *_quorum_lost(None, sight)]


def broker_news(before: Sight, after: Sight, acts: Sequence[Act]) -> Iterator[Event]:
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
        if _told(before) and _told(after) and old.registered != new.registered:
            yield _noticed(after.at, new, acts)
    if _silence(before) <= SILENT_SECONDS < _silence(after):
        yield Event(after.at, "no broker answers: topics are shown as they were last seen", "bad")
    if _silence(after) <= SILENT_SECONDS < _silence(before):
        yield Event(after.at, "brokers answer again", "good")


def quorum_news(before: Sight, after: Sight, acts: Sequence[Act]) -> Iterator[Event]:
    """Say who leads the metadata quorum, if that changed, and whether there is a quorum at all."""
    old, new = before.quorum_leader, after.quorum_leader
    if new is not None and old != new:
        lost = [old] if old is not None else [b.id for b in after.brokers if b.state != "up"]
        when = next((words for b in lost if (words := since(after.at, acts, b, *BREAKING))), "")
        not_old = f", not broker {old}" if old is not None else ""
        yield Event(after.at, f"broker {new} leads the quorum now{not_old}{when}")
    elif new is None and old is not None and _told(after):
        yield Event(after.at, "nobody leads the quorum now: a new leader must be elected", "bad")
    yield from _quorum_lost(before, after)
    if quorum_left(before) is not None and quorum_left(after) is None:
        yield Event(after.at, "enough voters are up again for a quorum", "good")


def quorum_left(sight: Sight) -> list[int] | None:
    """Return the brokers that are left if they are too few to elect anything; None if they are enough.

    One that only does not answer may be busy, so it counts.
    """
    left = [b.id for b in sight.brokers if b.state not in ("down", "paused")]
    return None if 2 * len(left) > len(sight.brokers) else left


def _quorum_lost(before: Sight | None, after: Sight) -> Iterator[Event]:
    left = quorum_left(after)
    if left is not None and (before is None or quorum_left(before) is None):
        who = f"only broker {listed(left)}" if left else "none"
        words = f"the quorum is lost: {who} of {len(after.brokers)} voters is left, so nothing can be elected"
        yield Event(after.at, words, "bad")


def _changed(at: float, old: BrokerSight, new: BrokerSight) -> Event:
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


def _noticed(at: float, broker: BrokerSight, acts: Sequence[Act]) -> Event:
    if broker.registered:
        return Event(
            at, f"the others count broker {broker.id} again{since(at, acts, broker.id, *MENDING)}", "good"
        )
    when = since(at, acts, broker.id, *BREAKING)
    return Event(at, f"the others no longer count broker {broker.id}{when}", "bad")


def _told(sight: Sight) -> bool:
    """Tell whether a broker told of the cluster in this very look."""
    return sight.heard is not None and sight.heard >= sight.at


def _silence(sight: Sight) -> float:
    return sight.at - sight.heard if sight.heard is not None else 0.0
