"""Links between real brokers: what a cut, a stall and a delay do, and that nothing of them is left."""

import functools
import subprocess
import sys
import time

import pytest
from confluent_kafka import Producer

from threebrokers.cluster import Cluster, links, topics
from threebrokers.cluster.settings import BROKERS
from threebrokers.errors import LabError
from threebrokers.kafka.client_settings import SILENCE
from threebrokers.kafka.log_reader import read_log
from threebrokers.kafka.state import PartitionState
from threebrokers.waiting import quiet_wait, wait_until

TOPIC = "linked"
ALL = [1, 2, 3]
MACHINE = "look at the machine."


@pytest.fixture
def topic(healthy: Cluster) -> str:
    topics.delete(healthy, [TOPIC])
    topics.create(healthy, TOPIC, 1, 3, {"min.insync.replicas": "2"})
    return TOPIC


def partition(cluster: Cluster) -> PartitionState | None:
    """Return the partition as it is told now; None if nobody told of it at this moment."""
    found = cluster.state([TOPIC]).topic(TOPIC)
    return found.partitions[0] if found else None


def told_partition(cluster: Cluster) -> PartitionState:
    """Return the partition as it is told first: a busy machine may miss a look."""
    look = functools.partial(partition, cluster)
    return wait_until(look, what="somebody to tell of the topic", within=10, otherwise=MACHINE)


def leader(cluster: Cluster) -> int:
    def look() -> int | None:
        return (p := partition(cluster)) and p.leader

    return wait_until(look, what="a leader", within=30, otherwise=MACHINE)


def whole(cluster: Cluster) -> bool:
    """Wait until all copies are in sync, and nobody wrongly believes that it leads."""

    def look() -> bool:
        p = partition(cluster)
        return bool(p and p.leader and sorted(p.isr) == ALL and not p.stale_leaders)

    return quiet_wait(look, 30)


def moved_from(cluster: Cluster, old: int) -> bool:
    return quiet_wait(lambda: (p := partition(cluster)) and p.leader not in (None, old), 30)


def new_leader_beside(cluster: Cluster, old: int) -> int | None:
    """Return whom both others name, while the old leader still names itself; None if it is not so now."""
    views, p = cluster.views([TOPIC]), partition(cluster)
    told = {n: found.partitions[0].leader for n, view in views.items() if (found := view.topic(TOPIC))}
    new = {told.get(n) for n in BROKERS if n != old}
    split = told.get(old) == old and len(new) == 1 and not new & {None, old}
    return p.leader if split and p and p.leader in new and p.stale_leaders == (old,) else None


def pinned(cluster: Cluster, broker: int, acks: str, patience: int = 20) -> Producer:
    """Return a producer that knows one broker only, believes what it says, and gives up after so long (s)."""
    wait = {"message.timeout.ms": patience * 1000, "acks": acks}
    return Producer({"bootstrap.servers": cluster.address(broker), "logger": SILENCE, **wait})


def send(producer: Producer, *texts: str) -> list[str]:
    """Send and return what became of each: 'ok' or the name of the fault."""
    told: list[str] = []
    for text in texts:
        producer.produce(TOPIC, text, on_delivery=lambda e, m: told.append(e.name() if e else "ok"))
    assert producer.flush(30) == 0  # later than any producer here gives up: its report says why
    return told


@pytest.mark.parametrize(("acks", "told", "patience"), [("1", "ok", 20), ("all", "_MSG_TIMED_OUT", 3)])
def test_a_stalled_leader_believes_in_itself_as_one_that_is_cut_off(
    healthy, topic, notes, acks, told, patience
):
    assert send(Producer({"bootstrap.servers": healthy.bootstrap, "acks": "all"}), "before") == ["ok"]
    old = leader(healthy)
    client = pinned(healthy, old, acks, patience)
    assert client.list_topics(TOPIC, timeout=5).topics[TOPIC].partitions[0].leader == old
    start = time.monotonic()
    healthy.stall(old)
    assert moved_from(healthy, old), "the others chose no new leader"
    elected = time.monotonic() - start
    # Each broker hears of the election in its own time, and a busy machine may miss an answer.
    split = functools.partial(new_leader_beside, healthy, old)
    what = "both others to name the new leader, and the old one to believe in itself"
    new = wait_until(split, what=what, within=20, otherwise=MACHINE)
    assert send(client, "on the old leader") == [told]
    assert send(pinned(healthy, new, "all"), "after") == ["ok"]
    start = time.monotonic()
    healthy.heal(old)
    assert whole(healthy), "the old leader did not follow again"
    returned = time.monotonic() - start
    assert [r.value.decode() for r in read_log(healthy.bootstrap, TOPIC)] == ["before", "after"]
    notes.append(f"split brain by a stall, acks={acks}: new leader {elected:.1f} s, healed {returned:.1f} s")


def test_cut_off_from_the_clients_a_broker_goes_on_with_its_work(healthy, topic):
    def still_leads(old: int) -> bool:
        healthy.heal()
        healthy.cut(old, from_="clients")
        assert send(pinned(healthy, old, "1", 3), "x") == ["_MSG_TIMED_OUT"]
        assert quiet_wait(lambda: old in healthy.views([TOPIC]), 20), "the course asks it past the links"
        return told_partition(healthy).leader == old

    for _ in range(3):  # on a busy machine a broker may lose its session, whatever is cut
        old = leader(healthy)
        if stays := still_leads(old):
            break
    assert stays, "the other brokers still hear it"
    assert whole(healthy)
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
    assert quiet_wait(lambda: (p := partition(healthy)) and {old, other} - set(p.isr), 15)
    assert quiet_wait(lambda: (p := partition(healthy)) and p.leader in p.isr, 15)
    healthy.heal(old)
    assert healthy.faults() == []
    assert whole(healthy)


def test_a_delay_can_be_measured_and_goes(healthy, topic):
    old = leader(healthy)
    client = pinned(healthy, old, "1")
    assert send(client, "first") == ["ok"]

    def seconds() -> float:
        start = time.monotonic()
        assert send(client, "x") == ["ok"]
        return time.monotonic() - start

    healthy.slow(old, ms=100, from_="clients")
    assert min(seconds() for _ in range(3)) >= 0.2
    healthy.heal()
    assert quiet_wait(lambda: seconds() < 0.2, 20), "the delay is still there"
    assert whole(healthy)


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
