"""Two faults that hit several producers at once, each made certain, and a leader alone: for lab 10."""

import secrets
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from threebrokers import clock
from threebrokers.errors import LabError
from threebrokers.kafka.clients import LabProducer, refusal_told
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.partitions import (
    controller_last,
    existing,
    leader_of,
    partition_of,
    wait_for_new_leaders,
)
from threebrokers.ledger import Comparison, Ledger
from threebrokers.waiting import quiet_wait

SetUps = Mapping[str, Mapping[str, Any]]
KILLED, UNHEARD = "killed-leader", "lost-answers"
ALL_ACKS = ("-1", "all")
KNOWN_ACKS = ("0", "1", *ALL_ACKS)  # the client takes other numbers, too; the brokers refuse them
PART = 100  # records before the fault, and as many in it
# The records of a set-up travel together, and who gives up does so before the cell ends.
GIVEN = {"linger.ms": 200, "message.timeout.ms": 15_000}
LEAST = {"min.insync.replicas": "2"}
COPIED_SECONDS, STORED_SECONDS, ANSWER_SECONDS, FLUSH_SECONDS = 10.0, 8.0, 5.0, 25.0
# So long an answer is on its way: it is cut off meanwhile. Nobody waits for it.
HELD_MS = 4000
ALONE_SECONDS, FIRST = 20.0, 1


@dataclass(frozen=True, repr=False)
class Trials(Comparison):
    """What a fault has made of the records of several producers: a balance for each set-up, as a table.

    `at` is when it began (s since 1970). `settings` are those of each producer, `config` is the topic's.
    """

    at: float
    fault: str
    settings: SetUps
    config: Mapping[str, str]

    @property
    def numbers(self) -> str:
        """How many records each set-up has acknowledged, and stored, copies counted: "200/100, 200/300"."""
        return ", ".join(f"{len(b.acknowledged)}/{len(b.stored)}" for b in self.balances.values())

    def names(self, fault: str) -> str:
        """Return which set-ups have records of this list of a `Balance`: "lost" or "duplicated"."""
        return " and ".join(n for n, b in self.balances.items() if getattr(b, fault)) or "none of them"

    def beside(self, predicted: str | None) -> "Trials":
        """Return the same table with a last column: what was predicted, in the form of `numbers`."""
        foretold = [_foretold(pair) for pair in predicted.split(", ")] if predicted else []
        return replace(self, predicted=dict(zip(self.balances, foretold, strict=False)))


def _foretold(pair: str) -> str:
    """Say in words what "200/100" stands for: what follows of lost records, or copies, too."""
    acknowledged, stored = map(int, pair.split("/"))
    lost, twice = acknowledged - stored, stored - 2 * PART
    follows = f", {lost} lost" if lost > 0 else f", {twice} twice" if twice > 0 else ""
    return f"{acknowledged} acknowledged, {stored} stored{follows}"


