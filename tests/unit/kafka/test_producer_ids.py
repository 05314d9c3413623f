"""A producer's ID is asked for at once: of whom, and what happens if nobody answers."""

from typing import Any, cast

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer

from threebrokers.kafka import producer_ids


class Asked:
    """Counts how often it was asked for metadata; it has no broker if `silent`."""

    def __init__(self, *, silent: bool = False) -> None:
        self.silent, self.times = silent, list[float]()

    def list_topics(self, *, timeout: float) -> None:
        self.times.append(timeout)
        if self.silent:
            raise KafkaException(KafkaError(KafkaError._TRANSPORT))


def hastened(config: dict[str, Any], *, silent: bool = False) -> list[float]:
    asked = Asked(silent=silent)
    producer_ids.hasten(cast(Producer, asked), config)
    return asked.times


@pytest.mark.parametrize(
    "config", [{"enable.idempotence": True}, {"enable.idempotence": "True"}, {"transactional.id": "till"}]
)
def test_one_that_has_an_id_asks_twice(config: dict[str, Any]):
    assert hastened(config) == [producer_ids.ANSWER_SECONDS] * 2


@pytest.mark.parametrize("config", [{}, {"acks": "all"}, {"enable.idempotence": "false"}, {"linger.ms": 5}])
def test_one_without_an_id_asks_nobody(config: dict[str, Any]):
    assert hastened(config) == []


def test_where_no_broker_answers_it_is_tried_once_and_nothing_is_said():
    assert hastened({"enable.idempotence": True}, silent=True) == [producer_ids.ANSWER_SECONDS]
