"""What is promised of brokers that are processes of this machine, besides the contract."""

import psutil

from threebrokers.cluster import bench, process


def test_a_reused_process_id_is_not_taken_for_a_broker(cluster, home):
    here = bench.load(home)
    here.brokers[1] = process.Identity(psutil.Process().pid, here.brokers[1].started)
    bench.save(home, here)
    assert cluster.processes()[1].state == "down"
    cluster.up()
    assert cluster.processes()[1].state == "up"
    assert psutil.Process().is_running()