class Round:
    """A fresh topic with three replicas, and a producer for each set-up, which all write to it at once."""

    def __init__(self, lab: Lab, name: str, set_ups: SetUps, config: Mapping[str, str]) -> None:
        for set_up in (set_ups, *set_ups.values()):
            if not isinstance(set_up, Mapping):
                raise LabError(
                    f"{set_up!r:.40} is no dictionary of settings", 'give it {"a name": {"acks": …}}'
                )
        self.at, self.name, self.set_ups = clock.now(), name, set_ups
        self.config = {**LEAST, **config}
        lab.cluster.recover()
        self.lab, self.topic = (
            lab,
            lab.fresh_topic(name, brokers=controller_last(lab), config=self.config),
        )
        self.ledgers = {of: lab.ledger(f"{name}-{number}") for number, of in enumerate(set_ups)}
        self.producers = {of: _producer(self.ledgers[of], of, set_ups[of]) for of in set_ups}
        self.written, self.end = 0, 0  # records of each producer, and what the leader should have then
        self.send()
        lab.wait_until(
            lambda: self.copied() and not any(map(len, self.producers.values())),
            what="three replicas of the first records, and their reports",
            within=COPIED_SECONDS,
        )
        self.leader = leader_of(lab, self.topic)

    def record(self, of: str, number: int) -> dict[str, str]:
        """Return what `produce` is given for a record of a set-up, besides the topic."""
        return {"value": str(number)}

    def send(self) -> None:
        """Send as many records as belong to a part, with each of the producers."""
        for of, producer in self.producers.items():
            for number in range(self.written, self.written + PART):
                producer.produce(self.topic, **self.record(of, number))
        self.written += PART
        self.end += PART * len(self.producers)

    def copied(self) -> bool:
        """Tell whether all three replicas have all that was sent."""
        for producer in self.producers.values():
            producer.poll(0)
        return _all_have(self.lab, self.topic, self.end)

    def wait_stored(self) -> None:
        """Wait until the leader has all that was sent, as it says itself: a busy broker holds up nobody."""
        with closing(self.lab.cluster.poller()) as poller:

            def stored() -> bool:
                view = poller.views([self.topic]).get(self.leader)
                found = view.topic(self.topic) if view else None
                ends = dict(found.partitions[0].log_end_offsets) if found else {}
                return ends.get(self.leader, 0) >= self.end

            quiet_wait(stored, STORED_SECONDS)

    def lose_answers(self) -> None:
        """Send a part, and cut off the leader's answers when it has stored it."""
        self.lab.cluster.slow(self.leader, HELD_MS, "clients", answers=True)
        try:
            self.send()
            self.wait_stored()
            self.lab.cluster.cut(self.leader, "clients")
        finally:
            self.lab.cluster.heal()

    def kill_leader(self) -> None:
        """Send a part to the leader alone, let it answer whom it may, and kill it."""
        self.lab.cluster.cut(self.leader)
        try:
            self.send()
            self.wait_stored()
            self.hear()
            self.lab.cluster.kill(self.leader)
        finally:
            self.lab.cluster.heal()

    def hear(self) -> None:
        """Wait for the answers of a leader alone: whoever wants those of all replicas gets none from it."""
        for of, producer in self.producers.items():
            if acks_of(self.set_ups[of]) not in ALL_ACKS:
                producer.flush(ANSWER_SECONDS)

    def flush(self, seconds: float = FLUSH_SECONDS) -> None:
        """Give each producer so long for the answers that it still waits for."""
        for producer in self.producers.values():
            producer.flush(seconds)

    def trials(self) -> Trials:
        """Wait for the delivery reports, bring all brokers back, and say what became of the records."""
        self.flush()
        self.lab.cluster.recover()
        balances = {name: ledger.balance(self.topic) for name, ledger in self.ledgers.items()}
        return Trials(balances, {}, self.at, self.name, self.set_ups, self.config)


def _producer(ledger: Ledger, name: str, settings: Mapping[str, Any]) -> LabProducer:
    """Make the producer of a set-up. Raises LabError if the client refuses the settings, or brokers would."""
    if (acks := acks_of(settings)) not in KNOWN_ACKS:
        raise LabError(
            f"{name!r} has acks={acks}, and the brokers know only 0, 1 and all", "give acks one of these"
        )
    with refusal_told(f"the settings of {name!r}"):
        return ledger.producer({**GIVEN, **settings})


def acks_of(settings: Mapping[str, Any]) -> str:
    """Return the acks of a producer's settings, under either of their names; "all" if none are told."""
    given = (settings[key] for key in ("acks", "request.required.acks") if key in settings)
    return str(next(given, "all")).lower()


def killed_leader(lab: Lab, set_ups: SetUps, config: Mapping[str, str] | None = None) -> Trials:
    """Kill the leader that alone has the last 100 of 200 records of each set-up; say what became of them.

    All three replicas have the first 100. Then the leader is cut off from the other brokers, gets the last
    100, answers whom it may, and is killed. `config` is the topic's: min.insync.replicas is 2 unless told.
    """
    tried = Round(lab, KILLED, set_ups, config or {})
    tried.kill_leader()
    return tried.trials()


def lost_answers(lab: Lab, set_ups: SetUps) -> Trials:
    """Cut off the leader's answers to the last 100 of 200 records of each set-up; say what became of them.

    Its answers to clients are on their way for 4 s. When the leader has stored all records the connections
    are cut, and mended at once. No broker fails.
    """
    tried = Round(lab, UNHEARD, set_ups, {})
    tried.lose_answers()
    return tried.trials()


