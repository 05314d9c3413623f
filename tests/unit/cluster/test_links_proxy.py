"""The process that carries the links, with servers that send back what they get in the brokers' place."""

import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from threebrokers.cluster import links, links_proxy, ports
from threebrokers.cluster.link_faults import Fault
from threebrokers.waiting import quiet_wait


def head(client_id: str | None, rest: bytes = b"") -> bytes:
    """Return a request as Kafka's clients begin it."""
    told = (client_id or "").encode()
    name = struct.pack(">h", -1 if client_id is None else len(told)) + told
    body = struct.pack(">hhi", 18, 4, 1) + name + rest
    return struct.pack(">i", len(body)) + body


@pytest.mark.parametrize(
    ("listener", "told", "source"),
    [
        ("REPL", "broker-1-fetcher-0", "1"),
        ("REPL", "broker-2-fetcher-13", "2"),
        ("REPL", "broker-3-txn-marker-sender", "3"),
        ("REPL", "AddPartitionsManager-client-2", "2"),
        ("REPL", "what is this", "broker"),
        ("REPL", "", "broker"),
        ("CONTROLLER", "raft-client-3", "3"),
        ("CONTROLLER", "1", "1"),
        ("CONTROLLER", "adminclient-1", "client"),
        ("CONTROLLER", "", "client"),
        ("CLIENT", "broker-1-fetcher-0", "client"),
        ("CLIENT", "rdkafka", "client"),
        ("CLIENT", "2", "client"),
    ],
)
def test_who_speaks_is_told_by_the_client_id_and_the_listener(listener, told, source):
    assert links_proxy.source_of(listener, told) == source


def test_a_client_id_is_read_from_whole_heads_only():
    whole = head("raft-client-3")
    assert links_proxy.client_id(whole + b"more") == "raft-client-3"
    assert [links_proxy.client_id(whole[:n]) for n in range(len(whole))] == [None] * len(whole)
    assert links_proxy.client_id(head(None)) == ""
    assert links_proxy.client_id(head("é")) == "é"


class Echo:
    """A server that sends back what it gets, in place of a broker."""

    def __init__(self, port: int, asked: list[bytes]) -> None:
        self.server, self.asked = socket.create_server((ports.HOST, port)), asked
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self) -> None:
        while True:
            try:
                line, _ = self.server.accept()
            except OSError:
                return
            threading.Thread(target=self.answer, args=(line,), daemon=True).start()

    def answer(self, line: socket.socket) -> None:
        with line:
            try:
                while data := line.recv(1 << 16):
                    self.asked.append(data)
                    line.sendall(data)
            except OSError:
                return


@dataclass(frozen=True)
class Net:
    """The links of a home, between servers that send back what they get; `asked` is that, so far."""

    home: Path
    outside: ports.Ports
    asked: list[bytes] = field(default_factory=list)

    def __getitem__(self, broker: int) -> dict[str, int]:
        return self.outside[broker]

    def put(self, *faults: Fault) -> None:
        links.put(self.home, self.outside, faults)

    def faults(self) -> list[Fault]:
        return links.faults(self.home, self.outside)

    def open(self) -> int:
        return links._ask(self.home, self.outside, {})["open"]


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Net]:
    home = tmp_path_factory.mktemp("home")
    outside = ports.claim(home)
    behind = ports.behind(outside)
    net = Net(home, outside)
    servers = [Echo(port, net.asked) for of_broker in behind.values() for port in of_broker.values()]
    process = links.start(home, outside)
    yield net
    links.process.end([process], 0)
    assert links.find(home) == []
    for server in servers:
        server.server.close()


@pytest.fixture
def net(started: Net) -> Iterator[Net]:
    yield started
    started.put()


def call(outside, broker, listener="CLIENT", client_id="rdkafka") -> socket.socket:
    line = socket.create_connection((ports.HOST, outside[broker][listener]), timeout=5)
    line.sendall(head(client_id))
    return line


def heard(line: socket.socket, length: int) -> bytes:
    data = bytearray()
    while len(data) < length and (more := line.recv(length - len(data))):
        data += more
    return bytes(data)


def ended(line: socket.socket) -> bool:
    try:
        return not line.recv(100)
    except ConnectionError:
        return True


def works(outside, *where) -> bool:
    with call(outside, *where) as line:
        return not ended(line)


def passes(line: socket.socket, text: bytes, within: float = 0.3) -> bool:
    line.sendall(text)
    line.settimeout(within)
    try:
        return heard(line, len(text)) == text
    except TimeoutError:
        return False


def test_bytes_pass_whole_and_both_ways(net):
    with call(net, 1) as line:
        assert heard(line, len(head("rdkafka"))) == head("rdkafka")
        assert passes(line, b"one more", 5)


