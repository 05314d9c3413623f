"""The doctor on real brokers: each trouble is made to happen there, and named with its cure."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource

from tests.commands import run
from tests.troubles import troubles
from threebrokers.cluster import Cluster, log_dirs, topics
from threebrokers.doctor import Finding, checks, examine
from threebrokers.doctor.groups import look_at_rebalances, look_for_forgotten_members, look_for_frozen
from threebrokers.kafka.clients import LabConsumer
from threebrokers.kafka.state import ClusterState
from threebrokers.waiting import poll, quiet_wait

TOPIC = "doctored"
MEMBER = """
import sys
from confluent_kafka import Consumer
member = Consumer({"bootstrap.servers": sys.argv[1], "group.id": sys.argv[2]})
member.subscribe([sys.argv[3]])
while True:
    member.poll(0.1)
    if member.assignment():
        print("in", flush=True)
"""


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests' brokers on this machine are no trouble here."""
    monkeypatch.setattr(checks, "running_homes", list)


@pytest.fixture
def bench(cluster: Cluster) -> Iterator[Cluster]:
    """Healthy brokers, and a topic of one partition; healthy after, too."""
    cluster.up()
    topics.delete(cluster, [TOPIC])
    topics.create(cluster, TOPIC, 1, 3, {})
    yield cluster
    cluster.up()
    topics.delete(cluster, [TOPIC])


def only(*abouts: str) -> dict[str, Finding]:
    """Return the troubles as soon as they are these, and no others.

    A busy broker that answers too late for a look is a trouble, too, or is left out of it.
    """
    for found in poll(troubles, 30):
        if set(found) == set(abouts):
            break
    assert set(found) == set(abouts)
    return found


@pytest.fixture
def group(request: pytest.FixtureRequest) -> str:
    """A group for one test: a member that does not end in time is still in it."""
    return f"patients-{request.node.name}"


@pytest.fixture
def member(bench: Cluster, group: str) -> Iterator[Callable[[], LabConsumer]]:
    """Make a member of the group. Their ends have a bound: close() may never return during a rebalance."""
    made: list[LabConsumer] = []

    def make() -> LabConsumer:
        settings = {"bootstrap.servers": bench.bootstrap, "group.id": group, "auto.offset.reset": "earliest"}
        made.append(LabConsumer({**settings, "enable.auto.commit": False}, {}))
        made[-1].subscribe([TOPIC])
        return made[-1]

    yield make
    for one in made:
        one.discard()


def write(cluster: Cluster, count: int) -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap})
    for number in range(count):
        producer.produce(TOPIC, str(number).encode())
    assert producer.flush(20) == 0


@pytest.fixture
def sees(bench: Cluster, group: str) -> Iterator[Callable[[], ClusterState]]:
    """Look at the topic and the group."""
    poller = bench.poller()
    yield lambda: poller.poll([TOPIC], [group])
    poller.close()


@pytest.fixture
def broker_3(bench: Cluster, home: Path) -> Iterator[tuple[Path, Path]]:
    """The file of broker 3's settings and the one that says whose its disk is; it runs again as it did."""
    files = bench.configuration(3), home / "data" / "broker-3" / "meta.properties"
    texts = [file.read_text() for file in files]
    bench.kill(3)
    yield files
    if bench.processes()[3].state != "down":
        bench.kill(3)
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    bench.start(3)


def test_healthy_brokers_have_none(bench):
    assert only() == {}
    findings = {finding.about: finding for finding in examine()}
    assert "broker 3 " in findings["memory"].what
    assert set(findings) >= {"addresses", "registration", "leaders", "settings", "groups", "frozen clients"}
    result = run("doctor", "--json")
    assert json.loads(result.output)["ok"] is True
    assert result.exit_code == 0


def test_a_broker_advertises_another_address(bench, broker_3):
    bench.start(3, advertised="kafka-3:9092")
    found = only("addresses")
    assert f"broker 3 advertises kafka-3:9092 and listens at {bench.address(3)}" in found["addresses"].what
    assert "advertised.listeners" in found["addresses"].cure


def test_a_broker_runs_with_another_setting(bench, broker_3, monkeypatch):
    """Kafka's own wait before the first rebalance of a group is 3 s; a start writes the file anew."""
    monkeypatch.setattr(log_dirs, "configure", lambda *files: None)
    settings, _ = broker_3
    delay = "group.initial.rebalance.delay.ms"
    assert f"\n{delay}=0\n" in settings.read_text()
    settings.write_text(settings.read_text().replace(f"{delay}=0", f"{delay}=3000"))
    bench.start(3)
    found = only("settings")
    assert f"{delay}=3000 on broker 3, in the course 0 (the first consumer" in found["settings"].what
    assert "threebrokers down" in found["settings"].cure


