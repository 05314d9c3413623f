"""A leader dies that alone is in sync, for docs/guarantees.md: who is waited for, and what is told."""

from types import SimpleNamespace
from typing import Any

import pytest

from threebrokers.errors import LabError
from threebrokers.kafka.state import PartitionState
from threebrokers.ledger import Balance
from tools.publish import lone_leaders
from tools.publish.lone_leaders import DIES, UNCLEAN, Outage, Topic, killed_alone
from tools.publish.verdicts import ALL_IN_SYNC, SET_UPS, Repeated

WAITS, UNCLEANLY = Topic(1, unclean=False), Topic(1, unclean=True)
TWO, THREE = Topic(2, unclean=False), Topic(3, unclean=False)


class Producer:
    """It acknowledges all at once while somebody may answer it, and else has it wait."""

    def __init__(self, brokers: "Brokers", settings: dict[str, Any]) -> None:
        self.brokers, self.settings, self.waiting = brokers, settings, list[str]()

    def produce(self, topic: str, value: str) -> None:
        self.waiting.append(topic)

    def poll(self, seconds: float) -> None:
        heard = self.settings.get("on_delivery")
        kept = [topic for topic in self.waiting if not self.brokers.answers(topic, self.settings)]
        for topic in self.waiting if heard else ():
            if topic not in kept:
                heard(self.brokers.refuses(topic) or None, None)
        self.waiting = kept

    def flush(self, seconds: float) -> None:
        self.poll(0)

    def __len__(self) -> int:
        return len(self.waiting)


class Brokers:
    """Three of them, as far as a scene sees them."""

    brokers = (1, 2, 3)

    def __init__(self) -> None:
        self.topics, self.done = dict[str, dict[str, str]](), list[Any]()
        self.in_sync, self.up = {1, 2, 3}, {1, 2, 3}

    def cut(self, broker: int, peers: str) -> None:
        self.done.append(("cut", broker, peers))
        self.in_sync = {broker}

    def kill(self, broker: int) -> None:
        self.done.append(("kill", broker))
        self.up.remove(broker)

    def heal(self) -> None:
        self.done.append("heal")
        self.in_sync = self.up

    def recover(self) -> None:
        self.done.append("recover")
        self.up = self.in_sync = {1, 2, 3}

    def refuses(self, topic: str) -> bool:
        return len(self.in_sync) < int(self.topics[topic]["min.insync.replicas"])

    def leaderless(self, topic: str) -> bool:
        config = self.topics[topic]
        waits = config["min.insync.replicas"] == "1" and "true" not in config.values()
        return waits and len(self.up) < 3

    def answers(self, topic: str, settings: dict[str, Any]) -> bool:
        if self.leaderless(topic):
            return False
        return settings.get("retries") == 0 or not self.refuses(topic)


@pytest.fixture
def brokers(monkeypatch: pytest.MonkeyPatch) -> Brokers:
    made = Brokers()

    def partition(lab: Any, topic: str) -> PartitionState:
        ends = tuple((n, 10_000) for n in made.brokers)
        return PartitionState(topic, 0, 1, 0, made.brokers, tuple(made.in_sync), log_end_offsets=ends)

    monkeypatch.setattr(lone_leaders, "controller_last", lambda lab: [1, 2, 3])
    monkeypatch.setattr(lone_leaders, "partition_of", partition)
    monkeypatch.setattr(lone_leaders, "is_alone", lambda lab, topic, leader: made.in_sync == {leader})
    monkeypatch.setattr(
        lone_leaders, "wait_for_new_leaders", lambda lab, gone, *topics: made.done.append(topics)
    )
    return made


@pytest.fixture
def lab(brokers: Brokers) -> Any:
    def fresh_topic(name: str, *, brokers: Any, config: dict[str, str]) -> str:
        made.cluster.topics[name] = config
        return name

    def wait_until(look: Any, what: str, within: float) -> None:
        if not look():
            raise LabError(what)

    def producer(settings: dict[str, Any]) -> Producer:
        return Producer(brokers, settings)

    made = SimpleNamespace(cluster=brokers, fresh_topic=fresh_topic, wait_until=wait_until, producer=producer)
    made.ledger = lambda name: SimpleNamespace(producer=producer, balance=lambda topic: Balance(topic))
    return made


def test_only_those_are_waited_for_that_somebody_answers(lab: Any, brokers: Brokers) -> None:
    run = killed_alone(lab)
    assert brokers.done == [
        "recover",
        ("cut", 1, "brokers"),
        ("kill", 1),
        "heal",
        ("lone-1", "lone-2", "lone-3"),
        "recover",
    ]
    assert list(brokers.topics.values()) == [topic.config for topic in lone_leaders.TOPICS]
    meanwhile = {
        topic: {run[topic, of].meanwhile for of in of_topic} for topic, of_topic in SET_UPS_OF.items()
    }
    assert meanwhile == {WAITS: {0}, UNCLEANLY: {100}, TWO: {100, 200}, THREE: {0}}
    assert run[TWO, "acks=all"].meanwhile == 200, "those that were refused before, too"


SET_UPS_OF = {WAITS: SET_UPS, UNCLEANLY: SET_UPS, TWO: ALL_IN_SYNC, THREE: ALL_IN_SYNC}


def test_a_follower_that_stays_in_sync_is_no_run(lab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lone_leaders, "is_alone", lambda lab, topic, leader: False)
    with pytest.raises(LabError, match="the followers to leave the ISR"):
        killed_alone(lab)


def test_both_sections_are_of_the_same_runs() -> None:
    assert lone_leaders.TOPICS == SET_UPS_OF
    run = {
        (topic, of): Outage(300, topic.least, 200, 0, 200, int(topic.unclean), 0)
        for topic, set_ups in SET_UPS_OF.items()
        for of in set_ups
    }
    dies, unclean = lone_leaders.written(Repeated([run, run]))
    assert dies.startswith(f"## {DIES}\n")
    assert [line for line in dies.splitlines() if "| 300 |" in line] == [
        f"| {least}, `{of}` | 300 | {least} | 200 | 0 | 200 | 0 | 0 |"
        for least in (1, 2, 3)
        for of in ALL_IN_SYNC
    ]
    assert unclean.startswith(f"## {UNCLEAN}\n")
    assert [line for line in unclean.splitlines() if "| 300 |" in line] == [
        f"| {word}, `{of}` | 300 | 1 | 200 | 0 | 200 | {lost} | 0 |"
        for word, lost in (("false", 0), ("true", 1))
        for of in SET_UPS
    ]
    assert "1, true, acks=0: 1 meanwhile, 0 failed, 1 lost, 0 twice" in lone_leaders.told(run)
