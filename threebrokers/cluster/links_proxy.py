"""The links between brokers and clients: a process that carries every byte, and can stop doing so.

Run as a program, with Python's own library only, so that it starts at once and stays small:
`links_proxy.py MARK CONTROL TOKEN PORT:TARGET:BROKER:LISTENER …`. It obeys lines of JSON at its control
port if they name the token in the file TOKEN; MARK is a word by which it is found.
"""

import asyncio
import hmac
import json
import re
import resource
import sys
from collections import deque
from pathlib import Path
from typing import Any

HOST = "127.0.0.1"
CLIENTS, UNKNOWN = "client", "broker"
# Kafka 4.3's own client ids, as they were heard. Between brokers: broker-1-fetcher-0 (copies records),
# broker-1-txn-marker-sender, AddPartitionsManager-client-1. To controllers: raft-client-1 (copies metadata)
# and the bare number (heartbeats, changes of the ISR).
BROKER_IDS = {
    "REPL": re.compile(r"(?:.*?-)?(\d+)(?:-.*)?"),
    "CONTROLLER": re.compile(r"(?:raft-client-)?(\d+)"),
}
HEAD = 14  # bytes before the client id: length, API key, version, correlation id, length of the client id
ORDER_SECONDS = 10.0  # for one order; whoever says less is sent away
FILES = 4096  # each connection takes two; macOS gives a program 256 unless it asks
HELD_BYTES = 1 << 20  # in each direction of a slow or stalled connection; then the sender has to wait


def client_id(data: bytes) -> str | None:
    """Return the client id in a connection's first bytes; None while it is not complete."""
    if len(data) < HEAD:
        return None
    length = max(0, int.from_bytes(data[HEAD - 2 : HEAD], "big", signed=True))  # -1: none was given
    return data[HEAD : HEAD + length].decode("utf-8", "replace") if len(data) >= HEAD + length else None


def source_of(listener: str, told: str) -> str:
    """Return who speaks: a broker's number, 'broker' if it does not say which, or 'client'.

    Only brokers know the listener REPL. Kafka's tools may ask CONTROLLER too.
    """
    number = BROKER_IDS[listener].fullmatch(told) if listener in BROKER_IDS else None
    return number[1] if number else UNKNOWN if listener == "REPL" else CLIENTS


class Network:
    """All connections, and what happens on each link: 'cut', 'stall' or 'slow', with delays (ms) each way."""

    def __init__(self) -> None:
        self.faults: list[Any] = []
        self.effects: dict[str, tuple[str, float, float]] = {}
        self.open: set[Connection] = set()
        self.heard: set[tuple[str, str]] = set()

    def obey(self, order: dict[str, Any]) -> dict[str, Any]:
        """Answer one order: take new faults, if it brings any, and tell what holds now."""
        if "faults" in order:
            effects = order["effects"].items()
            self.effects = {
                str(link): (str(e), float(there), float(back)) for link, (e, there, back) in effects
            }
            self.faults = list(order["faults"])
            for connection in list(self.open):
                connection.look()
        return {"faults": self.faults, "open": len(self.open), "heard": sorted(self.heard)}


