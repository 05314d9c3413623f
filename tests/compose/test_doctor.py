"""Doctor and why_empty on containers: what is different there is made to happen, and named with its cure."""

import io
import os
import re
import subprocess
import tarfile
from pathlib import Path

import pytest

from tests.troubles import troubles
from threebrokers.cluster import docker, state_file, topics
from threebrokers.cluster.compose import DATA, FILE, ComposeEngine
from threebrokers.cluster.containers import PROJECT, SERVICE, Containers
from threebrokers.doctor import checks, containers, examine
from threebrokers.waiting import quiet_wait
from threebrokers.why_empty import explain

TOPIC = "doctored"
IMAGE = "apache/kafka:4.3.1"
# Bash holds 100 MB in a container that may hold 40.
GREEDY = 'x=$(head -c 100000000 /dev/zero | tr "\\0" x); echo ${#x}'


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests' brokers on this machine are no trouble here."""
    monkeypatch.setattr(checks, "running_homes", list)
    monkeypatch.setattr(containers, "running", list)


@pytest.fixture
def project(home: Path) -> Containers:
    return ComposeEngine(home).containers


def launch(project: Containers, home: Path, *files: Path) -> None:
    """Make the container of broker 3 anew with `docker compose`, as a learner would by hand."""
    ports = state_file.load(home / "compose").ports
    told = project._docker.inspect_container(project.look()[3].id)["Config"]["Env"]
    values = {
        "KAFKA_CLUSTER_ID": next(one for one in told if one.startswith("CLUSTER_ID=")).partition("=")[2]
    }
    for n, of in ports.items():
        values |= {f"KAFKA_PORT_{n}": str(of["CLIENT"]), f"KAFKA_CONTROLLER_PORT_{n}": str(of["CONTROLLER"])}
    names = [word for file in (FILE, *files) for word in ("--file", str(file))]
    command = ["docker", "compose", *names, "--project-name", project.project]
    subprocess.run(
        [*command, "up", "--detach", "--no-deps", "--force-recreate", "--timeout", "0", "kafka-3"],
        env={**os.environ, **values},
        capture_output=True,
        check=True,
    )


def write_meta(project: Containers, text: str) -> None:
    """Put a meta.properties into the volume of broker 3."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        info = tarfile.TarInfo("meta.properties")
        info.size, info.mode = len(text.encode()), 0o666
        archive.addfile(info, io.BytesIO(text.encode()))
    with docker.faults_told():
        project._docker.put_archive(project.look()[3].id, DATA, packed.getvalue())


def test_healthy_containers_have_no_trouble(healthy):
    findings = {finding.about: finding for finding in examine()}
    assert [finding for finding in findings.values() if not finding.ok] == []
    assert set(findings) >= {"Docker", "memory of Docker", "containers", "data", "addresses", "settings"}
    assert "broker 3 " in findings["memory"].what
    assert findings["containers"].what.startswith("3 of 3 run")


def test_somebody_has_changed_the_compose_file(healthy, project, home, tmp_path):
    """The address of broker 3 and a wait of groups are not the course's: the container was made by hand."""
    port = healthy.address(3).rpartition(":")[2]
    advertised = f"CLIENT://localhost:{port},REPL://broker-3:9093,CONTROLLER://controller-3:9094"
    override = tmp_path / "override.yml"
    override.write_text(
        "services:\n  kafka-3:\n    environment:\n"
        f'      KAFKA_ADVERTISED_LISTENERS: "{advertised}"\n'
        '      KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: "3000"\n'
    )
    launch(project, home, override)
    healthy.up()
    assert quiet_wait(lambda: healthy.views([]).keys() == {1, 2, 3}, 30)
    found = troubles()
    launch(project, home)
    assert set(found) == {"addresses", "settings"}
    assert f"broker 3 advertises localhost:{port} and listens at 127.0.0.1:{port}" in found["addresses"].what
    assert "KAFKA_ADVERTISED_LISTENERS, made of KAFKA_PORT_1" in found["addresses"].cure
    assert "group.initial.rebalance.delay.ms=3000 on broker 3, in the course 0" in found["settings"].what


def test_a_container_ended_by_itself_and_a_partition_has_no_leader(healthy, project):
    topics.delete(healthy, [TOPIC])
    # Not the active controller: then nobody has to be elected first.
    leader = next(n for n in healthy.brokers if n != healthy.state([]).quorum_leader)
    topics.create(healthy, TOPIC, 1, 1, {}, brokers=[leader])
    container = project.look()[leader]
    project.kill(container)
    assert quiet_wait(lambda: healthy.state([TOPIC]).topic(TOPIC).partitions[0].leader is None, 20)
    found = troubles()
    why = explain(healthy, "patients", TOPIC, settle=0.5)
    healthy.up()
    topics.delete(healthy, [TOPIC])
    assert set(found) >= {"containers", "leaders"}
    assert f"broker {leader} ({container.name}) ended without being asked" in found["containers"].what
    assert f"docker logs {container.name}" in found["containers"].cure
    assert f"start broker {leader}" in found["leaders"].cure
    assert why.cause == "no leader"
    assert f"lab.cluster.start({leader})" in why.text


def test_a_volume_of_another_cluster(healthy, project):
    """A volume was kept from an earlier experiment."""
    healthy.kill(3)
    own = containers.metas(project, healthy.log(3).parent, DATA)[3]
    write_meta(project, re.sub("cluster.id=.*", "cluster.id=kept-from-before", own))
    found = troubles()
    write_meta(project, own)
    healthy.start(3)
    assert set(found) == {"data"}
    assert "broker 3 kept-from-before" in found["data"].what
    assert "threebrokers reset" in found["data"].cure


def test_a_container_that_used_up_its_memory(engine):
    client = docker.client()
    # Not a broker: a container of an own project that is greedy.
    limits = client.create_host_config(mem_limit="40m", memswap_limit="40m")
    labels = {PROJECT: "threebrokers-greedy", SERVICE: "kafka-2"}
    greedy = client.create_container(
        IMAGE, ["-c", GREEDY], entrypoint="bash", labels=labels, host_config=limits
    )
    try:
        client.start(greedy)
        client.wait(greedy, timeout=60)
        found = containers.look_at_ends(Containers("threebrokers-greedy"), {2: "kill"})
    finally:
        client.remove_container(greedy, v=True, force=True)
        client.close()
    assert not found.ok
    assert "broker 2 was killed for its memory was used up (OOMKilled)" in found.what
    assert "mem_limit" in found.cure
