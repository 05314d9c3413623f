"""One line of what happened, and the small words that all such lines need."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from threebrokers.kafka.state import Act, PartitionSight

# Later than this a change is hardly the act's doing.
CAUSE_SECONDS = 30.0
NAMED_PARTITIONS = 6

DONE = {
    "stop": "you stopped broker {}",
    "kill": "you killed broker {}",
    "pause": "you paused broker {}",
    "resume": "you let broker {} go on",
    "start": "you started broker {}",
    "cut": "you cut broker {} off",
    "stall": "you stalled the links of broker {}",
    "slow": "you slowed the links of broker {} down",
    "heal": "you mended the links of broker {}",
}


class Event(NamedTuple):
    """What happened, and when (s since 1970).

    `kind` is 'act' (done on purpose), 'bad', 'good', 'note', or 'fault' (something could not be done).
    """

    at: float
    words: str
    kind: str = "note"


def act_event(act: Act) -> Event:
    """Say what was done."""
    words = DONE.get(act.verb, f"you did '{act.verb}' to broker {{}}").format(act.broker)
    return Event(act.at, f"{words} {act.more}".rstrip(), "act")


def since(at: float, acts: Sequence[Act], broker: int | None, *verbs: str) -> str:
    """Say how long after the latest such act on this broker something was seen; empty if there is none.

    What is seen at `at` happened before it, so the time is an upper bound.
    """
    causes = [a for a in acts if a.broker == broker and a.verb in verbs and a.at <= at < a.at + CAUSE_SECONDS]
    if not causes:
        return ""
    last = max(causes, key=lambda act: act.at)
    return f", at most {at - last.at:.1f} s after the {last.verb}"


def named(partitions: Sequence[PartitionSight], totals: Mapping[str, int]) -> str:
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


def listed(things: Iterable[object]) -> str:
    """Return "1", "1 and 2", "1, 2 and 3"."""
    words = [str(thing) for thing in things]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else "none"


def have(things: Sequence[object]) -> str:
    """Return "has" for one thing, else "have"."""
    return "has" if len(things) == 1 else "have"
