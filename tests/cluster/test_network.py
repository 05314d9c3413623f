"""Links between real brokers: what a cut, a stall and a delay do, and that nothing of them is left."""

import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from confluent_kafka import Producer

from threebrokers.cluster import Cluster, links, topics
from threebrokers.cluster.settings import BROKERS
from threebrokers.errors import LabError
from threebrokers.kafka.client_settings import SILENCE
from threebrokers.kafka.log_reader import read_log
from threebrokers.waiting import quiet_wait

TOPIC = "linked"
ALL = [1, 2, 3]


@pytest.fixture
def healthy(cluster: Cluster) -> Iterator[Cluster]:
    """Healthy links before and after, whatever the test did."""
    cluster.up()
    yield cluster
    cluster.up()


@pytest.fixture
def topic(healthy: Cluster) -> str:
    topics.delete(healthy, [TOPIC])
    topics.create(healthy, TOPIC, 1, 3, {"min.insync.replicas": "2"})
    return TOPIC


def partition(cluster: Cluster):
    found = cluster.state([TOPIC]).topic(TOPIC)
    return found.partitions[0] if found else None


def leader(cluster: Cluster) -> int:
    assert quiet_wait(lambda: partition(cluster) and partition(cluster).leader, 10)
    return partition(cluster).leader


def whole(cluster: Cluster) -> bool:
    return quiet_wait(lambda: (p := partition(cluster)) and p.leader and sorted(p.isr) == ALL, 20)


def moved_from(cluster: Cluster, old: int) -> bool:
    return quiet_wait(lambda: (p := partition(cluster)) and p.leader not in (None, old), 10)


def pinned(cluster: Cluster, broker: int, acks: str) -> Producer:
    """Return a producer that knows one broker only and believes what it says."""
    wait = {"message.timeout.ms": 3000, "acks": acks}
    return Producer({"bootstrap.servers": cluster.address(broker), "logger": SILENCE, **wait})


def send(producer: Producer, *texts: str) -> list[str]:
    """Send and return what became of each: 'ok' or the name of the fault."""
    told: list[str] = []
    for text in texts:
        producer.produce(TOPIC, text, on_delivery=lambda e, m: told.append(e.name() if e else "ok"))
    assert producer.flush(20) == 0
    return told


@pytest.mark.parametrize(("acks", "told"), [("1", "ok"), ("all", "_MSG_TIMED_OUT")])
def test_a_stalled_leader_believes_in_itself_as_one_that_is_cut_off(healthy, topic, notes, acks, told):
    assert send(Producer({"bootstrap.servers": healthy.bootstrap, "acks": "all"}), "before") == ["ok"]
    old = leader(healthy)
    client = pinned(healthy, old, acks)
    assert client.list_topics(TOPIC, timeout=5).topics[TOPIC].partitions[0].leader == old
    start = time.monotonic()
    healthy.stall(old)
    assert moved_from(healthy, old), "the others chose no new leader"
    elected = time.monotonic() - start
    split = partition(healthy)
    assert split.stale_leaders == (old,), "the old leader does not believe any more that it leads"
    views = healthy.views([TOPIC])
    assert views[old].topic(TOPIC).partitions[0].leader == old
    assert {views[n].topic(TOPIC).partitions[0].leader for n in BROKERS if n != old} == {split.leader}
    assert send(client, "on the old leader") == [told]
    assert send(pinned(healthy, split.leader, "all"), "after") == ["ok"]
    start = time.monotonic()
    healthy.heal(old)
    assert whole(healthy), "the old leader did not follow again"
    returned = time.monotonic() - start
    assert [r.value.decode() for r in read_log(healthy.bootstrap, TOPIC)] == ["before", "after"]
    assert partition(healthy).stale_leaders == ()
    notes.append(f"split brain by a stall, acks={acks}: new leader {elected:.1f} s, healed {returned:.1f} s")


def test_cut_off_from_the_clients_a_broker_goes_on_with_its_work(healthy, topic):
    old = leader(healthy)
    healthy.cut(old, from_="clients")
    assert send(pinned(healthy, old, "1"), "x") == ["_MSG_TIMED_OUT"]
    assert old in healthy.views([TOPIC]), "the course asks it past the links"
    assert partition(healthy).leader == old, "the other brokers still hear it"
    assert sorted(partition(healthy).isr) == ALL
    healthy.heal(old)
    assert send(pinned(healthy, old, "1"), "y") == ["ok"]


def test_one_broken_link_of_three_costs_one_copy_and_all_return(healthy, topic):
    old = leader(healthy)
    other = next(n for n in BROKERS if n != old)
    client = pinned(healthy, old, "1")
    client.list_topics(TOPIC, timeout=5)
    healthy.cut(other, from_=old)
    assert send(client, "x") == ["ok"]
    # Which of the two stays depends on where the controller is: the third broker hears both.
    assert quiet_wait(lambda: {old, other} - set(partition(healthy).isr), 15)
    assert quiet_wait(lambda: partition(healthy).leader in partition(healthy).isr, 15)
    healthy.heal(old)
    assert healthy.faults() == []
    assert whole(healthy)


def test_a_delay_can_be_measured_and_goes(healthy, topic):
    client = pinned(healthy, leader(healthy), "1")
    assert send(client, "first") == ["ok"]

    def seconds() -> float:
        start = time.monotonic()
        assert send(client, "x") == ["ok"]
        return time.monotonic() - start

    healthy.slow(leader(healthy), ms=100, from_="clients")
    assert min(seconds() for _ in range(3)) >= 0.2
    healthy.heal()
    assert min(seconds() for _ in range(5)) < 0.2
    assert sorted(partition(healthy).isr) == ALL


def test_every_act_is_reported_and_what_is_broken_is_told(healthy):
    reader = healthy.action_reader()
    healthy.slow(2, ms=5, from_="clients")
    healthy.cut(2)
    assert [fault.effect for fault in healthy.faults()] == ["slow", "cut"]
    with pytest.raises(LabError, match=r"takes the quorum away.*say cut\(3, force=True\)"):
        healthy.cut(3)
    with pytest.raises(LabError, match=r"takes the quorum away.*say kill\(3, force=True\)"):
        healthy.kill(3)
    healthy.stall(3, from_="clients")
    healthy.heal(2)
    assert [fault.broker for fault in healthy.faults()] == [3]
    healthy.heal()
    actions = reader.read()
    reader.close()
    assert [(a.kind, a.broker) for a in actions] == [
        ("slow", 2), ("cut", 2), ("stall", 3), ("heal", 2), ("heal", 3),
    ]  # fmt: skip
    assert actions[1].more == "from the other brokers and the quorum"


def test_another_kernel_finds_the_links_and_a_killed_one_leaves_them(healthy, home):
    action = "Cluster().cut(2, from_='clients'); print('cut', flush=True); input()"
    kernel = subprocess.Popen(
        [sys.executable, "-c", f"from threebrokers import Cluster; {action}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with kernel:
        assert kernel.stdout is not None
        assert kernel.stdout.readline() == "cut\n"
        kernel.kill()
    assert [(fault.effect, fault.broker) for fault in Cluster().faults()] == [("cut", 2)]
    assert len(links.find(home)) == 1
    Cluster().heal()
    assert healthy.faults() == []
