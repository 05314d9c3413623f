"""Topics are made and deleted also when the first client that is asked never reaches a controller."""

from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any, cast

import pytest
from confluent_kafka import KafkaError, KafkaException

from threebrokers.cluster import Cluster, topics
from threebrokers.errors import LabError


def answer(code: int | None) -> Future[None]:
    future: Future[None] = Future()
    if code is None:
        future.set_result(None)
    else:
        future.set_exception(KafkaException(KafkaError(code, "as the test says")))
    return future


class Brokers:
    """A cluster whose clients answer with these codes, one client after the other; it has no topics."""

    def __init__(self, *codes: int | None) -> None:
        self.codes, self.asked_about, self.asked_for = list(codes), list[str](), list[Any]()
        self.within, self.dead, self.still_counted = list[float](), set[int](), 0
        self.back, self.not_yet_counted = set[int](), 0
        self.made: Any = None

    def admin(self) -> Any:
        code = self.codes.pop(0)

        def answered(names: list[Any], request_timeout: float, **kept: float) -> dict[str, Future[None]]:
            assert not self.dead or self.still_counted == 0, "a copy may go to a dead broker"
            assert self.not_yet_counted == 0, "nobody counts all brokers that it needs"
            self.asked_for = names
            self.within.append(request_timeout)
            return {getattr(name, "topic", name): answer(code) for name in names}

        return SimpleNamespace(create_topics=answered, delete_topics=answered)

    def processes(self) -> dict[int, Any]:
        dead = {n: SimpleNamespace(state="down") for n in self.dead}
        return {**{n: SimpleNamespace(state="up") for n in {1, *self.back}}, **dead}

    def views(self, names: list[str]) -> dict[int, Any]:
        self.asked_about += names
        self.still_counted = max(0, self.still_counted - 1)
        self.not_yet_counted = max(0, self.not_yet_counted - 1)
        counted = {1, *(self.dead if self.still_counted else ())}
        counted |= set() if self.not_yet_counted else self.back
        return {1: SimpleNamespace(topic=lambda name: self.made, registered=counted)}


def delete(brokers: Brokers, *names: str) -> None:
    topics.delete(cast(Cluster, brokers), names)


@pytest.mark.parametrize("code", [KafkaError._TIMED_OUT, KafkaError._TRANSPORT, KafkaError._DESTROY_BROKER])
def test_a_client_that_found_no_controller_is_replaced(code: int) -> None:
    brokers = Brokers(code, code, None)
    delete(brokers, "a")
    assert brokers.codes == []
    assert brokers.asked_about == ["a"]


def test_each_client_has_longer_than_the_one_before() -> None:
    brokers = Brokers(*[KafkaError._TIMED_OUT] * 3, None)
    delete(brokers, "a")
    assert brokers.within == [1.5, 3, 6, 12]


def test_a_topic_is_made_when_a_broker_that_died_is_no_longer_counted() -> None:
    brokers = Brokers(KafkaError.INVALID_REPLICA_ASSIGNMENT)
    brokers.dead, brokers.still_counted = {2}, 3
    with pytest.raises(LabError, match="refused to create 'a'"):
        topics.create(cast(Cluster, brokers), "a", 1, 1, {})
    assert len(brokers.within) == 1


def test_a_copy_on_a_broker_that_is_away_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topics, "SETTLE_SECONDS", 0.2)
    brokers = Brokers(None, None)
    brokers.dead = {3}
    partition = SimpleNamespace(leader=1, replicas=(1, 3), isr=(1,))
    brokers.made = SimpleNamespace(partitions=[partition])
    topics.create(cast(Cluster, brokers), "a", 1, 2, {})
    partition.replicas, partition.isr = (1, 3), ()
    with pytest.raises(LabError, match="to know the leaders of 'a'"):
        topics.create(cast(Cluster, brokers), "a", 1, 2, {})


def test_brokers_that_it_shall_lie_on_and_are_not_counted_yet_are_waited_for() -> None:
    brokers = Brokers(KafkaError.INVALID_REPLICA_ASSIGNMENT)
    brokers.back, brokers.not_yet_counted = {2}, 3
    with pytest.raises(LabError, match="refused to create 'a'"):
        topics.create(cast(Cluster, brokers), "a", 1, 3, {}, (2, 1))
    assert len(brokers.within) == 1


def test_the_controller_is_asked_again_while_it_counts_fewer_brokers_than_run() -> None:
    brokers = Brokers(*[KafkaError.INVALID_REPLICATION_FACTOR] * 3, KafkaError.INVALID_CONFIG)
    brokers.back = {2}
    with pytest.raises(LabError, match="refused to create 'a'"):
        topics.create(cast(Cluster, brokers), "a", 1, 2, {})
    assert brokers.codes == []


def test_a_broker_that_is_never_counted_is_the_controllers_to_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topics, "COUNTED_SECONDS", 0.2)
    brokers = Brokers(*[KafkaError.INVALID_REPLICATION_FACTOR] * 99)
    brokers.back = {2}
    with pytest.raises(LabError, match=r"refused to create 'a' \(as the test says\)"):
        topics.create(cast(Cluster, brokers), "a", 1, 2, {})
    assert 1 < len(brokers.within) < 10


def test_a_dead_broker_that_is_counted_for_ever_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topics, "SETTLE_SECONDS", 0.2)
    brokers = Brokers()
    brokers.dead, brokers.still_counted = {3, 2}, 10**6
    with pytest.raises(LabError, match="for the controller to notice that broker 2, 3 is gone"):
        topics.create(cast(Cluster, brokers), "a", 1, 1, {})


@pytest.mark.parametrize("code", [KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.UNKNOWN_TOPIC_ID])
def test_a_deletion_whose_answer_was_lost_is_waited_for(code: int) -> None:
    brokers = Brokers(KafkaError._TIMED_OUT, code)
    delete(brokers, "a")
    assert brokers.asked_about == ["a"]


def test_a_topic_that_was_not_there_is_not_waited_for() -> None:
    brokers = Brokers(KafkaError.UNKNOWN_TOPIC_OR_PART)
    delete(brokers, "a")
    assert brokers.asked_about == []


def test_the_brokers_of_a_topic_can_be_chosen() -> None:
    brokers = Brokers(KafkaError.INVALID_REPLICA_ASSIGNMENT)
    with pytest.raises(LabError, match="refused to create 'a'"):
        topics.create(cast(Cluster, brokers), "a", 2, 1, {}, brokers=[3, 1])
    assert [new.replica_assignment for new in brokers.asked_for] == [[[3, 1], [3, 1]]]


def test_a_refusal_is_told_at_once() -> None:
    brokers = Brokers(KafkaError.INVALID_REPLICATION_FACTOR, None)
    with pytest.raises(LabError, match="refused to create 'a'"):
        topics.create(cast(Cluster, brokers), "a", 1, 9, {})
    assert brokers.codes == [None]


def test_a_client_that_never_finds_a_controller_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topics, "SETTLE_SECONDS", 0.2)
    with pytest.raises(LabError, match="for 'a' to be made"):
        topics.create(cast(Cluster, Brokers(*[KafkaError._TIMED_OUT] * 99)), "a", 1, 3, {})
