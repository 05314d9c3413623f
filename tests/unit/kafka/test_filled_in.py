"""Clients of confluent-kafka itself, on a cluster that is not the learner's: they get in too."""

import confluent_kafka
import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from threebrokers.kafka import access, filled_in

ADDRESS = "127.0.0.1:1"


@pytest.fixture(autouse=True)
def filled(monkeypatch):
    """Filled in for the time of one test."""
    for name in filled_in.COMPILED:
        monkeypatch.setattr(confluent_kafka, name, getattr(confluent_kafka, name))
    monkeypatch.setattr(AdminClient, "__init__", AdminClient.__init__)
    # A setting that no client knows: so it is seen that the client got it.
    monkeypatch.setattr(
        access, "settings_for", lambda told: {"threebrokers.seen": "1"} if told == ADDRESS else {}
    )
    filled_in.fill_in()
    filled_in.fill_in()


@pytest.mark.parametrize(
    "make", [lambda s: confluent_kafka.Producer(s), lambda s: confluent_kafka.Consumer(s), AdminClient]
)
def test_a_client_of_the_cluster_is_told_the_rest(make):
    with pytest.raises(KafkaException, match=r"threebrokers\.seen"):
        make({"bootstrap.servers": ADDRESS, "group.id": "a"})


def test_a_client_of_other_brokers_is_told_nothing():
    confluent_kafka.Consumer({"bootstrap.servers": "127.0.0.1:2", "group.id": "a"}).close()


def test_what_was_a_producer_before_is_one_still():
    before = confluent_kafka.Producer.__mro__[1]
    assert isinstance(before({"bootstrap.servers": "127.0.0.1:2"}), confluent_kafka.Producer)
    assert isinstance(confluent_kafka.Producer({"bootstrap.servers": "127.0.0.1:2"}), before)
