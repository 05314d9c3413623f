"""A broker that is cut off: what it believes, what the others do, and what is left when it is healed."""

import time
from collections.abc import Callable

import pytest
from confluent_kafka import Producer

from tests.contract.basis import EVERYBODY, TOPIC, Basis, partitions, producer, send, soon, whole
from threebrokers.cluster import Cluster
from threebrokers.cluster.link_faults import Fault
from threebrokers.cluster.settings import BROKERS
from threebrokers.errors import LabError
from threebrokers.kafka.log_reader import read_log
from threebrokers.kafka.state import ClusterState, PartitionState

# Only for who shall hear of no acknowledgement: on a busy machine one that comes may take longer.
IMPATIENT = {"message.timeout.ms": 3000}


def restored(cluster: Cluster) -> ClusterState:
    """Return the state in which each broker leads what it is to lead first.

    One whose session has lapsed on a busy machine leads nothing until its partitions are given back to it.
    """
    cluster.recover()
    return soon(cluster, whole)


def led_by(state: ClusterState, broker: int) -> int:
    """Return the number of a partition that this broker leads."""
    return next(p.id for p in partitions(state) if p.leader == broker)


def one(state: ClusterState, number: int) -> PartitionState:
    return partitions(state)[number]


def follower_of_the_quorum(state: ClusterState) -> int:
    return next(n for n in BROKERS if n != state.quorum_leader)


def split(cluster: Cluster, place: int, old: int) -> Callable[[ClusterState], None]:
    """Return what judges that all others follow a new leader of this partition, and the old one itself."""
    others = tuple(n for n in BROKERS if n != old)

    def judge(state: ClusterState) -> None:
        new = one(state, place).leader
        assert new in others
        assert one(state, place).stale_leaders == (old,)
        assert one(state, place).isr == others
        assert state.quorum_leader in others
        told = {seen.id: (seen.state, seen.registered) for seen in state.brokers}
        assert told == {old: ("up", False)} | dict.fromkeys(others, ("up", True))
        said = {n: one(view, place).leader for n, view in cluster.views([TOPIC]).items()}
        assert said == {old: old} | dict.fromkeys(others, new)

    return judge


def pinned(cluster: Cluster, broker: int, acks: str, **settings: object) -> Producer:
    """Return a producer that knows one broker only and believes what it says."""
    client = producer(cluster.address(broker), **{"acks": acks, "enable.idempotence": False, **settings})
    client.list_topics(timeout=10)
    return client


class Cuts(Basis):
    def test_cut_off_a_leader_believes_in_itself_and_what_it_alone_has_is_lost(self, healthy, topic, notes):
        """Split brain: only what all copies in sync had was promised to be kept."""
        state = restored(healthy)
        old = state.quorum_leader  # the worst case: the quorum must choose, too
        place, others = led_by(state, old), tuple(n for n in BROKERS if n != old)
        assert send(producer(healthy.bootstrap), "before", partition=place) == ["ok"]
        careless, careful = pinned(healthy, old, "1"), pinned(healthy, old, "all", **IMPATIENT)
        reader = healthy.action_reader()
        begun = time.monotonic()
        healthy.cut(old)
        assert Cluster().faults() == [Fault("cut", old)], "another notebook sees it too"

        def replaced(state: ClusterState) -> None:
            assert one(state, place).leader in others
            assert one(state, place).stale_leaders == (old,), "it does not believe any more that it leads"

        soon(healthy, replaced)
        elected = time.monotonic() - begun
        new = one(soon(healthy, split(healthy, place, old)), place).leader
        assert send(careless, "on the old leader", partition=place) == ["ok"]
        assert send(careful, "refused", partition=place) == ["_MSG_TIMED_OUT"]
        assert send(pinned(healthy, new, "all"), "after", partition=place) == ["ok"]
        begun = time.monotonic()
        healthy.heal(old)
        actions = reader.read()
        reader.close()
        assert [(action.kind, action.broker) for action in actions] == [("cut", old), ("heal", old)]
        assert healthy.faults() == []
        soon(healthy, whole)
        returned = time.monotonic() - begun
        assert [r.value.decode() for r in read_log(healthy.bootstrap, topic)] == ["before", "after"]
        told = f"cut → new leader {elected:.1f} s, heal → full ISR {returned:.1f} s"
        notes.append(f"{healthy.engine}: {told}")

    def test_without_replication_but_with_the_quorum_a_leader_is_left_alone_in_the_isr(self, healthy, topic):
        state = restored(healthy)
        old = follower_of_the_quorum(state)
        place = led_by(state, old)
        careless, careful = pinned(healthy, old, "1"), pinned(healthy, old, "all", **IMPATIENT)
        healthy.cut(old, from_="brokers")
        assert healthy.faults() == [Fault("cut", old, ("brokers",))]
        # A follower that has every record counts as in sync, however long it was not heard.
        assert send(careless, "x", partition=place) == ["ok"]

        def alone(state: ClusterState) -> None:
            # The controller hears the leader, so it stays, and the leader itself says who is behind.
            assert (one(state, place).leader, one(state, place).isr) == (old, (old,))
            assert state.broker(old).registered

        soon(healthy, alone)
        assert send(careful, "y", partition=place) == ["_MSG_TIMED_OUT"], "fewer than min.insync.replicas"
        healthy.heal()
        soon(healthy, whole)

    def test_without_the_quorum_but_with_replication_a_leader_is_replaced(self, healthy, topic):
        state = restored(healthy)
        old = follower_of_the_quorum(state)
        place = led_by(state, old)
        healthy.cut(old, from_="quorum")
        assert healthy.faults() == [Fault("cut", old, ("quorum",))]

        def replaced(state: ClusterState) -> None:
            assert one(state, place).leader in EVERYBODY - {old}
            assert one(state, place).stale_leaders == (old,)
            assert (state.broker(old).state, state.broker(old).registered) == ("up", False)
            assert state.quorum_leader in EVERYBODY - {old}

        other = soon(healthy, replaced).quorum_leader
        for verb in ("kill", "cut"):
            sentence = rf"takes the quorum away.*say {verb}\({other}, force=True\)"
            with pytest.raises(LabError, match=sentence):
                getattr(healthy, verb)(other)
        assert topic in healthy.tool("kafka-topics", "--list"), "a tool is not given who is cut off"
        assert healthy.up() == [], "nobody had to be started"
        assert healthy.faults() == [], "and everything is healed"
        soon(healthy, whole)
