"""What checks read from the learner's producers and consumers: also from plain ones of confluent-kafka.

A client that did the work is right, whoever made it. What a check can see on the cluster it looks for there;
only a client of the lab tells its settings and counts.
"""

from typing import Any

from confluent_kafka import Consumer, Producer

from threebrokers.kafka.clients import LabConsumer, LabProducer
from threebrokers.lab.attempt import attempt
from threebrokers.lab.exercise import NotYet, eventually
from threebrokers.lab.lab import Lab
from threebrokers.text import counted, have
from threebrokers.why_empty import explain

CLOSED_SECONDS = 1.0
FLUSH = "the end of your code: flush() without a number waits for every delivery report"

# What `why_empty` says of a group that nobody is in any more, or of records that only wait for a poll().
NO_REASON = ("unknown", "unread", "nobody", "moving", "forgotten")


def expect_consumer(name: str, value: object) -> Consumer:
    """Return the value if it is a consumer, the lab's or a plain one; NotYet otherwise."""
    if not isinstance(value, Consumer):
        raise NotYet(
            f"`{name}` is {value!r:.60}",
            "it should be a consumer",
            "lab.consumer({…}) in the cell of the exercise",
        )
    return value


def client_setting(client: object, name: str, default: str) -> str | None:
    """Return a setting of a client as text, `default` if it was not set; None if a plain client hides it."""
    if not isinstance(client, LabConsumer | LabProducer):
        return None
    value: Any = client.config.get(name, default)
    return str(value).lower() if isinstance(value, bool) else str(value)


def group_of(consumer: object, otherwise: str) -> str:
    """Return the group of a consumer; a plain one does not tell, and is believed to be of the group given."""
    return client_setting(consumer, "group.id", "") or otherwise


def received(consumer: object) -> int | None:
    """Return how many records a consumer has returned to the program; None if a plain one did not count."""
    return consumer.received if isinstance(consumer, LabConsumer) else None


def expect_flushed(lab: Lab, topic: str, *producers: Producer, look_at: str = FLUSH) -> None:
    """Raise NotYet if records of this topic have no delivery report yet: what was sent is not known.

    Asks these producers, and those of the lab that have sent something in this try. Records often arrive
    all the same, while the program goes on: that a topic holds them does not tell that the program waited.
    """
    run = attempt()
    used = [one for one in lab.producers() if run is None or one.sent_at >= run.began]
    told = [one.unreported(topic) for one in {*used, *producers} if isinstance(one, LabProducer)]
    plain = [one for one in producers if not isinstance(one, LabProducer) and len(one)]
    if count := sum(told):
        has = "has" if count == 1 else "have"
        raise NotYet(
            f"{counted(count, 'record')} of {topic!r} {has} no delivery report yet",
            "the program should not end before it knows that all are stored",
            look_at,
        )
    if plain:
        raise NotYet(
            "your producer has records without a delivery report",
            "the program should not end before it knows that all are stored",
            look_at,
        )


def expect_closed(lab: Lab, group: str, name: str) -> None:
    """Raise NotYet if somebody is still in this group a second later: its consumer called `name` is open."""

    def look() -> None:
        told = [found for found in lab.cluster.state([], [group]).groups if found.coordinator is not None]
        if not told:
            raise NotYet(
                f"no broker tells who is in the group {group!r}",
                "its coordinator should answer",
                "the check: run it again",
            )
        members = [member for found in told for member in found.members]
        if members:
            raise NotYet(
                f"{counted(len(members), 'member')} of the group {group!r} {have(members)} not left it",
                f"{name} should be closed when all is done, so that nobody waits for it",
                "close(), on every consumer of that group",
            )

    eventually(look, what=f"the group {group} to be empty", within=CLOSED_SECONDS)


def why_nothing(lab: Lab, consumer: Consumer, group: str, topic: str, look_at: str) -> NotYet | None:
    """Return what `lab.why_empty` says of a consumer that got nothing; None if it knows no reason.

    `group` is what a plain consumer is told by. It takes up to 3 s.
    """
    asked = consumer if isinstance(consumer, LabConsumer) else group
    answer = explain(lab.cluster, asked, topic, settle=1, watch=0)
    if answer.cause == "closed":  # it was not while it read
        answer = explain(lab.cluster, group, topic, settle=1, watch=0)
    if answer.cause in NO_REASON:
        return None
    return NotYet("nothing came", answer.text.rstrip("."), look_at)
