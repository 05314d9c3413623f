"""The outages that lab 03 asks for, on real brokers: each can be asked for in any state, and again."""

from collections.abc import Iterator

import pytest
from confluent_kafka import ElectionType, TopicPartition

from threebrokers.cluster import Cluster
from threebrokers.kafka.state import MetadataTopic
from threebrokers.lab.lab import Lab
from threebrokers.lab.opening import open_lab
from threebrokers.lab.scenarios import away, spread, together, uneven
from threebrokers.waiting import wait_until


@pytest.fixture
def lab(cluster: Cluster) -> Iterator[Lab]:
    lab = open_lab("03")
    yield lab
    lab.close()
    cluster.up()


def told(lab: Lab, topic: str) -> MetadataTopic:
    found = lab.cluster.state([topic]).topic(topic)
    assert found is not None
    return found


def test_a_broker_is_away_and_all_are_together_again(lab: Lab) -> None:
    topic = lab.fresh_topic("failsafe", partitions=4, replication_factor=3)
    for _ in range(2):  # the second time there is nothing to do
        away(lab, 2, [topic])
        assert lab.cluster.processes()[2].state == "down"
        assert {p.isr for p in told(lab, topic).partitions} == {(1, 3)}
    for _ in range(2):
        together(lab, [topic])
        assert {p.isr for p in told(lab, topic).partitions} == {(1, 2, 3)}
    lab.cluster.pause(3)
    together(lab)
    assert lab.cluster.processes()[3].state == "up"


def test_leadership_is_uneven_whatever_was_done(lab: Lab) -> None:
    topic = uneven(lab, "work", 2)
    first = told(lab, topic)
    assert spread(first)
    assert all(p.leader != 2 for p in first.partitions)
    assert uneven(lab, "work", 2) == topic
    assert told(lab, topic) == first  # it was so already
    everyone = [TopicPartition(topic, partition) for partition in range(13)]
    admin = lab.cluster.admin()
    admin.elect_leaders(ElectionType.PREFERRED, everyone).result()
    # The controller has done it; a broker that is asked now may not have heard yet.
    wait_until(
        lambda: all(p.leader == p.replicas[0] for p in told(lab, topic).partitions),
        what="the first replicas to lead",
        within=20,
        otherwise="see the logs",
    )
    uneven(lab, "work", 2)
    again = told(lab, topic)
    assert [p.replicas for p in again.partitions] == [p.replicas for p in first.partitions]
    assert {p.isr for p in again.partitions} == {(1, 2, 3)}
    assert all(p.leader != 2 for p in again.partitions)
