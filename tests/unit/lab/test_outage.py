"""What a check says of brokers that do not answer, and of topics that are not there."""

from types import SimpleNamespace

import pytest
from confluent_kafka import KafkaError, KafkaException

from threebrokers import cells
from threebrokers.cells import CellRun, History
from threebrokers.cluster.trouble import Trouble
from threebrokers.errors import LabError
from threebrokers.kafka.log_reader import MissingTopicError
from threebrokers.lab import outage
from threebrokers.lab.exercise import NotYet, exercise

LAB = SimpleNamespace(topic=lambda name: f"anna.{name}", cluster=None, opened_at=100.0)
PAUSED = Trouble("broker 2 is paused", "`lab.cluster.resume(2)`", frozenset({2}))


@pytest.fixture(autouse=True)
def _home(tmp_path, monkeypatch):
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path))


@pytest.fixture
def history(monkeypatch):
    kept = History()
    monkeypatch.setattr(cells, "history", lambda: kept)
    return kept


def away(monkeypatch, trouble):
    monkeypatch.setattr(outage, "trouble", lambda cluster, since: trouble)


def kafka(code, text=None):
    return KafkaException(KafkaError(code, text))


def test_the_brokers_that_are_away_are_named_and_the_step_costs_nothing(monkeypatch):
    away(monkeypatch, PAUSED)
    said = str(outage.refused(LAB, kafka(KafkaError._TIMED_OUT)))
    assert said == (
        "The check got no answer, because broker 2 is paused: run `lab.cluster.resume(2)`, then the check "
        "again; nothing that you did is lost."
    )


def test_without_a_broker_away_the_clients_own_words_are_told(monkeypatch):
    away(monkeypatch, None)
    said = str(outage.refused(LAB, kafka(KafkaError.REQUEST_TIMED_OUT)))
    assert said.startswith(
        "The brokers run, and did not answer the check in time (Broker: Request timed out): "
    )
    assert "KafkaError" not in said
    assert "first cell" not in said


def test_a_trouble_that_passes_is_only_waited_for(monkeypatch):
    away(monkeypatch, Trouble("broker 2 does not answer yet", "", frozenset({2})))
    assert str(outage.no_answer(LAB)).endswith(
        "does not answer yet: run the check again; nothing that you did is lost."
    )


def test_a_topic_that_no_cell_makes_is_named(history):
    told = outage.refused(LAB, MissingTopicError(KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART), "anna.orders"))
    assert isinstance(told, NotYet)
    assert told.found == "the cluster has no topic 'anna.orders'"
    assert "with 'anna.orders' in it" in told.look_at
    assert isinstance(outage.refused(LAB, kafka(KafkaError.UNKNOWN_TOPIC_OR_PART)), NotYet)


def test_the_cell_that_makes_a_topic_is_named(history):
    history.runs = [
        CellRun("code-1", '# January\nflights = send(lab, "january")', 110.0, 111.0),
        CellRun("code-2", "print('another')", 112.0, 113.0),
        CellRun("check-1", 'lab.check.x("january")', 114.0),
    ]
    told = outage.no_topic(LAB, "anna.january")
    assert told.look_at == 'the cell that begins `flights = send(lab, "january")`: run it again'


def test_a_cell_that_makes_a_topic_comes_before_a_later_one_that_only_has_its_name(history):
    history.runs = [
        CellRun("code-1", 'desk = lab.fresh_topic("january", partitions=3)', 110.0, 111.0),
        CellRun("code-2", 'print(lab.topic("january"), NewTopic("june"))', 112.0, 113.0),
    ]
    told = outage.no_topic(LAB, "anna.january")
    assert "`desk = lab.fresh_topic(" in told.look_at


def test_a_lab_that_was_opened_again_has_deleted_its_topics(history):
    history.runs = [CellRun("code-1", 'lab.fresh_topic("january")', 80.0, 81.0)]
    told = str(outage.no_topic(LAB, "anna.january"))
    assert "the lab's first cell, which deletes the topics of the lab, has run since it was made" in told


@exercise("9.9", "Wait long", every_broker=True)
def long_wait(lab: object, fault: object) -> str:
    if isinstance(fault, list) and fault:
        raise fault.pop(0)
    return "it was read."


@pytest.fixture
def lab():
    return SimpleNamespace(cluster=object(), topic=str, opened_at=0.0)


def test_a_check_that_needs_every_broker_is_not_begun_without_one(lab, monkeypatch):
    away(monkeypatch, PAUSED)
    with pytest.raises(
        LabError, match=r"needs every broker, and broker 2 is paused: run `lab.cluster.resume\(2\)`"
    ):
        long_wait(lab, [])


def test_what_passes_is_tried_again_and_the_rest_is_told(lab, monkeypatch):
    away(monkeypatch, None)
    assert (
        long_wait(lab, [kafka(KafkaError._TRANSPORT), kafka(KafkaError.NOT_COORDINATOR)]).reason
        == "it was read."
    )
    with pytest.raises(LabError, match="Cluster authorization failed"):
        long_wait(lab, [kafka(KafkaError.CLUSTER_AUTHORIZATION_FAILED)])


def test_a_fault_of_the_lab_names_who_is_away(lab, monkeypatch):
    found = iter([None, PAUSED])
    monkeypatch.setattr(outage, "trouble", lambda cluster, since: next(found))
    with pytest.raises(LabError) as told:
        long_wait(lab, [LabError("Waited 20 s for the leaders", "see with `threebrokers status`")])
    assert str(told.value).startswith(
        "Waited 20 s for the leaders (broker 2 is paused): run `lab.cluster.resume(2)`"
    )
