"""The followers are out of sync when the leader dies: for docs/guarantees.md, with unclean elections too."""

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from confluent_kafka import KafkaError, KafkaException, Message

from threebrokers.kafka.clients import LabProducer
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios import controller_last, partition_of, wait_for_new_leaders
from threebrokers.lab.scenarios.guarantees import is_alone
from threebrokers.ledger import Ledger
from tools.publish.verdicts import (
    ALL_IN_SYNC,
    SET_UPS,
    Repeated,
    Say,
    Verdict,
    by_name,
    repeat,
    section,
    table,
)

PART = 100
GIVEN = {"linger.ms": 200, "message.timeout.ms": 180_000}  # longer than all of it
COPIED_SECONDS, ALONE_SECONDS, ANSWER_SECONDS = 15.0, 30.0, 90.0
DIES, UNCLEAN = "The followers are out of sync, and then the leader dies", "An unclean election"
HEADINGS = (DIES, UNCLEAN)
LEAST, LEAD = "`min.insync.replicas`, set-up", "`unclean.leader.election.enable`, set-up"
COLUMNS = ("attempted", "acknowledged while the leader was away", *Verdict._fields[1:])
DIES_TEXT = f"""
All three replicas have the first {PART} records of each producer. Then the followers cannot fetch any more,
until they are out of sync: the leader alone is left. The next {PART} are sent to it, and what can be answered
is. Now the leader is killed, and the followers come back. The last {PART} are sent while it is away; then it
is started again. No unclean election is allowed.
"""
DIES_SEE = """
Nothing that was acknowledged is lost. With 1 the leader acknowledged alone, and so nobody else may lead: the
partition waits for it. (It was killed, and has what it had written. After a power cut, or if it never came
back, what it acknowledged alone could be gone.) With 2 or 3 it acknowledged nothing alone. So the followers
lack nothing that was acknowledged, and one of them leads (Kafka calls them *eligible leader replicas*). With
2 writing goes on then; 3 wants all three.
"""
UNCLEAN_TEXT = """
The same, with `min.insync.replicas=1`, and with both values of `unclean.leader.election.enable`, the topic's
setting. (Its default is false.)
"""
UNCLEAN_SEE = """
With *true* a follower leads that lacks the records in the middle. It takes new ones at once, and when the old
leader returns, that one drops what it alone had. `acks=all` is no help: it waits for all that are in sync,
and that was one broker. Only the idempotent producer notices: its next sequence number does not follow what
the new leader has, so it fails for good (`OUT_OF_ORDER_SEQUENCE_NUMBER`). With *false* nothing is lost, and
the partition takes nothing until that broker is back.
"""


class Outage(NamedTuple):
    """What one ledger says at the end, and how many were acknowledged while the leader was away."""

    attempted: int
    meanwhile: int
    acknowledged: int
    failed: int
    stored: int
    lost: int
    twice: int


class Topic(NamedTuple):
    """The settings of a topic: how many replicas must be in sync, and whether any may lead."""

    least: int
    unclean: bool

    @property
    def config(self) -> dict[str, str]:
        """They, in Kafka's words."""
        return {
            "min.insync.replicas": str(self.least),
            "unclean.leader.election.enable": self.word,
        }

    @property
    def word(self) -> str:
        """Whether any replica may lead, in Kafka's word."""
        return str(self.unclean).lower()

    @property
    def goes_on(self) -> bool:
        """Whether a follower leads when the leader has died that alone was in sync."""
        return self.unclean or self.least > 1


TOPICS = {
    Topic(1, unclean=False): SET_UPS,
    Topic(1, unclean=True): SET_UPS,
    Topic(2, unclean=False): ALL_IN_SYNC,
    Topic(3, unclean=False): ALL_IN_SYNC,
}
Pair = tuple[Topic, str]
Run = Mapping[Pair, Outage]


def measured(lab: Lab, runs: int, say: Say) -> Repeated[Run]:
    """Kill a leader that alone is in sync so many times; return what the ledgers said, run by run."""
    return repeat(lab, runs, DIES, partial(killed_alone, lab), told, say)


def written(found: Repeated[Run]) -> list[str]:
    """Return the sections of the page: both are of the same runs."""
    rows = by_name(found.runs)
    dies = {
        f"{topic.least}, `{of}`": rows[topic, of]
        for topic, of in rows
        if of in ALL_IN_SYNC and not topic.unclean
    }
    unclean = {f"{topic.word}, `{of}`": rows[topic, of] for topic, of in rows if topic.least == 1}
    return [
        section(DIES, DIES_TEXT, found.told, table(LEAST, COLUMNS, dies), see=DIES_SEE),
        section(UNCLEAN, UNCLEAN_TEXT, found.told, table(LEAD, COLUMNS, unclean), see=UNCLEAN_SEE),
    ]


def sections(lab: Lab, runs: int, say: Say) -> list[str]:
    """Measure, and return the sections of the page."""
    return written(measured(lab, runs, say))


def told(run: Run) -> str:
    """Return in a line what was acknowledged meanwhile, failed, was lost and came twice."""
    return "; ".join(
        f"{topic.least}, {topic.word}, {of}: {o.meanwhile} meanwhile, {o.failed} failed, {o.lost} lost, "
        f"{o.twice} twice"
        for (topic, of), o in run.items()
    )


