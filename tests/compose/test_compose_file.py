"""docker-compose.yml by itself, brought up as anybody would who only wants three brokers."""

import functools
import json
import os
import subprocess
from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType
from testcontainers.compose import DockerCompose

from tests.closing import close
from tests.compose.docker_command import docker
from tests.shared_cluster import free_ports
from threebrokers.cluster import spark_cluster
from threebrokers.cluster.settings import BROKERS, TABLE
from threebrokers.waiting import quiet_wait
from tools.lessons.build import ROOT
from tools.publish.compose_file import FILE

PROJECT = f"threebrokers-file-{os.getpid()}"
LABEL = f"label=com.docker.compose.project={PROJECT}"
TOPIC = "kept"
PATIENCE = 30


def left() -> list[str]:
    """Return what Docker has of this project, and the volumes that its containers had."""
    volumes = docker("volume", "ls", "--quiet").split()
    return [
        *docker("ps", "--all", "--filter", LABEL, "--format", "{{.Names}}").split(),
        *docker("network", "ls", "--filter", LABEL, "--format", "{{.Name}}").split(),
        *(name for name in volumes if name in volumes_of_containers() or name.startswith(PROJECT)),
    ]


@functools.cache
def volumes_of_containers() -> frozenset[str]:
    """Return all volumes that the containers have: named ones, and those that an image brings itself.

    The answer of the first call is kept for the time when there are no containers any more.
    """
    containers = docker("ps", "--all", "--quiet", "--filter", LABEL).split()
    mounts = [mount for one in json.loads(docker("inspect", *containers)) for mount in one["Mounts"]]
    return frozenset(mount["Name"] for mount in mounts if mount["Type"] == "volume")


@pytest.mark.parametrize(
    ("profile", "more"),
    [
        ("", set()),
        ("workbook", {"workbook"}),
        ("spark", {"workbook", *(f"spark-{name}" for name in spark_cluster.NAMES)}),
    ],
)
def test_docker_takes_the_file_with_each_profile(profile, more):
    """Its schema, its references and its variables: the images are built in no test."""
    chosen = ("--file", str(ROOT / "docker-compose.yml"), *(("--profile", profile) if profile else ()))
    told = docker("compose", *chosen, "config", "--services").split()
    assert set(told) == {f"kafka-{n}" for n in BROKERS} | more


@pytest.fixture(scope="module")
def ports() -> dict[str, int]:
    """Ports of this machine that are free now, by the variables that the file has for them."""
    names = [f"KAFKA_{kind}{n}" for kind in ("PORT_", "CONTROLLER_PORT_") for n in BROKERS]
    return dict(zip(names, free_ports(len(names)), strict=True))