@dataclass(frozen=True)
class Gone:
    """A topic of which a leader took acknowledged records with it, and the ledger of their producer.

    `at` is when it began (s since 1970).
    """

    at: float
    topic: str
    ledger: Ledger


def acknowledged_and_gone(lab: Lab) -> Gone:
    """Let a producer with acks=1 lose its last records to a killed leader, and another producer go on.

    How many records there are before, in between and after is another number each time.
    """
    at = clock.now()
    lab.cluster.recover()
    topic = lab.fresh_topic("vanished", brokers=controller_last(lab), config=LEAST)
    before, first, behind = 7 + secrets.randbelow(20), 20 + secrets.randbelow(30), 40 + secrets.randbelow(30)
    ledger = lab.ledger("vanished")
    hasty, others = ledger.producer({"acks": 1}), lab.producer()
    _write(others, topic, "before", before)
    _write(hasty, topic, "payment", first)
    lab.wait_until(
        lambda: _all_have(lab, topic, before + first), what="three replicas", within=COPIED_SECONDS
    )
    leader = leader_of(lab, topic)
    lab.cluster.cut(leader)
    try:
        _write(hasty, topic, "payment", behind)
        lab.cluster.kill(leader)
    finally:
        lab.cluster.heal()
    wait_for_new_leaders(lab, leader, topic)
    _write(others, topic, "after", behind - 10 - secrets.randbelow(20))
    lab.cluster.recover()
    return Gone(at, topic, ledger)


@dataclass(frozen=True)
class Alone:
    """Two topics with three replicas, of which only the leader is in sync: `leader` is its broker.

    `loose` has min.insync.replicas 1, `strict` has 2. `at` is when it began (s since 1970).
    """

    at: float
    loose: str
    strict: str
    leader: int


class Told(dict[str, Any]):
    """What delivery reports have told, by topic: as a dictionary; a topic without one is a LabError."""

    def __missing__(self, topic: str) -> Any:
        raise LabError(
            f"No delivery report has come yet for {topic!r}",
            "let the client give up within seconds (message.timeout.ms), and flush() until it has",
        )


def leader_alone(lab: Lab) -> Alone:
    """Make two topics, and let their followers fetch nothing until the leader alone is in sync.

    It stays so until `lab.cluster.recover()`. A follower that lacks nothing stays in the ISR, so each topic
    has a record at offset 0 that only the leader has.
    """
    at = clock.now()
    lab.cluster.recover()
    brokers = controller_last(lab)
    loose, strict = (
        lab.fresh_topic(f"alone-{name}", brokers=brokers, config={"min.insync.replicas": least})
        for name, least in (("loose", "1"), ("strict", "2"))
    )
    leader = leader_of(lab, loose)
    lab.cluster.cut(leader, "brokers")
    hasty = lab.producer({"acks": 1})
    for topic in (loose, strict):
        _write(hasty, topic, "only the leader has this", FIRST)
    lab.wait_until(
        lambda: all(is_alone(lab, topic, leader) for topic in (loose, strict)),
        what="the followers to leave the ISR",
        within=ALONE_SECONDS,
    )
    return Alone(at, loose, strict, leader)


def is_alone(lab: Lab, topic: str, leader: int) -> bool:
    """Tell whether a leader itself knows that no follower of this topic is in sync."""
    return _in_sync(lab, topic, leader) == {leader}


def who_has(lab: Lab, topic: str) -> list[int]:
    """Return the brokers whose own replica of partition 0 holds more than what was there first."""
    return sorted(broker for broker, end in partition_of(lab, topic).log_end_offsets if end > FIRST)


def _in_sync(lab: Lab, topic: str, broker: int) -> set[int]:
    """Return who is in sync as this broker knows it; nobody if it does not answer."""
    view = lab.cluster.views([topic]).get(broker)
    return set(existing(view.topic(topic), topic).partitions[0].isr) if view else set()


def _all_have(lab: Lab, topic: str, count: int) -> bool:
    ends = [end for _, end in partition_of(lab, topic).log_end_offsets]
    return len(ends) == len(lab.cluster.brokers) and min(ends) >= count


def _write(producer: LabProducer, topic: str, what: str, count: int) -> None:
    """Write records and wait until they are acknowledged."""
    for number in range(count):
        producer.produce(topic, f"{what} {number}")
    producer.flush(FLUSH_SECONDS)
