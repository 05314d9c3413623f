"""The order in which reasons are looked for; the first that holds is the answer."""

from collections.abc import Callable, Iterable

from threebrokers.why_empty import of_group, of_member, of_offsets, of_topic, of_waiting
from threebrokers.why_empty.answer import Answer
from threebrokers.why_empty.facts import Facts
from threebrokers.why_empty.words import Told

Reason = Callable[[Facts], Told | None]

# What keeps everybody from reading comes first, then who is there, then where they stand.
AT_ONCE: tuple[Reason, ...] = (
    of_member.closed,
    of_topic.no_broker,
    of_topic.no_topic,
    of_topic.no_leader,
    of_topic.no_coordinator,
    of_topic.no_records,
    of_group.rebalancing,
    of_member.subscribed_elsewhere,
    of_member.thrown_out,
    of_group.nobody,
    of_group.unsubscribed,
    of_member.unpolled,
)
# These need to know who reads meanwhile, and what a reader would be given.
AFTER_WATCHING: tuple[Reason, ...] = (
    of_group.forgotten,
    of_group.idle,
    of_group.elsewhere,
    of_offsets.out_of_range,
    of_waiting.waits,
    of_waiting.barren,
    of_offsets.latest,
    of_waiting.transaction,
    of_waiting.uncopied,
    of_offsets.all_read,
)


def first(reasons: Iterable[Reason], facts: Facts) -> Answer | None:
    """Return the first reason that holds, None if there is none."""
    for reason in reasons:
        if told := reason(facts):
            return Answer(*told, facts)
    return None
