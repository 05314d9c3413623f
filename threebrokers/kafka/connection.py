"""Asking brokers over Kafka's own protocol, all at once, and never for longer than is said.

confluent-kafka asks whichever broker it likes, and waits for one that is paused. Here every address has
a connection of its own. The messages are kafka-python's, generated from Kafka's own descriptions.
"""

import selectors
import socket
import struct
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

CLIENT_ID = "threebrokers-watch"
CONNECT_SECONDS = 0.1
# One that was silent is asked again after this time, so that it delays few looks.
REST_SECONDS = 0.7


@dataclass(frozen=True)
class Question:
    """A request, the class of its answer, and the version of both."""

    request: Any
    answer: Any
    version: int


@dataclass
class _Line:
    """A connection: what was asked on it and not answered yet, and the bytes that came so far."""

    socket: socket.socket
    asked: list[Question]
    answers: list[Any] = field(default_factory=list)
    bytes: bytearray = field(default_factory=bytearray)

    def take(self) -> None:
        """Read what has come and decode every whole answer. Raises OSError if the other end is gone."""
        came = self.socket.recv(1 << 18)
        if not came:
            raise ConnectionResetError
        self.bytes += came
        while len(self.bytes) >= 4:
            size = struct.unpack_from(">i", self.bytes)[0]
            if len(self.bytes) < 4 + size:
                return
            question = self.asked[len(self.answers)]
            whole = bytes(self.bytes[4 : 4 + size])
            self.answers.append(question.answer.decode(whole, version=question.version, header=True))
            del self.bytes[: 4 + size]


class Wire:
    """Open connections to brokers, by address ("host:port"). Used by one thread."""

    def __init__(self) -> None:
        self._sockets: dict[str, socket.socket] = {}
        self._rest_until: dict[str, float] = {}

    def ask(self, questions: Mapping[str, Sequence[Question]], within: float) -> dict[str, list[Any]]:
        """Return the answers, in order, of each address that gave all of them within so many seconds."""
        end = time.monotonic() + within
        lines = {
            address: line for address, asked in questions.items() if (line := self._send(address, asked))
        }
        waiting = dict(lines)
        with selectors.DefaultSelector() as selector:
            for address, line in lines.items():
                selector.register(line.socket, selectors.EVENT_READ, address)
            while waiting and (left := end - time.monotonic()) > 0:
                for key, _ in selector.select(left):
                    line = lines[key.data]
                    try:
                        line.take()
                    except (OSError, ValueError, IndexError):
                        self._drop(key.data, 0)
                    if len(line.answers) == len(line.asked) or key.data not in self._sockets:
                        selector.unregister(key.fileobj)
                        waiting.pop(key.data)
        for address in waiting:
            self._drop(address, REST_SECONDS)
        return {a: line.answers for a, line in lines.items() if len(line.answers) == len(line.asked)}

    def close(self) -> None:
        """Close all connections."""
        for address in list(self._sockets):
            self._drop(address, 0)

    def _send(self, address: str, asked: Sequence[Question]) -> _Line | None:
        if time.monotonic() < self._rest_until.get(address, 0):
            return None
        whole = b"".join(_encoded(question, number) for number, question in enumerate(asked))
        # A connection that was kept may have been closed by a broker that was started anew meanwhile.
        for _ in range(2 if address in self._sockets else 1):
            try:
                if address not in self._sockets:
                    host, _, port = address.rpartition(":")
                    self._sockets[address] = socket.create_connection((host, int(port)), CONNECT_SECONDS)
                self._sockets[address].sendall(whole)
                return _Line(self._sockets[address], list(asked))
            except TimeoutError:
                self._drop(address, REST_SECONDS)
                return None
            except OSError:
                self._drop(address, 0)
        return None

    def _drop(self, address: str, rest: float) -> None:
        self._rest_until[address] = time.monotonic() + rest
        if kept := self._sockets.pop(address, None):
            kept.close()


def _encoded(question: Question, number: int) -> bytes:
    question.request.API_VERSION = question.version
    question.request.with_header(correlation_id=number, client_id=CLIENT_ID)
    return bytes(question.request.encode(version=question.version, header=True, framed=True))
