"""A broker whose disk is lost gets an empty one, and copies back what it had: nothing is lost."""

import shutil
from pathlib import Path

import pytest

from threebrokers.cluster import Cluster, log_dirs, topics
from threebrokers.errors import LabError
from threebrokers.kafka.clients import Clients
from threebrokers.kafka.log_reader import read_log

RECORDS = 300


@pytest.fixture
def kept(cluster: Cluster, home: Path):
    """A topic with records on all three disks; the cluster is begun anew at the end."""
    topics.delete(cluster, ["kept"])
    topics.create(cluster, "kept", 3, 3, {}, ())
    clients = Clients(cluster.bootstrap, home)
    producer = clients.producer({"acks": "all"})
    for number in range(RECORDS):
        producer.produce("kept", str(number), partition=number % 3)
    producer.flush()
    clients.close()
    yield "kept"
    if len(log_dirs.replaced(home)) > 1 or "" in log_dirs.clusters(home).values():
        cluster.reset()
    cluster.up()


def _copies(cluster: Cluster, topic: str) -> set[int]:
    """Return how many bytes each broker keeps: one number if all keep the same."""
    cluster.wait_in_sync([topic])
    sizes = [sum(cluster.segments(topic, p, b)[0].stat().st_size for p in range(3)) for b in cluster.brokers]
    return set(sizes)


@pytest.mark.fault("Disks", "a broker's disk is lost while all brokers are down")
@pytest.mark.parametrize("node", [1, 2, 3])
def test_a_disk_that_is_lost_while_all_are_down(cluster, home, kept, node, capsys, behaviour):
    cluster.down()
    shutil.rmtree(log_dirs.folder(home, node))
    cluster.up()
    said = next(line for line in capsys.readouterr().out.splitlines() if f"disk of broker {node}" in line)
    assert f"The disk of broker {node} was lost" in said
    assert len(list(read_log(cluster.bootstrap, kept))) == RECORDS
    assert len(_copies(cluster, kept)) == 1
    behaviour("it gets an empty disk and copies back every record", says=said.replace(f"{node}", "2"))


@pytest.mark.fault("Disks", "a broker's disk is lost while that broker alone is down")
def test_a_disk_that_is_lost_while_its_broker_alone_is_down(cluster, home, kept, behaviour):
    leader = cluster.state([kept]).topic(kept).partitions[0].leader
    cluster.kill(leader)
    shutil.rmtree(log_dirs.folder(home, leader))
    cluster.start(leader)
    assert len(list(read_log(cluster.bootstrap, kept))) == RECORDS
    assert len(_copies(cluster, kept)) == 1
    behaviour("it starts on an empty disk and copies back every record")


@pytest.mark.fault("Disks", "the disks of two brokers are lost")
def test_two_lost_disks_are_told_and_the_third_one_is_kept(cluster, home, kept, behaviour):
    cluster.down()
    for node in (1, 2):
        log_dirs.folder(home, node).rename(home / f"away-{node}")
    with pytest.raises(LabError, match=r"brokers 1 and 2 are lost.*threebrokers reset") as refused:
        cluster.up()
    assert any((log_dirs.folder(home, 3)).glob(f"{kept}-*/*.log"))
    for node in (1, 2):
        (home / f"away-{node}").rename(log_dirs.folder(home, node))
    cluster.up()
    assert len(list(read_log(cluster.bootstrap, kept))) == RECORDS
    behaviour("nothing is deleted; when the disks are back, so is every record", says=refused.value)
