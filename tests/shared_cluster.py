"""A cluster that is nobody's own: brokers that ask who comes, with rights for each learner's own prefix."""

import os
import secrets
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

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
from threebrokers.cluster.ports import answers
from threebrokers.cluster.process import Identity
from threebrokers.cluster.settings import TABLE, as_text
from threebrokers.waiting import wait_until

OWNER, OWNERS = "owner", "the-owner's"
PASSWORD = "word-of-{}"
START_SECONDS = 240.0
SMALL = (".threads", ".num.partitions", ".buffer.size", "rebalance.delay.ms", "topics.enable")
# What a learner needs: everything with names of the own prefix, and to write with a producer's own number.
KINDS = (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID)


@dataclass(frozen=True)
class SharedCluster:
    """The running cluster: its addresses, the folder of its files, and the mark of its processes."""

    bootstrap: str
    folder: Path
    mark: str

    def settings(self, user: str, password: str) -> dict[str, str]:
        """Return what a client of librdkafka needs."""
        return {
            "bootstrap.servers": self.bootstrap,
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "SCRAM-SHA-256",
            "sasl.username": user,
            "sasl.password": password,
        }

    def client_file(self, user: str, password: str = "") -> Path:
        """Write the file that a learner is given, and return its path."""
        path = self.folder / f"{user}.properties"
        found = self.settings(user, password or PASSWORD.format(user))
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
def shared_cluster(folder: Path, users: Sequence[str], brokers: int = 3) -> Iterator[SharedCluster]:
    """Start such a cluster on free ports of loopback; end it and its processes whatever happens."""
    mark = f"-Dthreebrokers.shared={secrets.token_hex(8)}"
    controller, *clients = _free_ports(1 + brokers)
    started: list[Identity] = []
    numbers = range(1, brokers + 1)
    flags = prepare.prepare(print).broker_flags
    path = os.pathsep.join(map(str, jars.kafka_jars()))
    try:
        uuid = "c2hhcmVkLWNsdXN0ZXIhIQ"
        for n in numbers:
            configuration = folder / f"broker-{n}.properties"
            configuration.write_text(as_text(_properties(n, clients, controller, folder)), "ascii")
            _format(path, configuration, uuid, users)
            command = [str(java()), *flags, mark, "-cp", path, "kafka.Kafka", str(configuration)]
            started.append(process.launch(command, folder / f"broker-{n}.log", environment(), mark))
        cluster = SharedCluster(",".join(f"127.0.0.1:{port}" for port in clients), folder, mark)
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


def _properties(node: int, clients: Sequence[int], controller: int, folder: Path) -> dict[str, str]:
    # As small as the course's brokers, and patient: nobody is killed here, and the machine may be busy.
    small = {s.name: s.here for s in TABLE if s.name.endswith(SMALL)}
    login = "org.apache.kafka.common.security.{}LoginModule required"
    plain = f'{login.format("plain.Plain")} username="{OWNER}" password="{OWNERS}" user_{OWNER}="{OWNERS}";'
    copies = str(min(3, len(clients)))
    scram = f'{login.format("scram.Scram")} username="{OWNER}" password="{OWNERS}";'
    own = f"CLIENT://127.0.0.1:{clients[node - 1]}"
    return small | {
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


def _free_ports(count: int) -> list[int]:
    made = [socket.socket() for _ in range(count)]
    try:
        for one in made:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in made]
    finally:
        for one in made:
            one.close()
