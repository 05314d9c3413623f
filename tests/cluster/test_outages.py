"""The outages that lab 03 asks for, on real brokers: each can be asked for in any state, and again."""

from collections.abc import Iterator
from contextlib import suppress

import pytest
from confluent_kafka import ElectionType, KafkaException, TopicPartition

from threebrokers.cluster import Cluster
from threebrokers.kafka.state import TopicState
from threebrokers.lab.lab import Lab
from threebrokers.lab.opening import open_lab
from threebrokers.lab.scenarios import (
    ORDERS,
    after_two_outages,
    all_acknowledged,
    connections_into,
    fresh,
    restart_silences,
    steady_writes,
    take_down,
    wait_for_more,
)
from threebrokers.lab.scenarios.outages import is_after_two_outages
from threebrokers.waiting import quiet_wait, wait_until


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


def shape(topic: TopicState) -> list[tuple]:
    """Return what an outage leaves; not the offsets, which a busy broker may not tell in every look."""
    return [(p.replicas, p.leader, p.isr) for p in topic.partitions]


def test_a_broker_is_down_and_all_are_in_sync_again(lab: Lab) -> None:
    topic = lab.fresh_topic("failsafe", partitions=4, replication_factor=3)
    for _ in range(2):  # the second time there is nothing to do
        take_down(lab, 2, [topic])
        assert lab.cluster.processes()[2].state == "down"
        assert quiet_wait(lambda: {p.isr for p in told(lab, topic).partitions} == {(1, 3)}, 20)
    for _ in range(2):
        lab.cluster.wait_in_sync([topic])
        assert quiet_wait(lambda: {p.isr for p in told(lab, topic).partitions} == {(1, 2, 3)}, 20)
    lab.cluster.pause(3)
    lab.cluster.wait_in_sync()
    assert lab.cluster.processes()[3].state == "up"


def test_two_outages_leave_the_same_state_whatever_was_done(lab: Lab) -> None:
    for _ in range(3):  # on a busy machine one of the two that run may be missed for a moment
        topic = after_two_outages(lab, "work")
        first = told(lab, topic)
        assert is_after_two_outages(first)
        assert tuple(p.replicas for p in first.partitions) == ORDERS
        assert lab.cluster.processes()[3].state == "down"
        assert after_two_outages(lab, "work") == topic
        again = told(lab, topic)
        if (again.id, shape(again)) == (first.id, shape(first)):
            break
    assert (again.id, shape(again)) == (first.id, shape(first)), "it was so already"
    everyone = [TopicPartition(topic, number) for number in range(len(ORDERS))]
    admin = lab.cluster.admin()

    def elected() -> bool:
        # A busy controller may not answer in time; and a broker that is asked then may not have heard yet.
        with suppress(KafkaException, TimeoutError):
            admin.elect_leaders(ElectionType.PREFERRED, everyone).result(5)
        return [p.leader for p in told(lab, topic).partitions] == [1, 1, 2, 2, 1, 2]

    wait_until(
        elected,
        what="broker 2 to lead what it should",
        within=20,
        otherwise="see the logs",
    )
    assert not is_after_two_outages(told(lab, topic))
    after_two_outages(lab, "work")
    assert shape(told(lab, topic)) == shape(first)


def test_steady_writes_outlive_restarts(lab: Lab) -> None:
    topics = {f"{least} in sync": fresh(lab, f"steady-{least}", 1, 3, least) for least in (2, 3)}
    with lab.record(*topics.values()) as recording, steady_writes(lab, topics.values()):
        lab.cluster.stop(1)
        lab.cluster.start(1)
        lab.cluster.wait_in_sync(topics.values())
        wait_for_more(lab, topics.values())
    table = restart_silences(recording, topics)
    assert list(table.index) == ["broker 1"]
    assert list(table.columns) == ["the restart took", "2 in sync", "3 in sync"]
    assert table.loc["broker 1", "2 in sync"] < table.loc["broker 1", "3 in sync"]
    assert all_acknowledged(recording), "a refused record is sent again"


def test_a_program_goes_to_the_address_that_a_broker_tells(lab: Lab) -> None:
    topic = lab.fresh_topic("parcels", partitions=3, brokers=[[1], [2], [3]])
    here, elsewhere = lab.cluster.address(3), "127.0.0.1:1"
    lab.cluster.stop(3)
    lab.cluster.start(3, advertised=elsewhere)
    connections: dict[int, dict[str, object]] = {}
    told_of: dict[int, str] = {}
    settings = {"bootstrap.servers": here, "message.timeout.ms": 6000, **connections_into(connections)}
    producer = lab.producer(settings)
    for number in range(3):
        producer.produce(
            topic,
            b"x",
            partition=number,
            on_delivery=lambda e, m: told_of.setdefault(m.partition(), e.name() if e else ""),
        )
    producer.flush()
    assert told_of == {0: "", 1: "", 2: "_MSG_TIMED_OUT"}
    assert {n: told["connected"] for n, told in connections.items()} == {1: True, 2: True, 3: False}
    assert connections[3]["it was told the address"] == elsewhere != here
    assert lab.cluster.up() == [3]
    assert lab.cluster.up() == []


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
