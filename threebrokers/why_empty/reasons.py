"""The order in which reasons are looked for; the first that holds is the answer."""

from collections.abc import Callable, Iterable

from threebrokers.why_empty import reasons_group, reasons_topic
from threebrokers.why_empty.answer import Answer
from threebrokers.why_empty.facts import Facts
from threebrokers.why_empty.words import Told

Reason = Callable[[Facts], Told | None]

# What keeps everybody from reading comes first, then who is there, then where they stand.
AT_ONCE: tuple[Reason, ...] = (
    reasons_group.closed,
    reasons_topic.no_broker,
    reasons_topic.no_topic,
    reasons_topic.no_leader,
    reasons_topic.no_coordinator,
    reasons_topic.no_records,
    reasons_group.rebalancing,
    reasons_group.subscribed_elsewhere,
    reasons_group.thrown_out,
    reasons_group.nobody,
    reasons_group.unsubscribed,
    reasons_group.unpolled,
)
# These need to know who reads meanwhile, and what a reader would be given.
AFTER_WATCHING: tuple[Reason, ...] = (
    reasons_group.forgotten,
    reasons_group.idle,
    reasons_group.elsewhere,
    reasons_topic.out_of_range,
    reasons_topic.waits,
    reasons_topic.barren,
    reasons_topic.latest,
    reasons_topic.transaction,
    reasons_topic.uncopied,
    reasons_topic.all_read,
)


def first(reasons: Iterable[Reason], facts: Facts) -> Answer | None:
    """Return the first reason that holds, None if there is none."""
    for reason in reasons:
        if told := reason(facts):
            return Answer(told.cause, told.text, facts, told.about)
    return None
