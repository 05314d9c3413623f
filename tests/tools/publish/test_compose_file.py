"""docker-compose.yml says the same as the local engine; and its tests fail where Docker is missing."""

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from threebrokers.cluster import prepare
from threebrokers.cluster.settings import BROKERS, TABLE, properties
from tools.lessons.build import ROOT
from tools.publish import compose_file

TEXT = (ROOT / compose_file.FILE).read_text("utf-8")
FILE: dict[str, Any] = yaml.safe_load(TEXT)
LISTENING = {"CLIENT": ":9092", "REPL": ":9093", "CONTROLLER": ":9094"}
# What is not a setting of Kafka but of Java, or of the image.
NO_SETTINGS = {"CLUSTER_ID", "KAFKA_HEAP_OPTS", "KAFKA_JVM_PERFORMANCE_OPTS", "KAFKA_OPTS"}
DOCKERS_TESTS = ("tests/compose/test_contract.py", "tests/compose/test_compose_file.py")


def service(node: int) -> dict[str, Any]:
    return FILE["services"][f"kafka-{node}"]


def filled(text: str) -> str:
    """Put the file's own values where it asks for variables, as compose does when nothing is set."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text)


def published(node: int) -> dict[str, str]:
    """Return the address on this machine of each port in the container."""
    found = [filled(port).rpartition(":") for port in service(node)["ports"]]
    return {inside: address for address, _, inside in found}


ADDRESSES = {
    n: {"CLIENT": published(n)["9092"], "REPL": f"broker-{n}:9093", "CONTROLLER": f"controller-{n}:9094"}
    for n in BROKERS
}


@pytest.mark.parametrize("node", BROKERS)
def test_a_container_has_the_settings_of_a_local_broker_and_no_others(node: int) -> None:
    environment = service(node)["environment"]
    settings = {name: filled(str(text)) for name, text in environment.items() if name not in NO_SETTINGS}
    local = properties(node, ADDRESSES, "/var/lib/kafka/data", LISTENING)
    assert settings == {compose_file.variable(name): value for name, value in local.items()}
    assert environment.keys() >= NO_SETTINGS


def test_every_setting_of_the_table_is_text() -> None:
    values = [service(1)["environment"][compose_file.variable(setting.name)] for setting in TABLE]
    assert all(isinstance(value, str) for value in values)


def test_there_are_three_brokers_alike() -> None:
    started = {name for name, service in FILE["services"].items() if "profiles" not in service}
    assert started == {f"kafka-{n}" for n in BROKERS}
    own = {"hostname", "ports", "environment", "networks", "volumes"}
    first, *others = [{k: v for k, v in service(n).items() if k not in own} for n in BROKERS]
    assert others == [first, first]


@pytest.mark.parametrize("node", BROKERS)
def test_ports_are_published_on_this_machine_only_and_can_be_chosen(node: int) -> None:
    assert published(node) == {"9092": f"127.0.0.1:2{node}092", "9094": f"127.0.0.1:2{node}094"}
    variables = re.findall(r"\$\{(\w+)", " ".join(service(node)["ports"]))
    assert variables == [f"KAFKA_PORT_{node}", f"KAFKA_CONTROLLER_PORT_{node}"]
    assert f"${{KAFKA_PORT_{node}:-" in service(node)["environment"]["KAFKA_ADVERTISED_LISTENERS"]


@pytest.mark.parametrize("node", BROKERS)
def test_each_kind_of_traffic_has_a_network_of_its_own(node: int) -> None:
    aliases = {"clients": {}, "brokers": {"aliases": [f"broker-{node}"]}}
    assert service(node)["networks"] == aliases | {"quorum": {"aliases": [f"controller-{node}"]}}
    # Ports are published on the one network that leads out: a broker that is cut off keeps them.
    assert FILE["networks"] == {"clients": {}, "brokers": {"internal": True}, "quorum": {"internal": True}}


@pytest.mark.parametrize("node", BROKERS)
def test_data_are_in_a_named_volume_and_no_other_volume_is_made(node: int) -> None:
    assert service(node)["volumes"] == [f"data-{node}:/var/lib/kafka/data"]
    assert set(service(node)["tmpfs"]) == {"/etc/kafka/secrets", "/mnt/shared/config"}
    assert FILE["volumes"].keys() == {*(f"data-{n}" for n in BROKERS), "work", "benches"}


def test_java_is_started_as_for_a_local_broker() -> None:
    environment = service(1)["environment"]
    heap, rest = (environment[f"KAFKA_{name}_OPTS"].split() for name in ("HEAP", "JVM_PERFORMANCE"))
    local = [flag for flag, _ in (*prepare.BROKER, *prepare.COMMON)]
    assert heap == [flag for flag in local if flag.startswith("-Xm")]
    # Stored classes and their messages are the image's own affair, so is the log.
    assert Counter(rest) == Counter(flag for flag in local if flag.startswith("-XX:"))
    assert environment["KAFKA_OPTS"].endswith("=/tmp/java.security")
    assert ">/tmp/java.security\nexec /etc/kafka/docker/run\n" in service(1)["command"][-1]


def test_the_memory_limit_leaves_room_for_java_and_a_tool() -> None:
    limit, heap = (
        int(re.findall(r"\d+", text)[0])
        for text in (service(1)["mem_limit"], service(1)["environment"]["KAFKA_HEAP_OPTS"])
    )
    assert limit >= 2 * heap + 128


def test_the_health_check_starts_no_java_and_needs_no_new_engine() -> None:
    check = service(1)["healthcheck"]
    assert check["test"][:3] == ["CMD", "bash", "-c"]
    assert "kafka" not in " ".join(check["test"])
    assert not check.keys() & {"start_interval", "start_period"}


# tools/publish/compose_file.py


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / compose_file.FILE).write_text(TEXT, "utf-8")
    return tmp_path


def edit(root: Path, old: str, new: str) -> None:
    text = (root / compose_file.FILE).read_text("utf-8")
    assert old in text
    (root / compose_file.FILE).write_text(text.replace(old, new, 1), "utf-8")


def test_the_file_in_the_repository_is_what_the_table_says() -> None:
    assert compose_file.main(["--check"]) == 0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('TIMEOUT_MS: "1700"', 'TIMEOUT_MS: "1800"'),
        ("  # a dead broker is noticed within 2 s [9000]\n", ""),
        (f"  {compose_file.END}", f'  KAFKA_MESSAGE_MAX_BYTES: "1"\n  {compose_file.END}'),
    ],
)
def test_settings_that_were_edited_by_hand_are_found_and_mended(
    root: Path, old: str, new: str, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(root, old, new)
    assert compose_file.main(["--check"], root) == 1
    assert "run `make compose`" in capsys.readouterr().err
    assert compose_file.main([], root) == 0
    assert (root / compose_file.FILE).read_text("utf-8") == TEXT
    assert compose_file.main(["--check"], root) == 0


def test_what_stands_outside_the_marks_is_left_alone(root: Path) -> None:
    edit(root, "mem_limit: 640m", "mem_limit: 700m")
    assert compose_file.main(["--check"], root) == 0


@pytest.mark.parametrize(
    ("old", "new"),
    [(compose_file.BEGIN, "#"), (compose_file.END, "#"), (compose_file.BEGIN, compose_file.END)],
)
def test_a_file_without_its_marks_is_refused(
    root: Path, old: str, new: str, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(root, old, new)
    assert compose_file.main([], root) == 1
    assert "once each and in this order" in capsys.readouterr().err


# tests/compose where there is no Docker


@pytest.mark.programs
@pytest.mark.parametrize("missing", ["program", "engine"])
def test_without_docker_its_tests_fail_with_one_sentence(missing: str, tmp_path: Path) -> None:
    path = str(tmp_path) if missing == "program" else os.environ["PATH"]
    environment = os.environ | {"PATH": path, "DOCKER_HOST": f"unix://{tmp_path}/nobody.sock"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *DOCKERS_TESTS],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout.count("The tests of tests/compose need Docker. ") == 1
    assert not re.search(r"Traceback|\d (passed|skipped)", done.stdout + done.stderr)
