"""A view is the word of the broker that was asked, also while brokers disagree or do not answer."""

import socket
import time

import pytest

from threebrokers.cluster import Cluster, topics
from threebrokers.cluster.settings import BROKERS
from threebrokers.kafka.poller import views

TOPIC = "seen"


@pytest.fixture
def topic(cluster: Cluster) -> str:
    topics.delete(cluster, [TOPIC])
    topics.create(cluster, TOPIC, 3, 3, {})
    return TOPIC


def test_every_broker_says_the_same_of_a_healthy_cluster(cluster: Cluster, topic: str) -> None:
    found = cluster.views([topic, "nothing"])
    assert found.keys() == set(BROKERS)
    assert {view.topics for view in found.values()} == {cluster.state([topic]).topics}
    assert {view.brokers for view in found.values()} == {cluster.state([]).brokers}
    assert {name for view in cluster.views().values() for name in (t.name for t in view.topics)} >= {topic}
    assert [view.topics for view in cluster.views([]).values()] == [()] * 3


def test_a_broker_that_is_paused_or_down_is_left_out(cluster: Cluster) -> None:
    cluster.pause(2)
    try:
        assert cluster.views([]).keys() == {1, 3}
    finally:
        cluster.resume(2)
    cluster.kill(3)
    try:
        assert cluster.views([]).keys() == {1, 2}
    finally:
        cluster.start(3)
    assert cluster.views([]).keys() == {1, 2, 3}


def test_one_that_takes_connections_and_never_answers_holds_up_nobody_for_long(cluster: Cluster) -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        addresses = {1: cluster.address(1), 2: f"127.0.0.1:{deaf.getsockname()[1]}", 3: cluster.address(3)}
        began = time.monotonic()
        assert views(addresses, [], 1.0).keys() == {1, 3}
        assert time.monotonic() - began < 10
