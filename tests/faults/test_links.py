"""The process that carries the links: it dies, it hangs, strangers call it; brokers go on."""

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from threebrokers.cluster import Cluster, links, ports, process, state_file, topics
from threebrokers.cluster.link_faults import Fault
from threebrokers.errors import LabError
from threebrokers.kafka.clients import Clients
from threebrokers.kafka.log_reader import read_log
from threebrokers.waiting import quiet_wait


def pids(cluster: Cluster) -> list[int | None]:
    return [process.pid for process in cluster.processes().values()]


def write_and_read(cluster: Cluster, home: Path, topic: str) -> None:
    """Write a record to each broker and read them all: clients and brokers reach each other."""
    topics.delete(cluster, [topic])
    topics.create(cluster, topic, 3, 3, {"min.insync.replicas": "3"}, ())
    clients = Clients(cluster.bootstrap, home)
    producer = clients.producer({"acks": "all", "message.timeout.ms": 20_000})
    for number in range(3):
        producer.produce(topic, str(number), partition=number)
    producer.flush()
    clients.close()
    assert len(list(read_log(cluster.bootstrap, topic))) == 3


@pytest.mark.fault("Links", "the process that carries the links is killed")
def test_a_killed_process(healthy, home, behaviour):
    before, known = pids(healthy), state_file.load(home).links
    healthy.slow(2, ms=5)
    psutil.Process(known.pid).kill()
    assert quiet_wait(lambda: not known.process(), 5)
    with pytest.raises(LabError, match="has ended, so nothing reaches them") as told:
        healthy.cut(2)
    assert healthy.up() == []
    assert pids(healthy) == before, "a broker was started again"
    assert state_file.load(home).links != known
    assert healthy.actions()[-1].kind == "heal", "a panel would show broken links for ever"
    write_and_read(healthy, home, "after-a-kill")
    behaviour("opening a lab, or `up`, starts another one; brokers go on", says=told.value)


@pytest.mark.fault("Links", "the process that carries the links is frozen (SIGSTOP)")
def test_a_frozen_process(healthy, home, behaviour, monkeypatch):
    before, known = pids(healthy), state_file.load(home).links
    healthy.slow(2, ms=5)
    psutil.Process(known.pid).suspend()
    monkeypatch.setattr(links, "ANSWER_SECONDS", 1.0)
    with pytest.raises(LabError, match=r"did not answer for 1 s: it may be frozen") as told:
        healthy.faults()
    monkeypatch.undo()
    assert healthy.up() == []
    assert pids(healthy) == before
    assert state_file.load(home).links == known, "it only had to go on"
    assert healthy.faults() == []
    write_and_read(healthy, home, "after-a-freeze")
    behaviour("opening a lab, or `up`, lets it go on; brokers go on and find each other", says=told.value)


@pytest.mark.fault("Links", "the process that carries the links hangs, and does not come back")
def test_a_hanging_process(healthy, home, behaviour, monkeypatch):
    """A frozen one that nobody wakes stands in for it."""
    before, known = pids(healthy), state_file.load(home).links
    send = process.send
    monkeypatch.setattr(process, "send", lambda who, signal: signal != "resume" and send(who, signal))
    monkeypatch.setattr(links, "ANSWER_SECONDS", 1.0)
    psutil.Process(known.pid).suspend()
    assert healthy.up() == []
    assert state_file.load(home).links != known
    assert not known.process()
    monkeypatch.undo()
    assert pids(healthy) == before
    write_and_read(healthy, home, "after-a-hang")
    behaviour("`up` waits 6 s, then puts another one in its place; brokers go on and find each other")


@pytest.mark.fault("Links", "the links' token is deleted or overwritten")
@pytest.mark.parametrize("damage", [None, b"", b"\xff\n{"])
def test_a_lost_token(healthy, home, behaviour, damage):
    token, before = home / "links.token", pids(healthy)
    token.unlink()
    if damage is not None:
        token.write_bytes(damage)
    with pytest.raises(LabError, match="gives this home no answer") as told:
        healthy.cut(2)
    assert healthy.up() == []
    assert pids(healthy) == before
    assert token.stat().st_mode & 0o777 == 0o600
    healthy.cut(2, from_="clients")
    healthy.heal()
    behaviour("opening a lab, or `up`, makes a new one and starts the links' process again", says=told.value)


@pytest.mark.fault("Links", "another user, or a web page, calls the port that takes orders for the links")
@pytest.mark.parametrize(
    "said",
    [
        b'POST / HTTP/1.1\r\n\r\n{"faults": [], "effects": {}}\n',
        b'{"faults": [], "effects": {}}\n',
        b'{"faults": [], "effects": {}, "token": "guessed"}\n',
        b'{"faults": [], "effects": {}, "token": ""}\n',
        b'{"faults": [], "effects": {}, "token": null}\n',
        b"[" * 60_000 + b"\n",
        b"x" * 200_000,
        b"\xff\x00\n",
        b"17\n",
        b"\n",
    ],
    ids=["http", "no token", "guessed", "empty", "null", "deep", "long", "bytes", "number", "blank"],
)
def test_strangers_at_the_port_for_orders(links_alone, behaviour, said):
    home, outside = links_alone
    wanted = [Fault("slow", 2, ("clients",), 5)]
    links.put(home, outside, wanted)
    with socket.create_connection((ports.HOST, ports.control(outside)), timeout=5) as stranger:
        try:
            stranger.sendall(said)
            assert stranger.recv(100) == b""
        except ConnectionError:  # it was sent away before it had said all
            pass
    assert links.faults(home, outside) == wanted, "others go on"
    behaviour("it is sent away without an answer; links and other calls go on")


@pytest.fixture(scope="module")
def links_alone(tmp_path_factory) -> Iterator[tuple[Path, ports.Ports]]:
    """The process that carries the links of a home without brokers."""
    home = tmp_path_factory.mktemp("home")
    outside = ports.claim(home)
    started = links.start(home, outside)
    yield home, outside
    process.end([started], 0)


@pytest.mark.fault("Links", "another user looks for the token of the links")
def test_the_token_is_this_users_alone(links_alone, behaviour):
    home, _ = links_alone
    token = home / "links.token"
    assert token.stat().st_mode & 0o777 == 0o600
    command = " ".join(links.find(home)[0].process().cmdline())
    assert token.read_text() not in command, "everybody can read a command line"
    behaviour("the file has mode 600, and the command line names only the file")


@pytest.mark.fault("Links", "two notebooks open labs at once, one that breaks links and one that does not")
def test_labs_with_and_without_links_leave_each_others_brokers_alone(healthy, home, behaviour):
    from threebrokers.lab.opening import open_lab

    before, told = pids(healthy), []

    def opened(number: str) -> None:
        try:
            for _ in range(2):
                open_lab(number)
        except LabError as fault:
            told.append(fault)

    both = [threading.Thread(target=opened, args=(number,)) for number in ("02", "04")]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert told == []
    assert pids(healthy) == before
    healthy.cut(2, from_="clients")
    healthy.heal()
    behaviour("no broker that runs is started again, and both labs open")
