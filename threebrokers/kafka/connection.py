"""Asking brokers over Kafka's own protocol, all at once, and never for longer than is said.

confluent-kafka asks whichever broker it likes, and waits for one that is paused. Here every address has
a connection of its own. The messages are kafka-python's, generated from Kafka's own descriptions.
"""

import selectors
import socket
import ssl
import struct
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

CLIENT_ID = "threebrokers-watch"
# A poll has mostly the responses of the poll before: one for each broker is kept, and not decoded again.
KEPT_RESPONSES = 4
# One that was silent is asked again after this time, so that it delays few polls.
BACKOFF_SECONDS = 0.6


@dataclass(frozen=True)
class Request:
    """What is asked, the class of its response, and the version of both.

    It may be asked again and again: it is encoded once, and equal bytes give the same response.
    """

    message: Any
    response: Any
    version: int

    def framed(self, correlation_id: int) -> bytes:
        """Return what is sent."""
        return self._frame[:8] + struct.pack(">i", correlation_id) + self._frame[12:]

    @cached_property
    def _frame(self) -> bytes:
        # Size (4 bytes), API key and version (2 each), correlation id (4): the same in every version.
        self.message.API_VERSION = self.version
        self.message.with_header(correlation_id=0, client_id=CLIENT_ID)
        return bytes(self.message.encode(version=self.version, header=True, framed=True))

    @cached_property
    def decoded(self) -> Callable[[bytes], Any]:
        """Return a response from its bytes; nobody changes it. Raises ValueError or IndexError."""

        def decode(payload: bytes) -> Any:
            return self.response.decode(payload, version=self.version, header=True)

        return lru_cache(KEPT_RESPONSES)(decode)


@dataclass
class _Connection:
    """A connection: what is to be sent on it, what was asked, and the bytes that came so far."""

    socket: socket.socket
    asked: Sequence[Request]
    unsent: bytes
    responses: list[Any] = field(default_factory=list)
    received: bytearray = field(default_factory=bytearray)

    @property
    def whole(self) -> bool:
        """Whether all responses have come."""
        return len(self.responses) == len(self.asked)

    @property
    def waits_for(self) -> int:
        """What must be possible before it can go on, as a selector names it."""
        return selectors.EVENT_WRITE if self.unsent else selectors.EVENT_READ

    def go_on(self) -> None:
        """Send or receive what can be without waiting. Raises OSError if the other end is gone."""
        try:
            if self.unsent:
                self.unsent = self.unsent[self.socket.send(self.unsent) :]
            else:
                self._receive()
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return  # a part of a TLS record: the rest of it comes

    def _receive(self) -> None:
        came = self.socket.recv(1 << 18)
        if not came:
            raise ConnectionResetError
        self.received += came
        # A selector does not see what TLS has read already.
        while isinstance(self.socket, ssl.SSLSocket) and (left := self.socket.pending()):
            self.received += self.socket.recv(left)
        while len(self.received) >= 4:
            size = struct.unpack_from(">i", self.received)[0]
            if len(self.received) < 4 + size:
                return
            request = self.asked[len(self.responses)]
            payload = bytes(self.received[4 : 4 + size])
            self.responses.append(request.decoded(payload))
            del self.received[: 4 + size]