def test_a_disk_of_another_cluster(bench, home, broker_3):
    """Broker 3's disk was copied from somewhere else: it may not join, so it gets an empty one."""
    _, disk = broker_3
    disk.write_text(re.sub("cluster.id=.*", "cluster.id=4L6g3nShT-eMCtK--X86sw", disk.read_text()))
    found = troubles()
    assert "the disk of broker 3 is lost, damaged or of another cluster" in found["data"].what
    bench.up()
    assert "data" not in troubles()
    assert "4L6g3nShT-eMCtK--X86sw" in (disk.parent.with_name("broker-3.lost") / disk.name).read_text()


def test_a_setting_was_changed_while_a_broker_ran(bench):
    def change(operation: AlterConfigOpType) -> None:
        entry = ConfigEntry("log.cleaner.backoff.ms", "15000", incremental_operation=operation)
        resource = ConfigResource(ConfigResource.Type.BROKER, "2", incremental_configs=[entry])
        admin = bench.admin()
        [call] = admin.incremental_alter_configs([resource]).values()
        call.result(10)

    change(AlterConfigOpType.SET)
    try:
        found = next((f["settings"] for f in poll(troubles, 30) if "settings" in f), None)
    finally:
        change(AlterConfigOpType.DELETE)
    assert found, "nobody told that the setting is another one"
    assert "log.cleaner.backoff.ms=15000 on broker 2, in the course 500" in found.what
    assert "--entity-name 2 --delete-config log.cleaner.backoff.ms" in found.cure


def test_a_topic_of_kafkas_own_has_one_copy(bench):
    name = "__share_group_state"
    topics.create(bench, name, 1, 1, {})
    found = troubles()
    topics.delete(bench, [name])
    assert f"{name} has 1 of 3 replicas" in found["internal topics"].what
    assert "threebrokers reset" in found["internal topics"].cure


def test_a_partition_without_a_leader_and_a_broker_that_was_killed_from_outside(bench):
    topics.delete(bench, [TOPIC])
    # Not the active controller: then nobody has to be elected first.
    leader = next(n for n in bench.brokers if n != bench.state([]).quorum_leader)
    topics.create(bench, TOPIC, 1, 1, {}, brokers=[leader])
    pid = bench.processes()[leader].pid
    psutil.Process(pid).kill()

    def nobody_leads() -> bool:
        told = bench.state([TOPIC]).topic(TOPIC)
        return told is not None and told.partitions[0].leader is None

    assert quiet_wait(nobody_leads, 20)
    found = troubles()
    bench.up()
    assert set(found) >= {"state", "leaders"}
    # On a machine that stutters another broker may be counted out for a moment, too.
    assert found["leaders"].what.startswith("nobody leads ")
    assert f"{TOPIC}-0 (replicas on broker {leader})" in found["leaders"].what
    assert f"start broker {leader}" in found["leaders"].cure
    assert f"broker {leader} (process {pid}) ended without being asked" in found["state"].what


def test_a_group_waits_for_a_member_that_nobody_polls(group, member, sees):
    first = member()
    assert quiet_wait(lambda: first.poll(0.05) or first.assignment(), 20)
    member()
    assert quiet_wait(lambda: sees().groups[0].state == "PreparingRebalance", 20)
    found = look_at_rebalances(sees)
    assert not found.ok
    assert f"'{group}' (PreparingRebalance, 2 members)" in found.what
    assert "call poll() on each of its consumers" in found.cure


def test_the_consumer_of_a_cell_that_ran_twice(bench, group, member, sees):
    write(bench, 7)
    pair = member(), member()

    def shared_out() -> bool:
        for one in pair:
            one.poll(0.05)
        told = sees().groups[0]
        held = any(one.assignment() for one in pair)
        return held and told.state == "Stable" and len(told.members) == 2

    assert quiet_wait(shared_out, 20)
    holder = next(one for one in pair if one.assignment())
    holder.commit(offsets=[TopicPartition(TOPIC, 0, 2)], asynchronous=False)
    found = look_for_forgotten_members(sees)
    assert not found.ok
    assert f"group '{group}' has 2 members, several called 'rdkafka'" in found.what
    assert f"reads nothing of {TOPIC}-0, where 5 records wait" in found.what
    assert "restart the kernel" in found.cure


def test_a_member_in_a_frozen_process(bench, group):
    command = [sys.executable, "-c", MEMBER, bench.bootstrap, group, TOPIC]
    ports = {int(bench.address(n).rpartition(":")[2]) for n in bench.brokers}
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"in\n"
            process.send_signal(signal.SIGSTOP)
            assert quiet_wait(lambda: psutil.Process(process.pid).status() == psutil.STATUS_STOPPED, 5)
            found = look_for_frozen(ports, [])
        finally:
            process.kill()
    assert not found.ok
    assert f"process {process.pid}" in found.what
    assert f"kill -CONT {process.pid}" in found.cure
