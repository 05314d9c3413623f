"""Requests that are refused for a moment, with others behind them on their way: for docs/guarantees.md."""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios import refused_for_a_while
from threebrokers.lab.scenarios.overtaking import AWAY, REPLICAS, SENT, Arrived
from tools.publish.verdicts import Repeated, Say, by_name, repeat, section, table

PRODUCERS, TOPIC = 20, "refused"
HEADING = "Requests are refused for a moment"
HEADINGS = (HEADING,)
TEXT = f"""
One of three brokers is away, and the topic wants {REPLICAS} replicas in sync, so leaders refuse every request
(`NOT_ENOUGH_REPLICAS`), which `acks=all` sends again. Meanwhile the topic becomes content with
{REPLICAS - 1}. So some requests were refused, and those on their way behind them are taken. {PRODUCERS}
producers send {SENT // PRODUCERS} records each to a partition of its own, one record a batch, and nearly
without a pause before they try again, which makes it likely. *Overtaken* stands behind a record that was sent
later.
"""
SEE = """
Only the idempotent producer keeps the order. But the leader can refuse a record whose sequence number does
not follow only if it knows the producer. Of one whose first records it has refused it takes any number. So
the next record is stored as if it were the first. The client then believes that those before it must be
stored, too, and reports them without an error (librdkafka calls it an implicit acknowledgement; their
`offset()` is None). They are lost. A producer that has a record in the partition before it begins does not
lose any.
"""
OFF: dict[str, Any] = {"acks": "all", "enable.idempotence": False}
ON: dict[str, Any] = {"acks": "all", "enable.idempotence": True}
# Its settings, and whether each partition has a record of the producer from before.
SET_UPS = {
    "`acks=all`": (OFF, False),
    "`acks=all, enable.idempotence`": (ON, False),
    "the same, one record was stored before": (ON, True),
}


class Outcome(NamedTuple):
    """What became of the records: the page's columns, in order."""

    attempted: int
    acknowledged: int
    stored: int
    lost: int
    overtaken: int

    @classmethod
    def of(cls, arrived: Arrived) -> "Outcome":
        """Count what has arrived."""
        return cls(SENT, len(arrived.acknowledged), arrived.stored, arrived.lost, arrived.overtaken)


Run = Mapping[str, Outcome]


def sections(lab: Lab, runs: int, say: Say) -> list[str]:
    """Measure, and return the section of the page."""
    return written(repeat(lab, runs, HEADING, partial(refused_once, lab), told, say))


def written(found: Repeated[Run]) -> list[str]:
    """Return the section of the page."""
    return [
        section(HEADING, TEXT, found.told, table("set-up", Outcome._fields, by_name(found.runs)), see=SEE)
    ]


def refused_once(lab: Lab) -> Run:
    """Stop a broker, let producers of each set-up be refused for a moment, and start it again."""
    lab.cluster.stop(AWAY)
    try:
        return {
            of: Outcome.of(
                refused_for_a_while(lab, settings, name=TOPIC, producers=PRODUCERS, greeted=greeted)
            )
            for of, (settings, greeted) in SET_UPS.items()
        }
    finally:
        lab.cluster.recover()


def told(run: Run) -> str:
    """Return in a line what was lost, and overtaken."""
    return ", ".join(f"{name}: {of.lost} lost, {of.overtaken} overtaken" for name, of in run.items())
