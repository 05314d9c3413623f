"""All brokers are restarted, one after the other, while records come: for docs/guarantees.md."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from threebrokers.kafka.clients import LabProducer
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios import rolling, steady_writes, wait_for_more
from threebrokers.lab.scenarios.partitions import fresh
from tools.publish.verdicts import ALL_IN_SYNC, Repeated, Say, Verdict, by_name, repeat, section, table

HEADING = "All brokers are restarted, one after the other"
HEADINGS = (HEADING,)
LEASTS, REPLICAS = (1, 2, 3), 3
TEXT = f"""
Each producer sends a record every {rolling.EVERY_SECONDS:g} s, with `acks=all`. Each broker is stopped and
started in turn, the next one when all replicas are in sync again. So the number of records tells how long all
three restarts took together, and it is another in each run.
"""
SEE = """
Nothing that was acknowledged is lost, whatever the setting. With 1 and 2 writing goes on while a broker is
away. With 3 it stops: who tries once is told so at each record, and who sends again waits for the broker.
Without idempotence a record or two came twice in some runs, even with `retries=0`. With idempotence none did.

The cause: a leader that hands over while a record still waits for the followers' word answers
`NOT_LEADER_OR_FOLLOWER`, although it has stored the record and they may have it. librdkafka takes this answer
for "not stored", and sends the record to the next leader without counting that as a retry.
"""
Verdicts = Mapping[str, Verdict]


def measured(lab: Lab, runs: int, say: Say) -> Repeated[Verdicts]:
    """Restart all brokers so many times; return what the ledgers said, run by run."""
    return repeat(lab, runs, HEADING, partial(restarted, lab), told, say)


def written(found: Repeated[Verdicts]) -> list[str]:
    """Return the section of the page."""
    what = "`min.insync.replicas`, set-up"
    return [
        section(
            HEADING,
            TEXT,
            found.told,
            table(what, Verdict._fields, by_name(found.runs)),
            see=SEE,
        )
    ]


def sections(lab: Lab, runs: int, say: Say) -> list[str]:
    """Measure, and return the section of the page."""
    return written(measured(lab, runs, say))


def told(run: Verdicts) -> str:
    """Return in a line what failed, was lost and came twice."""
    return ", ".join(f"{row}: {v.failed} failed, {v.lost} lost, {v.twice} twice" for row, v in run.items())


def row(least: int, of: str) -> str:
    """Return how the page names a topic and a set-up."""
    return f"{least}, `{of}`"


def restarted(lab: Lab) -> Verdicts:
    """Restart all brokers, one after the other; return for each topic what its ledger says then."""
    lab.cluster.recover()
    rows = [(least, of, settings) for least in LEASTS for of, settings in ALL_IN_SYNC.items()]
    topics, ledgers, producers = dict[str, str](), dict[str, Any](), dict[str, dict[str, Any]]()
    for number, (least, of, settings) in enumerate(rows):
        topic = fresh(lab, f"rolled-{number}", 1, REPLICAS, least)
        topics[row(least, of)], ledgers[topic] = topic, lab.ledger(f"rolled-{number}")
        producers[topic] = {**(rolling.ONCE if settings.get("retries") == 0 else rolling.PATIENT), **settings}

    def producer_for(topic: str) -> LabProducer:
        made: LabProducer = ledgers[topic].producer(producers[topic])
        return made

    with steady_writes(lab, ledgers, producer_for):
        for broker in lab.cluster.brokers:
            lab.cluster.stop(broker)
            lab.cluster.start(broker)
            lab.cluster.wait_in_sync(ledgers)
            wait_for_more(lab, ledgers)
    return {name: Verdict.of(ledgers[topic].balance(topic)) for name, topic in topics.items()}