class Side(asyncio.Protocol):
    """One side of a connection. What it receives waits here until the link lets it pass."""

    def __init__(self, connection: "Connection") -> None:
        self.connection = connection
        self.transport: Any = None
        self.other: Side | None = None
        self.waiting: deque[tuple[float, bytes]] = deque()
        self.held = 0
        self.alarm: asyncio.TimerHandle | None = None
        self.congested = False

    def connection_made(self, transport: Any) -> None:
        """Begin."""
        self.transport = transport
        self.connection.made(self)

    def data_received(self, data: bytes) -> None:
        """Pass on what came: at once, if nothing hinders it."""
        if self.other and not self.waiting and not self.connection.effect and self.connection.known:
            self.other.transport.write(data)
        else:
            self.keep(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Keep the end too: a network that passes nothing on does not pass that on either."""
        self.keep(b"")

    def pause_writing(self) -> None:
        """Let the other side's sender wait: this side does not take more for now."""
        self.congested = True
        self.settle_other()

    def resume_writing(self) -> None:
        """Let the other side's sender go on."""
        self.congested = False
        self.settle_other()

    def keep(self, data: bytes) -> None:
        """Let this wait for its time; no bytes mean the end."""
        _, there, back = self.connection.effect or ("", 0.0, 0.0)
        delay = there if self is self.connection.near else back
        self.waiting.append((asyncio.get_running_loop().time() + delay / 1000, data))
        self.held += len(data)
        if not self.connection.known and not self.connection.identify(self):
            return
        self.pass_on()

    def pass_on(self) -> None:
        """Pass on what may go now."""
        now = asyncio.get_running_loop().time()
        while self.other and self.waiting and not self.connection.stalled:
            due, data = self.waiting[0]
            if due > now:
                if self.alarm is None:
                    self.alarm = asyncio.get_running_loop().call_at(due, self.ring)
                break
            self.waiting.popleft()
            self.held -= len(data)
            if data:
                self.other.transport.write(data)
            else:
                self.connection.close()
        self.settle()

    def ring(self) -> None:
        """Go on at the time that was waited for."""
        self.alarm = None
        self.pass_on()

    def settle(self) -> None:
        """Read on, or not: no more is taken than can be held."""
        if self.held > HELD_BYTES or (self.other and self.other.congested):
            self.transport.pause_reading()
        else:
            self.transport.resume_reading()

    def settle_other(self) -> None:
        """See whether the other side may read on."""
        if self.other:
            self.other.settle()


class Connection:
    """Two sides: near is who called, far is the broker that was called."""

    def __init__(self, network: Network, port: int, broker: str, listener: str) -> None:
        self.network, self.port, self.broker, self.listener = network, port, broker, listener
        self.near, self.far = Side(self), Side(self)
        self.source = CLIENTS if listener == "CLIENT" else ""
        self.effect: tuple[str, float, float] | None = None
        self.calling: asyncio.Task[None] | None = None

    @property
    def known(self) -> bool:
        """Whether it is known who called."""
        return bool(self.source)

    @property
    def stalled(self) -> bool:
        """Whether nothing passes, though the connection stands."""
        return not self.known or bool(self.effect and self.effect[0] == "stall")

    def made(self, side: Side) -> None:
        """Take in a side that is connected now."""
        if side is self.near:
            self.network.open.add(self)
            self.calling = asyncio.get_running_loop().create_task(self.call())
            self.look()
        else:
            self.near.other, self.far.other = self.far, self.near
            self.near.pass_on()

    async def call(self) -> None:
        """Call the broker; if it does not answer, the caller learns that."""
        try:
            await asyncio.get_running_loop().create_connection(lambda: self.far, HOST, self.port)
        except OSError:
            self.close(abort=True)

    def identify(self, side: Side) -> bool:
        """Tell whether it is known by now who called; only the caller's first bytes say that."""
        if side is self.near and not all(data for _, data in side.waiting):
            self.close(abort=True)  # it left without a word
        told = client_id(b"".join(data for _, data in self.near.waiting))
        if told is not None:
            self.source = source_of(self.listener, told)
            self.network.heard.add((self.listener, told))
            self.look()
        return self.known

    def look(self) -> None:
        """See what holds for this link now."""
        self.effect = self.network.effects.get(f"{self.source}>{self.broker} {self.listener}")
        if self.effect and self.effect[0] == "cut":
            self.close(abort=True)
        elif self.known:
            for side in (self.near, self.far):
                if side.transport:
                    side.pass_on()

    def close(self, abort: bool = False) -> None:
        """End both sides; what was passed on before still arrives, unless it is to be broken off."""
        self.network.open.discard(self)
        for side in (self.near, self.far):
            side.waiting.clear()
            if side.transport:
                (side.transport.abort if abort else side.transport.close)()
        if self.calling and abort:
            self.calling.cancel()


async def obey(
    network: Network, token: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Answer orders, a line each, until one is none, or does not name the token; that ends this call only."""
    try:
        while line := await asyncio.wait_for(reader.readline(), ORDER_SECONDS):
            order = json.loads(line)
            if not hmac.compare_digest(str(order["token"]).encode(), token.encode()):
                break
            writer.write(json.dumps(network.obey(order)).encode() + b"\n")
            await writer.drain()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, TimeoutError, ConnectionError):
        pass
    finally:
        writer.close()


def want_files() -> None:
    """Ask the system for as many open files as links may need."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


async def main(control: str, file: str, ways: list[str]) -> None:
    """Listen at all ports until the process is ended."""
    token = Path(file).read_text("ascii")
    if not token:  # the disk was full
        sys.exit(f"{file} is empty")
    network, loop = Network(), asyncio.get_running_loop()
    for way in ways:
        port, target, broker, listener = way.split(":")

        def meet(port: int = int(target), broker: str = broker, listener: str = listener) -> Side:
            return Connection(network, port, broker, listener).near

        await loop.create_server(meet, HOST, int(port))
    # Last: who reaches this port may rely on all others.
    server = await asyncio.start_server(lambda r, w: obey(network, token, r, w), HOST, int(control))
    await server.serve_forever()


if __name__ == "__main__":
    want_files()
    asyncio.run(main(sys.argv[2], sys.argv[3], sys.argv[4:]))