def killed_alone(lab: Lab) -> Run:
    """Kill a leader whose followers are out of sync; return what became of each producer's records.

    Raises LabError if it was not so: a follower that stays in sync, or a topic that nobody leads then.
    """
    scene = _Scene(lab)
    scene.send()
    lab.wait_until(scene.copied, what="three replicas of the first records", within=COPIED_SECONDS)
    scene.leave_leader_alone()
    scene.send()
    scene.wait_answered(scene.answers_alone)
    at_the_kill = scene.kill_leader()
    scene.send()
    scene.wait_answered(scene.answers_meanwhile)
    meanwhile = scene.acknowledged - at_the_kill
    lab.cluster.recover()
    return scene.ended(meanwhile)


class _Scene:
    """A topic of each kind, and a producer and a ledger for each of its set-ups."""

    def __init__(self, lab: Lab) -> None:
        lab.cluster.recover()
        self.lab, brokers = lab, controller_last(lab)
        self.leader = brokers[0]
        self.names = {
            topic: lab.fresh_topic(f"lone-{number}", brokers=brokers, config=topic.config)
            for number, topic in enumerate(TOPICS)
        }
        self.acknowledged: Counter[Pair] = Counter()
        self.ledgers: dict[Pair, Ledger] = {}
        self.producers: dict[Pair, LabProducer] = {}
        for number, pair in enumerate((topic, of) for topic, set_ups in TOPICS.items() for of in set_ups):
            self.ledgers[pair] = lab.ledger(f"lone-{number}")
            self.producers[pair] = self._producer(pair)
        self.sent = 0

    def send(self) -> None:
        """Send a part with each producer; one that has given up for good refuses, as its ledger notes."""
        for (topic, _), producer in self.producers.items():
            for number in range(self.sent, self.sent + PART):
                with suppress(KafkaException):
                    producer.produce(self.names[topic], str(number))
        self.sent += PART

    def copied(self) -> bool:
        """Tell whether all replicas have all that was sent."""
        self._poll()
        return all(
            len(ends := dict(partition_of(self.lab, name).log_end_offsets)) == len(self.lab.cluster.brokers)
            and min(ends.values()) >= self.sent * len(TOPICS[topic])
            for topic, name in self.names.items()
        )

    def leave_leader_alone(self) -> None:
        """Let the followers fetch nothing, until the leader itself knows that none of them is in sync."""
        self.lab.cluster.cut(self.leader, "brokers")
        hasty = self.lab.producer({"acks": 1})
        for name in self.names.values():
            hasty.produce(name, "a follower that lacks nothing stays in sync")
        hasty.flush(ANSWER_SECONDS)
        self.lab.wait_until(
            lambda: all(is_alone(self.lab, name, self.leader) for name in self.names.values()),
            what="the followers to leave the ISR",
            within=ALONE_SECONDS,
        )

    def kill_leader(self) -> Counter[Pair]:
        """Kill it, let the followers go on, and wait until one leads where one may.

        Return how many records of each producer were acknowledged before the kill.
        """
        self._poll()
        acknowledged = self.acknowledged.copy()
        self.lab.cluster.kill(self.leader)
        self.lab.cluster.heal()
        led = [name for topic, name in self.names.items() if topic.goes_on]
        wait_for_new_leaders(self.lab, self.leader, *led)
        self.lab.wait_until(
            lambda: all(set(partition_of(self.lab, name).isr) == self._followers() for name in led),
            what="both followers to be in sync",
            within=ALONE_SECONDS,
        )
        return acknowledged

    def answers_alone(self, pair: Pair) -> bool:
        """Tell whether a leader that is alone answers such a producer, be it with a refusal."""
        topic, of = pair
        return topic.least == 1 or not _tries_again(of)

    def answers_meanwhile(self, pair: Pair) -> bool:
        """Tell whether the followers do, while that leader is away."""
        topic, of = pair
        return topic.goes_on and (topic.least < len(self.lab.cluster.brokers) or not _tries_again(of))

    def wait_answered(self, answered: Callable[[Pair], bool]) -> None:
        """Wait until these producers have no record left without a report."""
        waited = [producer for pair, producer in self.producers.items() if answered(pair)]

        def told() -> bool:
            self._poll()
            return not any(map(len, waited))

        self.lab.wait_until(told, what="answers", within=ANSWER_SECONDS)

    def ended(self, meanwhile: Counter[Pair]) -> Run:
        """Wait for all reports, and return what the ledgers say."""
        self.wait_answered(lambda pair: True)
        found = {}
        for (topic, of), ledger in self.ledgers.items():
            verdict = Verdict.of(ledger.balance(self.names[topic]))
            found[topic, of] = Outage(verdict.attempted, meanwhile[topic, of], *verdict[1:])
        return found

    def _producer(self, pair: Pair) -> LabProducer:
        def count(error: KafkaError | None, _: Message) -> None:
            self.acknowledged[pair] += error is None

        topic, of = pair
        return self.ledgers[pair].producer({**GIVEN, **TOPICS[topic][of], "on_delivery": count})

    def _poll(self) -> None:
        """Hear what there is; an error after which a producer sends no more is told of each record, too."""
        for producer in self.producers.values():
            with suppress(KafkaException):
                producer.poll(0)

    def _followers(self) -> set[int]:
        return {*self.lab.cluster.brokers} - {self.leader}


def _tries_again(of: str) -> bool:
    return bool(SET_UPS[of].get("retries", 1))
