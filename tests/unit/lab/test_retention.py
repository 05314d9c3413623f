"""Scenarios of retention, as far as they need no brokers: ages, texts, charts, places that are gone."""

from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from confluent_kafka import KafkaError

from threebrokers.errors import LabError
from threebrokers.lab.scenarios import left_behind, lookups, retention, segment_chart, send_at, signups
from threebrokers.lab.scenarios.joining import newcomer
from threebrokers.lab.scenarios.retention import ages


def test_no_record_is_exactly_as_old_as_a_limit():
    found = ages(20)
    assert (found[0], found[-1], len(found)) == (475, 1, 80)
    assert not {7 * 24, 8 * 24} & set(found)


def test_settings_that_are_no_dictionary_are_told():
    nothing: Any = SimpleNamespace(fresh_topic=None)  # nobody comes so far as to call it
    for make in (retention.twenty_days, retention.film, newcomer):
        with pytest.raises(LabError, match=r"`settings` is \{'retention.ms'\}: it should be a dictionary"):
            make(nothing, {"retention.ms"})  # type: ignore[arg-type]


class Producer:
    """Reports every record at the flush; `error` is what each report says."""

    def __init__(self, config: dict[str, Any], error: KafkaError | None) -> None:
        self.report, self.error, self.sent = config["on_delivery"], error, list[dict[str, Any]]()

    def produce(self, topic: str, value: str, key: str, **more: Any) -> None:
        self.sent.append(more)

    def flush(self) -> None:
        for record in self.sent:
            self.report(self.error, record)


@pytest.mark.parametrize(("error", "count"), [(None, 3), (KafkaError(KafkaError.INVALID_TIMESTAMP), 0)])
def test_only_what_is_acknowledged_is_counted(error: KafkaError | None, count: int):
    made: list[Producer] = []

    def producer(config: dict[str, Any]) -> Producer:
        made.append(Producer(config, error))
        return made[-1]

    assert send_at(SimpleNamespace(producer=producer), "t", 2, [5, 6, 7]) == count  # type: ignore[arg-type]
    assert [record["timestamp"] for record in made[0].sent] == [5, 6, 7]
    assert {record["partition"] for record in made[0].sent} == {2}


def test_two_records_of_1970_go_from_each_broker_one_after_the_other(monkeypatch):
    stored, starts, told = [0, 0], [0, 0], list[list[int]]()

    class Sender:
        def produce(self, topic: str, value: bytes, partition: int, timestamp: int) -> None:
            stored[partition] += 1

        def flush(self) -> None:
            told.append(list(starts))

    class Bench:
        cluster = SimpleNamespace(brokers=[1, 2])

        def fresh_topic(self, name: str, **more: Any) -> str:
            assert more == {"partitions": 2, "brokers": [[1], [2]]}
            return name

        def producer(self) -> Sender:
            return Sender()

        def wait_until(self, look: Any, **_: Any) -> None:
            for partition in range(2):
                assert not look(), "a broker has not looked yet"
                starts[partition] = stored[partition]
            assert look()

    states = [SimpleNamespace(log_start_offset=0), SimpleNamespace(log_start_offset=0)]

    def topic_of(*_: Any) -> Any:
        for state, start in zip(states, starts, strict=True):
            state.log_start_offset = start
        return SimpleNamespace(partitions=states)

    monkeypatch.setattr(retention, "topic_of", topic_of)
    retention.wait_for_retention(Bench())  # type: ignore[arg-type]
    assert (told, starts) == ([[0, 0], [1, 1]], [2, 2])


def test_the_chart_says_in_words_what_became_of_each_segment(monkeypatch):
    drawn: list[Any] = []
    monkeypatch.setattr(retention, "tell", drawn.append)
    rows = {"oldest (days)": [19.9, 12.8], "newest (days)": [12.9, 5.8], "now": ["deleted", "kept"]}
    segment_chart(pd.DataFrame(rows, index=[0, 57]), 7)
    assert drawn[0].words.splitlines() == [
        "The limit is 7 days.",
        "from offset 0: 19.9 to 12.9 days old, deleted.",
        "from offset 57: 12.8 to 5.8 days old, kept.",
    ]
    for word in ("deleted", "kept", "7 days", "from offset 0", "from offset 57"):
        assert f">{word}<" in drawn[0].svg


def message(offset: int | None, error: KafkaError | None = None) -> Any:
    return SimpleNamespace(offset=lambda: offset, error=lambda: error)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (message(100), "offset 100"),
        (message(130), "only what is new"),
        (message(137), "only what is new"),
        (message(None, KafkaError(KafkaError._AUTO_OFFSET_RESET)), "error _AUTO_OFFSET_RESET"),
    ],
)
def test_what_a_reader_gets_first_in_words(given, words):
    assert left_behind._first(given) == words


def test_a_search_by_key_reads_on_to_it():
    told = [SimpleNamespace(error=lambda: None, key=lambda n=n: f"coupon {n}".encode()) for n in range(5)]

    class Reader:
        def assign(self, places: list[Any]) -> None:
            self.left = iter([None, *told])

        def poll(self, timeout: float) -> Any:
            return next(self.left)

    assert lookups._keyed(Reader(), "t", 3) is told[3]  # type: ignore[arg-type]


def test_passwords_stand_in_the_first_sign_ups_only():
    with_password = {p: sum("password" in signups.signup(p, n) for n in range(40)) for p in signups.LEAKY}
    assert with_password == {0: 30, 1: 18, 2: 24}
