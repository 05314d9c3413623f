"""Whether topics of flights are there already."""

from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from threebrokers.data import topics
from threebrokers.errors import LabError

LAB: Any = SimpleNamespace(bootstrap="nowhere:1", topic=lambda name: name)


@pytest.mark.parametrize("fault", [LabError("nobody answers"), KafkaException(KafkaError(3))])
def test_a_topic_of_which_nobody_tells_is_not_known_to_have_all_flights(
    monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    def silent(bootstrap: str, topic: str) -> dict[int, int]:
        raise fault

    monkeypatch.setattr(topics, "start_offsets", silent)
    assert not topics.has_all_flights(LAB)