def test_a_head_in_pieces_is_understood(net):
    net.put(Fault("cut", 2, (3,)))
    for source, expected in (("3", b""), ("1", head("broker-1-fetcher-0"))):
        with socket.create_connection((ports.HOST, net[2]["REPL"]), timeout=5) as line:
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            whole = head(f"broker-{source}-fetcher-0")
            try:
                for place in range(0, len(whole), 5):
                    line.sendall(whole[place : place + 5])
                got = heard(line, len(whole))
            except ConnectionError:
                got = b""
            assert got == expected


def test_much_is_carried_although_the_reader_is_slow(net):
    with call(net, 1) as line:
        heard(line, len(head("rdkafka")))
        text = bytes(range(256)) * 4096 * 64  # 64 MiB: more than all buffers on the way
        line.settimeout(120)
        sender = threading.Thread(target=line.sendall, args=(text,))
        sender.start()
        assert not quiet_wait(lambda: not sender.is_alive(), 2), "nobody read, and all was taken"
        assert heard(line, len(text)) == text
        sender.join()


def test_a_cut_ends_connections_and_refuses_new_ones_on_that_link_only(net):
    fetcher, other = call(net, 2, "REPL", "broker-3-fetcher-0"), call(net, 2, "REPL", "broker-1-fetcher-0")
    with fetcher, other:
        assert fetcher.recv(100)
        assert other.recv(100)
        net.put(Fault("cut", 2, (3,)))
        assert ended(fetcher)
        assert passes(other, b"x", 5)
    assert not works(net, 2, "REPL", "broker-3-fetcher-0")
    assert not works(net, 3, "CONTROLLER", "raft-client-2")
    assert works(net, 1, "CONTROLLER", "raft-client-2")
    assert works(net, 2)
    net.put()
    assert works(net, 2, "REPL", "broker-3-fetcher-0")


def test_a_stalled_link_keeps_its_connections_and_brings_all_when_it_heals(net):
    with call(net, 2) as line:
        assert line.recv(100)
        net.put(Fault("stall", 2, ("clients",)))
        assert not passes(line, b"held")
        with call(net, 2) as late:
            late.settimeout(0.2)
            with pytest.raises(TimeoutError):
                late.recv(100)
            assert works(net, 1)
            net.put()
            line.settimeout(5)
            assert heard(line, 4) == b"held"
            late.settimeout(5)
            assert late.recv(100) == head("rdkafka")


def test_what_was_said_before_an_end_arrives_after_a_stall(net):
    net.put(Fault("stall", 3, ("clients",)))
    before = net.open()
    with call(net, 3) as line:
        line.shutdown(socket.SHUT_WR)
        assert net.open() == before + 1
        net.put()
    assert quiet_wait(lambda: net.open() == before, 5)


def test_a_slow_link_delays_each_way_and_carries_as_much(net, ticks):
    net.put(Fault("slow", 1, ("clients",), 60))
    with call(net, 1) as line:
        heard(line, len(head("rdkafka")))
        start, counted = time.monotonic(), ticks.now
        assert passes(line, b"x", 5)
        assert time.monotonic() - start >= 0.12
        assert ticks.now - counted < 1
        counted = ticks.now
        assert passes(line, b"y" * 500_000, 5)
        assert ticks.now - counted < 1.5, "chunks wait one after the other"


def test_only_answers_are_held_and_what_is_cut_meanwhile_does_not_arrive(net):
    with call(net, 1) as line:
        heard(line, len(head("rdkafka")))
        net.put(Fault("slow", 1, ("clients",), 10_000, answers=True))
        line.sendall(b"a question")
        assert quiet_wait(lambda: net.asked[-1] == b"a question", 5), "the question was late, too"
        net.put(Fault("cut", 1, ("clients",)))
        assert ended(line)


def test_a_broker_that_is_down_ends_the_call(tmp_path):
    nobody = Net(tmp_path, ports.claim(tmp_path))
    started = links.start(tmp_path, nobody.outside)
    try:
        assert not works(nobody, 1)
        assert quiet_wait(lambda: nobody.open() == 0, 5)
    finally:
        links.process.end([started], 0)


def test_faults_are_kept_by_the_process(net):
    wanted = [Fault("slow", 2, (1, "clients"), 5), Fault("cut", 3)]
    net.put(*wanted)
    assert net.faults() == wanted


def test_the_program_says_why_it_cannot_start(tmp_path):
    token = tmp_path / "token"
    token.write_text("secret")
    with socket.create_server((ports.HOST, 0)) as taken:
        port = taken.getsockname()[1]
        words = [
            sys.executable,
            "-I",
            "-S",
            str(links.PROGRAM),
            "mark",
            str(port),
            str(token),
            f"{port}:1:1:CLIENT",
        ]
        done = subprocess.run(words, capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 1
    assert "address already in use" in done.stderr
