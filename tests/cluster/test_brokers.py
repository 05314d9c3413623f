"""What is promised of brokers that are processes of this machine, besides the contract."""

import time

import psutil

from tests.commands import SLOW, imported
from threebrokers.cluster import bench, layout, process
from threebrokers.cluster.settings import BROKERS


def test_a_reused_process_id_is_not_taken_for_a_broker(cluster, home):
    here = bench.load(home)
    here.brokers[1] = process.Identity(psutil.Process().pid, here.brokers[1].started)
    bench.save(home, here)
    assert cluster.processes()[1].state == "down"
    cluster.up()
    assert cluster.processes()[1].state == "up"
    assert psutil.Process().is_running()


def test_a_look_at_running_brokers_does_without_what_takes_long_to_import(cluster):
    assert imported("status") & (SLOW | {"confluent_kafka", "asyncio"}) == set()


def test_all_end_cleanly_and_nobody_waits_for_a_quorum_that_is_gone(cluster, home):
    assert not any(layout.is_saved(home, n) for n in BROKERS), "a running broker counts as saved"
    began = time.monotonic()
    assert cluster.down() == [1, 2, 3]
    took = time.monotonic() - began
    assert all(layout.is_saved(home, n) for n in BROKERS)
    cluster.up()
    # The last broker by itself takes 5 s.
    assert took < 4
