"""What a cluster promises: faults and their return, and that nothing is lost or left behind."""

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator

import psutil
import pytest
from confluent_kafka import KafkaException, Producer

from threebrokers import topics
from threebrokers.cluster import BROKERS, Cluster, bench, ports, process
from threebrokers.errors import BenchError
from threebrokers.records import end_offsets, read_log, start_offsets
from threebrokers.waiting import quiet_wait

TOPIC = "survives"


@pytest.fixture
def healthy(cluster: Cluster) -> Iterator[Cluster]:
    """Three healthy brokers before and after, whatever the test did."""
    cluster.up()
    yield cluster
    cluster.up()


@pytest.fixture
def topic(healthy: Cluster) -> str:
    topics.delete(healthy, [TOPIC])
    topics.create(healthy, TOPIC, 6, 3, {"min.insync.replicas": "2"})
    return TOPIC


def leaders(cluster: Cluster, topic: str) -> set[int | None]:
    # The newest view of all: a broker that was paused tells old news for a moment.
    found = cluster.sight([topic]).topic(topic)
    return {p.leader for p in found.partitions} if found else {None}


def copies(cluster: Cluster, topic: str) -> set[int]:
    found = cluster.sight([topic]).topic(topic)
    return {len(p.isr) for p in found.partitions} if found else set()


def quietly(look, within=30) -> bool:
    def attempt():
        try:
            return look()
        except KafkaException:
            return False

    return quiet_wait(attempt, within)


def send(cluster: Cluster, topic: str, count: int) -> list:
    faults: list = []
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "acks": "all", "enable.idempotence": True})
    for i in range(count):
        producer.produce(topic, str(i).encode(), str(i).encode(), on_delivery=lambda e, m: faults.append(e))
    assert producer.flush(30) == 0
    assert len(faults) == count
    return [fault for fault in faults if fault]


def test_three_brokers_are_registered_on_loopback_only(healthy):
    assert {b.id for b in healthy.state().brokers} == set(BROKERS)
    assert {b.host for b in healthy.state().brokers} == {"127.0.0.1"}
    for told in healthy.processes().values():
        for listening in psutil.Process(told.pid).net_connections("inet"):
            if listening.status == psutil.CONN_LISTEN:
                assert listening.laddr.ip.removeprefix("::ffff:") in ("127.0.0.1", "::1")


@pytest.mark.parametrize("fault", ["kill", "stop", "pause"])
def test_a_fault_moves_leadership_and_its_return_restores_the_copies(healthy, topic, fault):
    assert send(healthy, topic, 100) == []
    getattr(healthy, fault)(2)
    assert healthy.processes()[2].state == ("paused" if fault == "pause" else "down")
    assert quietly(lambda: leaders(healthy, topic) <= {1, 3}), "broker 2 still leads"
    assert quietly(lambda: copies(healthy, topic) == {2})
    assert send(healthy, topic, 100) == []
    if fault == "pause":
        healthy.resume(2)
    else:
        healthy.start(2)
    assert quietly(lambda: copies(healthy, topic) == {3}), "broker 2 did not catch up"
    assert healthy.processes()[2].state == "up"
    records = read_log(healthy.bootstrap, topic)
    assert sorted(int(r.value) for r in records) == sorted([*range(100), *range(100)])
    assert sum(end_offsets(healthy.bootstrap, topic).values()) == 200
    assert set(start_offsets(healthy.bootstrap, topic).values()) == {0}


def test_a_group_survives_the_death_of_any_broker(healthy, topic):
    described = healthy.tool("kafka-topics", "--describe", "--exclude-internal")
    assert TOPIC in described
    Producer({"bootstrap.servers": healthy.bootstrap}).flush(1)
    from confluent_kafka import Consumer

    member = Consumer(
        {"bootstrap.servers": healthy.bootstrap, "group.id": "g", "auto.offset.reset": "earliest"}
    )
    member.subscribe([topic])
    member.poll(5)
    member.close()
    internal = healthy.state(["__consumer_offsets"]).topic("__consumer_offsets")
    assert internal is not None
    assert {len(p.replicas) for p in internal.partitions} == {3}


def test_asking_for_what_cannot_be_done_is_one_sentence(healthy):
    with pytest.raises(BenchError, match="There is no broker 4"):
        healthy.kill(4)
    healthy.kill(3)
    with pytest.raises(BenchError, match="already down"):
        healthy.kill(3)
    with pytest.raises(BenchError, match="not running"):
        healthy.pause(3)
    with pytest.raises(BenchError, match="not running"):
        healthy.resume(3)
    healthy.start(3)
    before = healthy.processes()[3].pid
    healthy.start(3)
    assert healthy.processes()[3].pid == before


