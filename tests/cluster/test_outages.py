"""The outages that lab 03 asks for, on real brokers: each can be asked for in any state, and again."""

from collections.abc import Iterator

import pytest
from confluent_kafka import ElectionType, TopicPartition

from threebrokers.cluster import Cluster
from threebrokers.kafka.state import TopicState
from threebrokers.lab.lab import Lab
from threebrokers.lab.opening import open_lab
from threebrokers.lab.scenarios import is_balanced, take_down, unbalanced_topic
from threebrokers.waiting import wait_until


@pytest.fixture
def lab(cluster: Cluster) -> Iterator[Lab]:
    lab = open_lab("03")
    yield lab
    lab.close()
    cluster.up()


def told(lab: Lab, topic: str) -> TopicState:
    found = lab.cluster.state([topic]).topic(topic)
    assert found is not None
    return found


def test_a_broker_is_down_and_all_are_in_sync_again(lab: Lab) -> None:
    topic = lab.fresh_topic("failsafe", partitions=4, replication_factor=3)
    for _ in range(2):  # the second time there is nothing to do
        take_down(lab, 2, [topic])
        assert lab.cluster.processes()[2].state == "down"
        assert {p.isr for p in told(lab, topic).partitions} == {(1, 3)}
    for _ in range(2):
        lab.cluster.wait_in_sync([topic])
        assert {p.isr for p in told(lab, topic).partitions} == {(1, 2, 3)}
    lab.cluster.pause(3)
    lab.cluster.wait_in_sync()
    assert lab.cluster.processes()[3].state == "up"


def test_leadership_is_unbalanced_whatever_was_done(lab: Lab) -> None:
    topic = unbalanced_topic(lab, "work", 2)
    first = told(lab, topic)
    assert is_balanced(first)
    assert all(p.leader != 2 for p in first.partitions)
    assert unbalanced_topic(lab, "work", 2) == topic
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
    unbalanced_topic(lab, "work", 2)
    again = told(lab, topic)
    assert [p.replicas for p in again.partitions] == [p.replicas for p in first.partitions]
    assert {p.isr for p in again.partitions} == {(1, 2, 3)}
    assert all(p.leader != 2 for p in again.partitions)


def test_a_cluster_recovers_from_everything_at_once(lab: Lab) -> None:
    topic = lab.fresh_topic("failsafe", partitions=6, replication_factor=3)
    take_down(lab, 1, [topic])
    lab.cluster.pause(3, force=True)
    lab.cluster.recover()
    state = lab.cluster.state([topic])
    assert [(broker.state, broker.registered) for broker in state.brokers] == [("up", True)] * 3
    partitions = told(lab, topic).partitions
    assert [p.leader for p in partitions] == [p.replicas[0] for p in partitions]
    assert {p.isr for p in partitions} == {(1, 2, 3)}
