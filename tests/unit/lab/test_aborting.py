"""What lab 11's worker does after an abort, without brokers."""

from types import SimpleNamespace
from typing import Any

import pytest

from threebrokers.errors import LabError
from threebrokers.lab.scenarios import aborting
from threebrokers.lab.scenarios.aborting import after_one_abort


class Brokers:
    """A topic to read, a topic that is written in transactions, and the clients of both."""

    def __init__(self) -> None:
        self.source: list[bytes] = []
        self.booked: list[bytes] = []
        self.committed = -1
        self.bootstrap = ""

    def fresh_topic(self, name: str, **more: Any) -> str:
        if name == "abort-booked":
            self.booked, self.committed = [], -1
        return name

    def topic(self, name: str) -> str:
        return name

    group = topic

    def producer(self, config: dict[str, Any]) -> "Writer":
        return Writer(self, "transactional.id" in config)

    def consumer(self, config: dict[str, Any]) -> "Reader":
        return Reader(self)


class Writer:
    def __init__(self, brokers: Brokers, transactional: bool) -> None:
        self.brokers, self.rows, self.offset = brokers, list[bytes](), -1
        self.target = "booked" if transactional else "source"

    def init_transactions(self, timeout: float) -> None:
        pass

    def begin_transaction(self) -> None:
        self.rows = []

    def produce(self, topic: str, value: Any) -> None:
        text = value if isinstance(value, bytes) else value.encode()
        (self.rows if self.target == "booked" else self.brokers.source).append(text)

    def flush(self, timeout: float = -1) -> None:
        pass

    def send_offsets_to_transaction(self, places: Any, metadata: Any, timeout: float) -> None:
        self.offset = places[0].offset

    def commit_transaction(self, timeout: float) -> None:
        self.brokers.booked += self.rows
        self.brokers.committed = self.offset

    def abort_transaction(self, timeout: float) -> None:
        self.rows = []


class Reader:
    def __init__(self, brokers: Brokers) -> None:
        self.brokers, self.position, self.polls = brokers, 0, 0

    def subscribe(self, topics: list[str]) -> None:
        pass

    def poll(self, seconds: float) -> Any:
        self.polls += 1
        if self.polls == 1 or self.position >= len(self.brokers.source):
            return None
        offset, self.position = self.position, self.position + 1
        value = self.brokers.source[offset]
        return SimpleNamespace(
            error=lambda: None, offset=lambda: offset, partition=lambda: 0, value=lambda: value
        )

    def consumer_group_metadata(self) -> None:
        pass

    def committed(self, places: Any, timeout: float) -> Any:
        return [SimpleNamespace(offset=self.brokers.committed)]

    def close(self) -> None:
        pass


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> Any:
    brokers = Brokers()
    monkeypatch.setattr(
        aborting, "read_log", lambda _, name: [SimpleNamespace(value=value) for value in brokers.booked]
    )
    return brokers


def goes_back(consumer: Any) -> None:
    consumer.position = max(0, consumer.brokers.committed)


def test_who_goes_back_loses_nothing_and_who_only_goes_on_does(lab):
    table = after_one_abort(lab, goes_back)
    assert list(table.index) == ["nothing", "goes_back"]
    assert list(table["transfers that readers get"]) == ["0, 2, 3, 4", "0, 1, 2, 3, 4"]
    assert list(table["missing"]) == [1, 0]
    assert list(table["twice"]) == [0, 0]
    assert list(table["committed offset"]) == [5, 5]


def test_who_goes_back_too_far_does_a_transfer_again(lab):
    def to_the_start(consumer: Any) -> None:
        consumer.position = 0

    table = after_one_abort(lab, to_the_start)
    assert (table["missing"].iloc[1], table["twice"].iloc[1]) == (0, 1)


def test_a_worker_that_does_not_come_to_the_end(lab, monkeypatch: pytest.MonkeyPatch):
    def beyond(consumer: Any) -> None:
        consumer.position = 99

    monkeypatch.setattr(aborting, "RUN_SECONDS", 0.05)
    with pytest.raises(LabError, match="has not come to the last transfer"):
        after_one_abort(lab, beyond)
