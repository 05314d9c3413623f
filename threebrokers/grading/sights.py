"""What is seen of the brokers before and after an exercise, and what has happened in between."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from threebrokers.cluster import Cluster
from threebrokers.errors import LabError
from threebrokers.grading.orders import Step
from threebrokers.text import listed, numbered

ASK_SECONDS = 5.0
BREAKS = re.compile(r"\b(?:take_down|kill|stop|pause|cut|stall)\(")  # what an exercise's own cell may do
MOST_NAMED = 5


@dataclass(frozen=True)
class Sight:
    """The topics that are there (None: nobody answered), and how each broker's process is."""

    topics: frozenset[str] | None
    states: dict[int, str]
    ended: tuple[int, ...] = ()

    @property
    def all_up(self) -> bool:
        """Whether all three run."""
        return all(state == "up" for state in self.states.values())


def look() -> Sight:
    """Look at the brokers."""
    cluster = Cluster()
    states = {number: one.state for number, one in cluster.processes().items()}
    try:
        ended = tuple(cluster.ended_unasked())
    except LabError:
        ended = ()
    if "up" not in states.values():
        return Sight(None, states, ended)
    try:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
        topics = frozenset(admin.list_topics(timeout=ASK_SECONDS).topics)
    except (KafkaException, LabError):
        return Sight(None, states, ended)
    return Sight(topics, states, ended)


def news(before: Sight, now: Sight, step: Step, since: float | None) -> Iterator[str]:
    """Yield a sentence for each thing that an exercise did to brokers and topics, and did not have to.

    What was done by the course's own functions is told of the time `since` then, if that is known.
    """
    if before.topics is not None and now.topics is not None:
        own = {name for name in before.topics if f'"{name}"' in step.blank}
        if gone := sorted(before.topics - now.topics - own):
            more = f" and {len(gone) - MOST_NAMED} more" if len(gone) > MOST_NAMED else ""
            yield f"Exercise {step.check} deleted topics: {', '.join(gone[:MOST_NAMED])}{more}."
    if ended := sorted(set(now.ended) - set(before.ended)):
        were = "was" if len(ended) == 1 else "were"
        yield f"Exercise {step.check}: {numbered('broker', ended)} {were} ended from outside the course."
    if since is None or BREAKS.search(step.blank):
        return
    done = [one for one in Cluster().actions(since) if one.kind in ("kill", "stop", "pause", "cut", "stall")]
    if done:
        told = listed(list(dict.fromkeys(f"{one.kind}({one.broker})" for one in done)))
        yield f"Exercise {step.check} called {told}."
