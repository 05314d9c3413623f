"""A view is the word of the broker that was asked, also while brokers disagree or do not answer."""

import socket

import pytest

from tests.ticks import Ticks
from threebrokers.cluster import Cluster, topics
from threebrokers.cluster.settings import BROKERS
from threebrokers.kafka.state import ClusterState, PartitionState
from threebrokers.waiting import wait_until

TOPIC = "seen"


@pytest.fixture
def topic(cluster: Cluster) -> str:
    topics.delete(cluster, [TOPIC])
    topics.create(cluster, TOPIC, 3, 3, {})
    return TOPIC


def partitions(state: ClusterState) -> tuple[PartitionState, ...]:
    [found] = state.topics
    return found.partitions


def what_all_know(p: PartitionState) -> tuple[object, ...]:
    return p.topic, p.id, p.leader, p.leader_epoch, p.replicas, p.isr, p.elr


def settled(cluster: Cluster, *names: str) -> tuple[ClusterState, dict[int, ClusterState]]:
    """Return the state and the views when all copies of the topic are told of, and nothing moves meanwhile.

    A moment after a topic was made, brokers know it of the metadata, and have no copy of it yet.
    """

    def look() -> tuple[ClusterState, dict[int, ClusterState]] | None:
        state, views = cluster.state(names), cluster.views(names)
        if not all(one.topics for one in (state, *views.values())):
            return None
        told = all(
            len(p.log_end_offsets) == 3 and p.last_stable_offset is not None for p in partitions(state)
        )
        own = all(p.log_end_offsets for view in views.values() for p in partitions(view))
        leaders = {view.quorum_leader for view in views.values()}
        quorum = state.quorum_leader is not None and leaders == {None, state.quorum_leader}
        still = cluster.state(names).topics == state.topics
        return (state, views) if told and own and quorum and still else None

    return wait_until(look, what="all copies", within=20, otherwise="look at the brokers' logs.")


def test_every_broker_says_the_same_of_a_healthy_cluster(cluster: Cluster, topic: str) -> None:
    state, found = settled(cluster, topic, "nothing")
    assert found.keys() == set(BROKERS)
    assert {(*map(what_all_know, partitions(view)),) for view in found.values()} == {
        (*map(what_all_know, partitions(state)),)
    }
    assert {view.registered for view in found.values()} == {state.registered} == {frozenset(BROKERS)}
    assert [[b.address for b in view.brokers] for view in found.values()] == [
        [cluster.address(n) for n in BROKERS]
    ] * 3
    assert {name for view in cluster.views().values() for name in (t.name for t in view.topics)} >= {topic}
    assert [view.topics for view in cluster.views([]).values()] == [()] * 3


def test_a_broker_tells_only_what_it_knows_by_itself(cluster: Cluster, topic: str) -> None:
    state, found = settled(cluster, topic)
    assert found.keys() == set(BROKERS)
    for n, view in found.items():
        assert view.quorum_leader == (n if n == state.quorum_leader else None)
        for p in partitions(view):
            assert p.log_end_offsets == ((n, 0),)
            offsets = p.log_start_offset, p.high_watermark, p.last_stable_offset
            assert offsets == ((0, 0, 0) if p.leader == n else (None, None, None))
    assert {p.log_end_offsets for p in partitions(state)} == {((1, 0), (2, 0), (3, 0))}


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


def test_one_that_takes_connections_and_never_answers_holds_up_nobody_for_long(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, ticks: Ticks
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        nowhere = {"CLIENT": f"127.0.0.1:{deaf.getsockname()[1]}"}
        listening = cluster._engine.listening() | {2: nowhere}
        monkeypatch.setattr(cluster._engine, "listening", lambda: listening)
        began = ticks.now
        assert cluster.views([]).keys() == {1, 3}
        # 5 s, on a machine that has nothing else to do.
        assert ticks.now - began < 8
        assert cluster.state([]).broker(2).state == "unknown"  # type: ignore[union-attr]
