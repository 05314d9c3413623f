"""Into a cluster that asks who comes: TLS and SASL with a small server that stands in for a broker."""

import shutil
import socket
import ssl
import struct
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from kafka.protocol.sasl import SaslAuthenticateResponse, SaslHandshakeResponse

from threebrokers.kafka import requests
from threebrokers.kafka.access import Access
from threebrokers.kafka.connection import Connections
from threebrokers.kafka.entrance import NoEntranceError, connected, connector

WITHIN = 20.0  # on a busy machine too
HANDSHAKE, AUTHENTICATE = 17, 36
LOGIN = {"sasl.mechanism": "PLAIN", "sasl.username": "anna", "sasl.password": "geheim"}


@dataclass
class Certificate:
    """A certificate for 127.0.0.1 that has signed itself, with its key."""

    path: Path
    key: Path


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("makes a certificate with openssl")
    folder = tmp_path_factory.mktemp("tls")
    made = Certificate(folder / "ca.pem", folder / "key.pem")
    words = (
        "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1"
    )
    files = ["-keyout", str(made.key), "-out", str(made.path)]
    subprocess.run([program, *words.split(), *files], check=True, capture_output=True)
    return made


class StandIn:
    """A server that asks for PLAIN, and then answers each question: broker 2 leads the quorum, epoch 7."""

    def __init__(self, certificate: Certificate | None) -> None:
        self.context = None
        if certificate:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(certificate.path, certificate.key)
        self.server = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.server.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self.server.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=self._answer, args=(self.server.accept()[0],), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with suppress(OSError, struct.error), connection:
            talk = self.context.wrap_socket(connection, server_side=True) if self.context else connection
            with talk:
                while head := talk.recv(4):
                    self._told(talk, talk.recv(struct.unpack(">i", head)[0]))

    def _told(self, talk: socket.socket, asked: bytes) -> None:
        kind, version, number = struct.unpack_from(">hhi", asked)
        response: Any
        if kind == HANDSHAKE:
            response = SaslHandshakeResponse(error_code=0 if b"PLAIN" in asked else 33, mechanisms=["PLAIN"])
        elif kind == AUTHENTICATE:
            right = b"\0anna\0geheim" in asked
            response = SaslAuthenticateResponse(
                error_code=0 if right else 58, error_message="", auth_bytes=b""
            )
        else:
            quorum = requests.DescribeQuorumResponse
            place = quorum.TopicData.PartitionData(
                partition_index=0, error_code=0, leader_id=2, leader_epoch=7, high_watermark=1
            )
            topic = quorum.TopicData(topic_name="__cluster_metadata", partitions=[place] * 2000)
            response = quorum(error_code=0, topics=[topic])  # more than one TLS record holds
        response.API_VERSION = version
        response.with_header(correlation_id=number)
        talk.sendall(response.encode(header=True, framed=True))


@pytest.fixture
def plain() -> Iterator[str]:
    with closing(StandIn(None)) as server:
        yield server.address


@pytest.fixture
def encrypted(certificate: Certificate) -> Iterator[str]:
    with closing(StandIn(certificate)) as server:
        yield server.address


def access(address: str, protocol: str, **more: str) -> Access:
    return Access(address, "anna-", {"security.protocol": protocol, **LOGIN, **more})


def over_tls(address: str, certificate: Certificate, **more: str) -> Access:
    return access(address, "SASL_SSL", **{"ssl.ca.location": str(certificate.path), **more})


def leader(address: str, way: Access) -> tuple[int, int] | None:
    with closing(Connections(connector(way))) as connections:
        for _ in range(2):  # the second time on the connection that was kept
            told = connections.ask({address: [requests.quorum()]}, WITHIN)
        return requests.read_leader(told[address][0])


def test_the_poller_asks_over_sasl(plain):
    assert leader(plain, access(plain, "SASL_PLAINTEXT")) == (7, 2)


def test_and_over_tls_also_what_is_longer_than_one_part_of_it(encrypted, certificate):
    assert leader(encrypted, over_tls(encrypted, certificate)) == (7, 2)


def refusal(address: str, way: Access) -> str:
    with pytest.raises(NoEntranceError) as said:
        connected(address, way, WITHIN).close()
    assert "geheim" not in str(said.value)
    return str(said.value)


def test_a_wrong_password_is_one_sentence(plain):
    way = access(plain, "SASL_PLAINTEXT", **{"sasl.password": "falsch"})
    assert "does not accept this user and password: look at sasl.username" in refusal(plain, way)


def test_a_way_in_that_is_not_offered_is_named(plain):
    way = access(plain, "SASL_PLAINTEXT", **{"sasl.mechanism": "SCRAM-SHA-256"})
    assert "does not offer sasl.mechanism=SCRAM-SHA-256: it has PLAIN" in refusal(plain, way)


def test_a_certificate_that_nobody_vouches_for_is_one_sentence(encrypted):
    said = refusal(encrypted, access(encrypted, "SASL_SSL"))
    assert "certificate of 127.0.0.1:" in said
    assert "look at ssl.ca.location" in said


def test_a_certificate_of_another_machine_is_one_sentence(encrypted, certificate):
    named = encrypted.replace("127.0.0.1", "localhost")
    assert "is not accepted" in refusal(named, over_tls(named, certificate))
    unasked = over_tls(named, certificate, **{"ssl.endpoint.identification.algorithm": "none"})
    connected(named, unasked, WITHIN).close()


def test_tls_where_none_is_spoken_is_one_sentence(plain, certificate):
    assert "does not speak TLS with you" in refusal(plain, over_tls(plain, certificate))


def test_nobody_there_is_one_sentence():
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    assert f"Nobody answers at {address}" in refusal(address, access(address, "SASL_PLAINTEXT"))
