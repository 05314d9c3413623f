"""What lessons do to a cluster, as far as it can be seen without brokers."""

from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError

from threebrokers.errors import LabError
from threebrokers.kafka.state import PartitionState, TopicState
from threebrokers.lab.scenarios import Asker, accepted, compose_file, controller_last, leaderless_everywhere
from threebrokers.lab.scenarios.partitions import existing


class Producer:
    """Reports at each flush, in turn, what `answers` say of each record."""

    def __init__(self, answers: list[KafkaError | None], on_delivery: Any = None) -> None:
        self.answers, self.waiting, self.on_delivery = answers, [], on_delivery

    def produce(self, topic: str, value: Any, partition: int = 0, on_delivery: Any = None) -> None:
        self.waiting.append((topic, on_delivery or self.on_delivery))

    def flush(self, timeout: float = -1) -> None:
        for topic, report in self.waiting:
            report(self.answers.pop(0), SimpleNamespace(topic=lambda topic=topic: topic))
        self.waiting = []


def lab_with(answers: list[KafkaError | None]) -> Any:
    return SimpleNamespace(producer=lambda config: Producer(answers, config.get("on_delivery")))


def test_an_asker_tells_a_refusal_from_what_else_can_happen():
    late, refused = KafkaError(KafkaError._MSG_TIMED_OUT), KafkaError(KafkaError.NOT_ENOUGH_REPLICAS)
    asker = Asker(lab_with([late, refused, None]), "guarded")
    assert not asker.was_refused()
    assert asker.was_refused() == {"NOT_ENOUGH_REPLICAS"}
    assert asker.answers == {"_MSG_TIMED_OUT", "NOT_ENOUGH_REPLICAS"}
    assert asker.was_refused()  # it was, before
    assert None in asker.answers


def test_records_that_were_accepted_are_counted_by_topic():
    refused = KafkaError(KafkaError.NOT_ENOUGH_REPLICAS)
    assert accepted(lab_with([None, refused, None, refused]), ["a", "b"], partitions=2) == {"a": 1, "b": 1}


def test_the_active_controller_is_the_last_victim():
    state = SimpleNamespace(quorum_leader=1)
    cluster = SimpleNamespace(brokers=(1, 2, 3), state=lambda topics: state)
    assert controller_last(SimpleNamespace(cluster=cluster)) == [2, 3, 1]  # type: ignore[arg-type]


@pytest.mark.parametrize(("leaders", "so"), [((None, None), True), ((1, None), False), ((None,), False)])
def test_two_brokers_must_know_that_a_partition_has_no_leader(leaders: tuple[int | None, ...], so: bool):
    topics = [TopicState("single", (PartitionState("single", 0, leader, 0, (1,), ()),)) for leader in leaders]
    views = {n: SimpleNamespace(topic=lambda name, topic=topic: topic) for n, topic in enumerate(topics)}
    lab: Any = SimpleNamespace(cluster=SimpleNamespace(views=lambda names: views))
    assert leaderless_everywhere(lab, "single") is so


def test_a_topic_that_is_gone_is_told_in_a_sentence():
    with pytest.raises(LabError, match="There is no topic 'films': run the cell that makes it again"):
        existing(None, "films")


def test_the_compose_file_tells_of_listeners():
    assert "KAFKA_ADVERTISED_LISTENERS" in compose_file()