class Connections:
    """Open connections to brokers, by address ("host:port"). Used by one thread.

    With `enter`, which may take a while and raises LabError, each is opened by that in a thread of its own.
    """

    def __init__(self, enter: Callable[[str], socket.socket] | None = None) -> None:
        self._sockets: dict[str, socket.socket] = {}
        self._rest_until: dict[str, float] = {}
        self._enter = enter
        self._entering: dict[str, Future[socket.socket]] = {}

    def ask(self, requests: Mapping[str, Sequence[Request]], within: float) -> dict[str, list[Any]]:
        """Return the responses, in order, of each address that gave all of them within so many seconds."""
        end = time.monotonic() + within
        opened: dict[str, _Connection] = {}
        self._enter_all(requests, within)
        try:
            with selectors.DefaultSelector() as selector:
                for address, asked in requests.items():
                    if connection := self._open(address, asked):
                        opened[address] = connection
                        selector.register(connection.socket, connection.waits_for, address)
                while selector.get_map() and (left := end - time.monotonic()) > 0:
                    for key, _ in selector.select(left):
                        self._go_on(selector, key.data, opened[key.data])
        finally:
            # Also after Ctrl-C: a response that comes later must not be taken for that of another request.
            for address, connection in opened.items():
                if not connection.whole and self._sockets.get(address) is connection.socket:
                    self._drop(address, BACKOFF_SECONDS)
        return {address: of.responses for address, of in opened.items() if of.whole}

    def close(self) -> None:
        """Close all connections."""
        for address in list(self._sockets):
            self._drop(address, 0)
        for future in self._entering.values():
            future.add_done_callback(_closed)
        self._entering.clear()

    def _enter_all(self, addresses: Iterable[str], within: float) -> None:
        """Begin to open what is missing, and take what is open by the end; the rest goes on meanwhile."""
        if self._enter is None:
            return
        missing, is_any_in = [], False
        for address in addresses:
            kept, resting = self._sockets.get(address), time.monotonic() < self._rest_until.get(address, 0)
            if kept and _usable(kept):
                is_any_in = True
            elif not resting:
                self._drop(address, 0)
                missing.append(address)
        new = [address for address in missing if address not in self._entering]
        if new:
            pool = ThreadPoolExecutor(len(new), thread_name_prefix="threebrokers-enter")
            self._entering |= {address: pool.submit(self._enter, address) for address in new}
            pool.shutdown(wait=False)
        # Those who are in do not wait for one that is silent, and the first to come have time to answer.
        wait([self._entering[address] for address in missing], within / (4 if is_any_in else 2))
        for address, future in list(self._entering.items()):
            if future.done():
                del self._entering[address]
                if future.exception() is None:
                    self._sockets[address] = future.result()
                else:
                    self._rest_until[address] = time.monotonic() + BACKOFF_SECONDS

    def _open(self, address: str, asked: Sequence[Request]) -> _Connection | None:
        if time.monotonic() < self._rest_until.get(address, 0):
            return None
        kept = self._sockets.get(address)
        if self._enter is not None and kept is None:
            return None
        # A connection that was kept may have been closed by a broker that was started anew meanwhile.
        if kept is None or (self._enter is None and not _usable(kept)):
            self._drop(address, 0)
            kept = self._connecting(address)
        return _Connection(kept, asked, b"".join(request.framed(n) for n, request in enumerate(asked)))

    def _go_on(self, selector: selectors.BaseSelector, address: str, connection: _Connection) -> None:
        try:
            connection.go_on()
        except (OSError, ValueError, IndexError):
            selector.unregister(connection.socket)
            self._drop(address, 0)
            return
        if connection.whole:
            selector.unregister(connection.socket)
        else:
            selector.modify(connection.socket, connection.waits_for, address)

    def _connecting(self, address: str) -> socket.socket:
        """Return a socket that begins to connect; what becomes of it is seen when something is sent."""
        host, _, port = address.rpartition(":")
        family, kind, protocol, _, place = socket.getaddrinfo(host, int(port), type=socket.SOCK_STREAM)[0]
        # Known before it is used: the end of a check's time, or Ctrl-C, may come at any moment.
        made = self._sockets[address] = socket.socket(family, kind, protocol)
        made.setblocking(False)
        made.connect_ex(place)
        return made

    def _drop(self, address: str, rest: float) -> None:
        self._rest_until[address] = time.monotonic() + rest
        if kept := self._sockets.get(address):
            kept.close()  # and forgotten only then: see `_connecting`
            del self._sockets[address]


def _usable(kept: socket.socket) -> bool:
    """Tell whether a connection on which nothing is expected is still open."""
    try:
        if isinstance(kept, ssl.SSLSocket):  # it cannot peek; a byte that nobody asked for is lost with it
            kept.recv(1)
        else:
            kept.recv(1, socket.MSG_PEEK)
    except (BlockingIOError, ssl.SSLWantReadError):
        return True
    except OSError:
        return False
    return False  # the other end has closed it


def _closed(entered: "Future[socket.socket]") -> None:
    if not entered.cancelled() and entered.exception() is None:
        entered.result().close()