@pytest.fixture(scope="module")
def compose(ports: dict[str, int]) -> Iterator[DockerCompose]:
    """The file's containers; afterwards nothing of them is there."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("COMPOSE_", "KAFKA_"))]:
            patch.delenv(name)
        patch.setenv("COMPOSE_PROJECT_NAME", PROJECT)
        # The helper container that tidies up after a crash is an image of its own; `down` is enough here.
        patch.setenv("TESTCONTAINERS_RYUK_DISABLED", "true")
        for name, number in ports.items():
            patch.setenv(name, str(number))
        with DockerCompose(ROOT, FILE, pull=False, wait=True) as compose:
            volumes_of_containers()
            yield compose
    assert left() == []


@pytest.fixture
def servers(compose: DockerCompose, ports: dict[str, int]) -> str:
    return ",".join(f"127.0.0.1:{ports[f'KAFKA_PORT_{n}']}" for n in BROKERS)


@pytest.fixture
def admin(servers: str) -> AdminClient:
    return AdminClient({"bootstrap.servers": servers})


def copies(admin: AdminClient, topic: str) -> list[int]:
    """Return how many copies are in sync of each partition of a topic; nothing if there is no such topic."""
    known = admin.list_topics(timeout=PATIENCE).topics.get(topic)
    return [len(partition.isrs) for partition in known.partitions.values()] if known else []


def setting(admin: AdminClient, kind: ResourceType, name: str, key: str) -> str | None:
    (answer,) = admin.describe_configs([ConfigResource(kind, name)]).values()
    found = answer.result(PATIENCE).get(key)
    return found.value if found else None


def group(servers: str) -> Consumer:
    return Consumer({"bootstrap.servers": servers, "group.id": "readers", "auto.offset.reset": "earliest"})


def test_three_healthy_containers_are_published_on_this_machine_only(compose, ports):
    containers = compose.get_containers()
    assert {(one.Service, one.State, one.Health) for one in containers} == {
        (f"kafka-{n}", "running", "healthy") for n in BROKERS
    }
    published = {(place.URL, place.PublishedPort) for one in containers for place in one.Publishers}
    assert published == {("127.0.0.1", number) for number in ports.values()}


def test_three_brokers_are_registered_with_the_published_addresses(admin, ports):
    def registered() -> dict[int, tuple[str, int]]:
        return {n: (b.host, b.port) for n, b in admin.list_topics(timeout=PATIENCE).brokers.items()}

    assert quiet_wait(lambda: len(registered()) == len(BROKERS), PATIENCE)
    assert registered() == {n: ("127.0.0.1", ports[f"KAFKA_PORT_{n}"]) for n in BROKERS}


@pytest.mark.parametrize("node", BROKERS)
def test_a_running_broker_has_the_courses_settings(admin, node):
    (answer,) = admin.describe_configs([ConfigResource(ResourceType.BROKER, str(node))]).values()
    live = {name: entry.value for name, entry in answer.result(PATIENCE).items()}
    wanted = {setting.name: setting.here for setting in TABLE} | {"broker.rack": f"rack-{node}"}
    assert {name: live.get(name) for name in wanted} == wanted
    assert live["share.coordinator.state.topic.replication.factor"] == "3"
    assert live["share.coordinator.state.topic.min.isr"] == "2"


def test_kafkas_own_topics_have_three_copies(admin, servers):
    consumer = group(servers)
    consumer.subscribe(["nothing"])
    consumer.poll(0.1)  # asks for the group's coordinator, which makes the topic
    Producer({"bootstrap.servers": servers, "transactional.id": "t"}).init_transactions(PATIENCE)
    names = ("__consumer_offsets", "__transaction_state")
    assert quiet_wait(lambda: all(copies(admin, name) == [3, 3, 3] for name in names), PATIENCE)
    close(consumer)
    assert setting(admin, ResourceType.TOPIC, "__transaction_state", "min.insync.replicas") == "2"


def test_kafkas_tools_work_inside_a_container(compose):
    where = ["/opt/kafka/bin/kafka-topics.sh", "--bootstrap-server", "broker-2:9093"]
    compose.exec_in_container([*where, "--create", "--topic", "tried"], "kafka-1")
    said, _, _ = compose.exec_in_container([*where, "--describe", "--topic", "tried"], "kafka-3")
    assert "Topic: tried" in said


def test_a_record_survives_down_and_up_and_is_deleted_with_the_volumes(compose, admin, servers):
    for done in admin.create_topics([NewTopic(TOPIC, 1, 3)]).values():
        done.result(PATIENCE)
    producer = Producer({"bootstrap.servers": servers, "acks": "all"})
    producer.produce(TOPIC, b"still here")
    assert producer.flush(PATIENCE) == 0

    command = [*compose.compose_command_property, "down"]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    assert set(left()) == volumes_of_containers() == {f"{PROJECT}_data-{n}" for n in BROKERS}

    compose.start()
    consumer = group(servers)
    consumer.subscribe([TOPIC])
    found = []
    assert quiet_wait(lambda: found.append(consumer.poll(0.1)) or found[-1], PATIENCE)
    assert found[-1].value() == b"still here"
    consumer.close()

    compose.stop(down=True)
    assert left() == []
