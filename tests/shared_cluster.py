"""A cluster that is nobody's own: brokers that ask who comes, with rights for each learner's own prefix."""

import json
import os
import secrets
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from threebrokers.cluster import jars, prepare, process
from threebrokers.cluster.java import environment, java, run
from threebrokers.cluster.ports import answers, is_free
from threebrokers.cluster.process import Identity
from threebrokers.cluster.settings import TABLE, as_text
from threebrokers.kafka import access
from threebrokers.paths import PACKAGE
from threebrokers.waiting import wait_until

OWNER, OWNERS = "owner", "the-owner's"
PASSWORD = "word-of-{}"
START_SECONDS = 240.0
# Above those that homes may claim, below the range that systems hand out to outgoing connections.
PORTS = range(15_000, 32_000)
SMALL = (".threads", ".num.partitions", ".buffer.size", "rebalance.delay.ms", "topics.enable")
# What a learner needs: everything with names of the own prefix, and to write with a producer's own number.
KINDS = (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID)

# Of lab 01 the cells of exercises that use no disk and no broker by name, and what those need.
FIRST_LAB = (
    *("code-c52b756e", "code-3fcf0ab6", "code-462c0562", "code-ff02cd3c", "code-ba057757"),
    *("exercise-1-1", "check-1-1", "exercise-1-2", "check-1-2", "code-0cee1f28"),
    *("code-0900aaa0", "exercise-1-3", "check-1-3", "exercise-1-4", "check-1-4"),
)


@dataclass(frozen=True)
class SharedCluster:
    """The running cluster: its addresses, the folder of its files, and the mark of its processes."""

    bootstrap: str
    folder: Path
    mark: str
    authority: Path | None = None  # with TLS: the certificate that vouches for the brokers'

    def settings(self, user: str, password: str) -> dict[str, str]:
        """Return what a client of librdkafka needs."""
        tls = {"ssl.ca.location": str(self.authority)} if self.authority else {}
        return tls | {
            "bootstrap.servers": self.bootstrap,
            "security.protocol": "SASL_SSL" if self.authority else "SASL_PLAINTEXT",
            "sasl.mechanism": "SCRAM-SHA-256",
            "sasl.username": user,
            "sasl.password": password,
        }

    def client_file(self, user: str, password: str = "", **changed: str) -> Path:
        """Write the file that a learner is given, and return its path; `changed` replaces settings."""
        path = self.folder / f"{user}.properties"
        found = self.settings(user, password or PASSWORD.format(user))
        found |= {name.replace("_", "."): value for name, value in changed.items()}
        found.pop("bootstrap.servers")
        path.write_text("".join(f"{name}={value}\n" for name, value in found.items()), "utf-8")
        path.chmod(0o600)
        return path

    def owner(self) -> AdminClient:
        """Return an AdminClient that may do everything."""
        return AdminClient(self.settings(OWNER, OWNERS))

    def allow(self, users: Sequence[str], prefixes: Sequence[str] = ()) -> None:
        """Give each user all rights on names with the own prefix ("anna-" of anna unless told)."""
        bindings = [
            AclBinding(
                kind,
                prefix,
                ResourcePatternType.PREFIXED,
                f"User:{user}",
                "*",
                AclOperation.ALL,
                AclPermissionType.ALLOW,
            )
            for user, prefix in zip(users, prefixes or [f"{user}-" for user in users], strict=True)
            for kind in KINDS
        ]
        owner = self.owner()  # a client that is let go takes its open calls with it
        for made in owner.create_acls(bindings, request_timeout=30).values():
            made.result()


@contextmanager
def shared_cluster(
    folder: Path, users: Sequence[str], brokers: int = 3, tls: bool = False
) -> Iterator[SharedCluster]:
    """Start such a cluster on free ports of loopback; end it and its processes whatever happens."""
    mark = f"-Dthreebrokers.shared={secrets.token_hex(8)}"
    controller, *clients = free_ports(1 + brokers)
    started: list[Identity] = []
    numbers = range(1, brokers + 1)
    flags = prepare.prepare(print).broker_flags
    path = os.pathsep.join(map(str, jars.kafka_jars()))
    authority = certified(folder) if tls else None
    try:
        uuid = "c2hhcmVkLWNsdXN0ZXIhIQ"
        for n in numbers:
            configuration = folder / f"broker-{n}.properties"
            configuration.write_text(as_text(_properties(n, clients, controller, folder, tls)), "ascii")
            _format(path, configuration, uuid, users)
            command = [str(java()), *flags, mark, "-cp", path, "kafka.Kafka", str(configuration)]
            started.append(process.launch(command, folder / f"broker-{n}.log", environment(), mark))
        cluster = SharedCluster(",".join(f"127.0.0.1:{port}" for port in clients), folder, mark, authority)
        wait_until(
            lambda: all(answers(port) for port in clients),
            what="the shared cluster's ports to open",
            within=START_SECONDS,
            otherwise=f"read {folder}/broker-1.log",
        )
        wait_until(
            lambda: len(cluster.owner().list_topics(timeout=10).brokers) == brokers,
            what="the shared cluster's brokers to know each other",
            within=START_SECONDS,
            otherwise=f"read {folder}/broker-1.log",
        )
        yield cluster
    finally:
        process.end([*started, *process.marked(mark)], 0)
        for one in started:
            one.reap()