def test_a_port_that_somebody_took_is_named(healthy):
    port = int(healthy.address(3).split(":")[1])
    healthy.kill(3)
    assert quiet_wait(lambda: ports.is_free(port), 5)
    with socket.socket() as stranger:
        stranger.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        stranger.bind((ports.HOST, port))
        stranger.listen()
        with pytest.raises(BenchError, match=f"Port {port}.*is used by another program"):
            healthy.start(3)
    assert healthy.processes()[3].state == "down"
    healthy.start(3)
    assert healthy.processes()[3].state == "up"


def test_two_starts_at_once_end_in_one_cluster(healthy, home):
    healthy.kill(1)
    with pytest.raises(BenchError, match="takes the quorum away: only broker 3 of 3 voters"):
        healthy.kill(2)
    healthy.kill(2, anyway=True)
    faults = []

    def start():
        try:
            Cluster().up()
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=start) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    running = [
        p for p in psutil.process_iter(["cmdline"]) if f"{process.MARK}{home}" in (p.info["cmdline"] or [])
    ]
    assert len([p for p in running if p.status() != psutil.STATUS_ZOMBIE]) == 3


def test_a_broker_killed_from_outside_is_noticed_and_mended(healthy):
    psutil.Process(healthy.processes()[2].pid).kill()
    assert quiet_wait(lambda: healthy.processes()[2].state == "down", 10)
    assert Cluster().up() == [2]
    assert healthy.processes()[2].state == "up"


def test_a_lost_state_file_ends_what_it_cannot_know_and_starts_again(healthy, home):
    (home / "bench.json").unlink()
    healthy.up()
    assert all(told.state == "up" for told in healthy.processes().values())
    marked = [
        p for p in psutil.process_iter(["cmdline"]) if f"{process.MARK}{home}" in (p.info["cmdline"] or [])
    ]
    assert len([p for p in marked if p.status() != psutil.STATUS_ZOMBIE]) == 3


def test_a_reused_process_id_is_not_taken_for_a_broker(healthy, home):
    here = bench.load(home)
    here.brokers[1] = process.Identity(psutil.Process().pid, here.brokers[1].started)
    bench.save(home, here)
    assert healthy.processes()[1].state == "down"
    healthy.up()
    assert healthy.processes()[1].state == "up"
    assert psutil.Process().is_running()


def test_data_stay_through_down_and_up_and_go_with_a_reset(healthy, topic, home):
    assert send(healthy, topic, 50) == []
    assert healthy.down() == list(BROKERS)
    assert process.find(home) == {}
    assert healthy.down() == []
    healthy.up()
    assert len(read_log(healthy.bootstrap, topic)) == 50
    healthy.reset()
    assert healthy.state().topic(topic) is None
    assert {b.id for b in healthy.state().brokers} == set(BROKERS)


def test_brokers_outlive_a_killed_kernel_and_end_with_down(healthy, home):
    healthy.down()
    program = "from threebrokers import Cluster; Cluster().up(); print('up', flush=True); input()"
    kernel = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with kernel:
        assert kernel.stdout is not None
        assert kernel.stdout.readline() == "up\n"
        kernel.kill()
    assert all(told.state == "up" for told in healthy.processes().values())
    healthy.down()
    assert process.find(home) == {}


def test_a_refused_topic_is_told_in_the_brokers_words(healthy):
    with pytest.raises(BenchError, match=r"refused to create 'no spaces'.*name"):
        topics.create(healthy, "no spaces", 1, 1, {})
    with pytest.raises(BenchError, match=r"refused to create 'four'.*4"):
        topics.create(healthy, "four", 1, 4, {})


def test_tools_run_and_their_faults_are_one_sentence(healthy, topic):
    assert topic in healthy.tool("kafka-topics", "--list").splitlines()
    with pytest.raises(BenchError, match="no tool 'kafka-magic' here"):
        healthy.tool("kafka-magic")
    with pytest.raises(BenchError, match=r"kafka-topics failed: .*nowhere"):
        healthy.tool("kafka-topics", "--describe", "--topic", "nowhere")
    healthy.tool("kafka-console-producer", "--topic", topic, typed="one\ntwo\n")
    assert [r.value for r in read_log(healthy.bootstrap, topic)] == [b"one", b"two"]
    files = healthy.segments(topic, read_log(healthy.bootstrap, topic)[0].partition)
    assert "baseOffset: 0" in healthy.tool("kafka-dump-log", "--files", str(files[0]))
