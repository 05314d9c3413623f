"""From one look to the next: what happened, in plain words. Pure: Sights and Acts in, Events out."""

from collections.abc import Iterable, Sequence

from threebrokers.kafka.state import Act, Sight
from threebrokers.view.event import Event, act_event
from threebrokers.view.news_brokers import broker_news, opening, quorum_news
from threebrokers.view.news_groups import group_news
from threebrokers.view.news_topics import topic_news


def events(before: Sight | None, after: Sight, acts: Iterable[Act] = ()) -> list[Event]:
    """Return what happened after `before` up to `after`: acts of that time, and all that changed.

    Acts from earlier are welcome too: they say after what something happened.
    """
    known = list(acts)
    begun = before.at if before else after.at
    done = [act_event(act) for act in known if begun < act.at <= after.at]
    return sorted([*done, *changes(before, after, known)], key=lambda event: event.at)


def changes(before: Sight | None, after: Sight, acts: Sequence[Act] = ()) -> list[Event]:
    """Return what changed between two looks, oldest first; the state as it is if there was no look before.

    A change is dated with the look that showed it first, so it happened at that time or a little earlier.
    """
    if before is None:
        return opening(after)
    return [
        *broker_news(before, after, acts),
        *quorum_news(before, after, acts),
        *topic_news(before, after, acts),
        *group_news(before, after),
    ]