def certified(folder: Path) -> Path:
    """Make an authority and, signed by it, the brokers' certificate for 127.0.0.1; return the former's."""
    ca, key = folder / "ca.pem", folder / "ca.key"
    own, own_key, asked = folder / "own.pem", folder / "own.key", folder / "own.csr"
    new = ("openssl", "req", "-newkey", "rsa:2048", "-nodes", "-subj")
    names = folder / "names.cnf"
    names.write_text("subjectAltName=IP:127.0.0.1\n", "ascii")
    signed = ("-CA", ca, "-CAkey", key, "-CAcreateserial", "-days", "2", "-extfile", names)
    for command in (
        (*new, "/CN=authority", "-x509", "-days", "2", "-keyout", key, "-out", ca),
        (*new, "/CN=broker", "-keyout", own_key, "-out", asked),
        ("openssl", "x509", "-req", "-in", asked, *signed, "-out", own),
    ):
        subprocess.run(command, check=True, capture_output=True)
    (folder / "brokers.pem").write_text(own_key.read_text("ascii") + own.read_text("ascii"), "ascii")
    return ca


def _over_tls(folder: Path) -> dict[str, str]:
    return {
        "listener.security.protocol.map": "CLIENT:SASL_SSL,CONTROLLER:SASL_PLAINTEXT",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(folder / "brokers.pem"),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(folder / "ca.pem"),
    }


def enter(shared: SharedCluster, monkeypatch: pytest.MonkeyPatch, file: Path) -> None:
    """Choose that cluster, with this client's file, until the test ends."""
    monkeypatch.delenv("THREEBROKERS_CLUSTER", raising=False)
    monkeypatch.setenv(access.BOOTSTRAP, shared.bootstrap)
    monkeypatch.setenv(access.CLIENT, str(file))


def cells(lab: str) -> dict[str, str]:
    """Return the text of each cell of a solution by its id, as a learner has it at the end."""
    notebook = json.loads((PACKAGE.parent / "solutions" / f"{lab}.ipynb").read_text("utf-8"))
    return {c["id"]: "".join(c["source"]) for c in notebook["cells"]}


def _properties(
    node: int, clients: Sequence[int], controller: int, folder: Path, tls: bool
) -> dict[str, str]:
    # As small as the course's brokers, and patient: nobody is killed here, and the machine may be busy.
    small = {s.name: s.here for s in TABLE if s.name.endswith(SMALL)}
    login = "org.apache.kafka.common.security.{}LoginModule required"
    plain = f'{login.format("plain.Plain")} username="{OWNER}" password="{OWNERS}" user_{OWNER}="{OWNERS}";'
    copies = str(min(3, len(clients)))
    scram = f'{login.format("scram.Scram")} username="{OWNER}" password="{OWNERS}";'
    own = f"CLIENT://127.0.0.1:{clients[node - 1]}"
    found = small | {
        "process.roles": "broker,controller" if node == 1 else "broker",
        "node.id": str(node),
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "listeners": f"{own},CONTROLLER://127.0.0.1:{controller}" if node == 1 else own,
        "advertised.listeners": own,
        "broker.session.timeout.ms": "60000",
        "initial.broker.registration.timeout.ms": "240000",
        "listener.security.protocol.map": "CLIENT:SASL_PLAINTEXT,CONTROLLER:SASL_PLAINTEXT",
        "inter.broker.listener.name": "CLIENT",
        "controller.listener.names": "CONTROLLER",
        "sasl.enabled.mechanisms": "SCRAM-SHA-256",
        "sasl.mechanism.inter.broker.protocol": "SCRAM-SHA-256",
        "sasl.mechanism.controller.protocol": "PLAIN",
        "listener.name.client.scram-sha-256.sasl.jaas.config": scram,
        "listener.name.controller.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.controller.plain.sasl.jaas.config": plain,
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": f"User:{OWNER}",
        "allow.everyone.if.no.acl.found": "false",
        "log.dirs": str(folder / f"data-{node}"),
        "offsets.topic.replication.factor": copies,
        "transaction.state.log.replication.factor": copies,
        "transaction.state.log.min.isr": "1",
        "share.coordinator.state.topic.replication.factor": copies,
        "share.coordinator.state.topic.min.isr": "1",
    }
    return found | (_over_tls(folder) if tls else {})


def _format(path: str, configuration: Path, uuid: str, users: Sequence[str]) -> None:
    words = {OWNER: OWNERS} | {user: PASSWORD.format(user) for user in users}
    known = [f'SCRAM-SHA-256=[name={user},password="{word}"]' for user, word in words.items()]
    given = [part for one in known for part in ("--add-scram", one)]
    flags = prepare.prepare(print).tool_flags
    command = [str(java()), *flags, "-cp", path, "kafka.tools.StorageTool", "format"]
    done: subprocess.CompletedProcess[str] = run(
        [*command, "--cluster-id", uuid, "--config", str(configuration), *given], 120
    )
    assert done.returncode == 0, done.stderr + done.stdout


def free_ports(count: int) -> list[int]:
    """Choose ports that are free, and stay so until brokers listen there, which can be a minute later."""
    order = secrets.SystemRandom().sample(PORTS, len(PORTS))  # another run of the tests takes others
    return list(islice(filter(is_free, order), count))
