"""What lab 06's check says of programs that do not look at the delivery reports of their dead letters."""

from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import Producer

from threebrokers.checks.lab06 import delivery_reports
from threebrokers.kafka.clients import LabProducer
from threebrokers.lab.exercise import NotYet

LAB: Any = SimpleNamespace(topic=lambda name: f"six-{name}")
PLAIN = Producer({"bootstrap.servers": "127.0.0.1:1"})


def postman(*, listens: bool, given: int = 2, **config: Any) -> LabProducer:
    made = LabProducer.__new__(LabProducer)
    made.config, made.has_listener = config, listens
    made.given = lambda topic: given  # type: ignore[method-assign]
    return made


def heard(monkeypatch: pytest.MonkeyPatch, source: str | None, producer: Producer) -> None:
    run = None if source is None else SimpleNamespace(source=source)
    monkeypatch.setattr(delivery_reports, "attempt", lambda: run)
    delivery_reports.expect_heard(producer)


LISTENS = (
    'postman = lab.producer({"on_delivery": lambda error, letter: reports.append(error)})',
    "def told(fault, letter):\n    if fault:\n        raise ValueError\n"
    "postman.produce(d, v, k, on_delivery=told)",
    "postman.produce(d, v, k, 0, lambda e, m: seen.append((e, m)))",
    "postman.produce(d, v, k, callback=lambda *all: seen.append(all))",
    "postman.produce(d, v, k, on_delivery=elsewhere.report)",
    "class Box:\n    def report(self, error, letter):\n        self.last = error\n"
    "postman.produce(d, v, on_delivery=box.report)",
)


@pytest.mark.parametrize("source", LISTENS)
def test_whoever_looks_at_the_error_of_a_report_is_believed(
    monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    heard(monkeypatch, source, postman(listens=True))
    heard(monkeypatch, source, PLAIN)


def test_whoever_takes_no_report_would_not_notice_a_lost_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    silent = "postman.produce(dead, message.value())\npostman.flush()"
    for producer in (postman(listens=False), PLAIN):
        with pytest.raises(NotYet, match="would not have noticed"):
            heard(monkeypatch, silent, producer)
    heard(monkeypatch, silent, postman(listens=False, **{"transactional.id": "t"}))
    with pytest.raises(NotYet, match="would not have noticed"):
        heard(monkeypatch, None, postman(listens=False))
    heard(monkeypatch, None, PLAIN)  # nobody can tell
    heard(monkeypatch, "%matplotlib inline", PLAIN)


@pytest.mark.parametrize(
    "source",
    [
        'postman = lab.producer({"on_delivery": lambda error, letter: sent.append(letter)})',
        "def told(error, letter):\n    print(letter)\npostman.produce(d, v, callback=told)",
        "def told(self, error, letter):\n    print(letter)\npostman.produce(d, v, callback=box.told)",
    ],
)
def test_a_report_whose_error_nobody_reads_is_no_report(monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    with pytest.raises(NotYet, match="does not look at the error"):
        heard(monkeypatch, source, postman(listens=True))


def test_a_letter_that_was_sent_and_is_not_stored_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def at(offset: int | None) -> None:
        monkeypatch.setattr(
            delivery_reports, "committed", lambda lab, group, topic: {} if offset is None else {0: offset}
        )

    at(24)
    with pytest.raises(NotYet, match="payment 9 was sent and is not stored, and the group has committed 24"):
        delivery_reports.expect_stored(LAB, postman(listens=False), "g", "dead", 1, 9)
    for offset in (None, 9):  # 9 is the bad record itself
        at(offset)
        with pytest.raises(NotYet, match="committed nothing behind it"):
            delivery_reports.expect_stored(LAB, postman(listens=True), "g", "dead", 1, 9)
    delivery_reports.expect_stored(LAB, postman(listens=True), "g", "dead", 2, 9)  # another program's fault
    delivery_reports.expect_stored(LAB, PLAIN, "g", "dead", 0, 9)
