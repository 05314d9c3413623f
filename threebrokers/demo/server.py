"""The page of a demo, on this machine only: its files, a stream of what is to be shown, and the keys."""

import hmac
import json
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from threebrokers.demo import page

HOST = "127.0.0.1"
NEWS_SECONDS = 2.0  # so often a page hears that the demo still runs
FEW_BYTES = 1000
POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'"
Sent = dict[str, Any]


class News:
    """The latest scene and the latest frame; pages wait for what they have not seen."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._latest: dict[str, tuple[int, str]] = {}
        self._count, self.over = 0, False

    def tell(self, kind: str, value: Any) -> None:
        """Let every page know: `kind` is "scene" or "frame"."""
        with self._changed:
            self._count += 1
            self._latest[kind] = (self._count, json.dumps(value))
            self._changed.notify_all()

    def end(self) -> None:
        """Let every page go."""
        with self._changed:
            self.over = True
            self._changed.notify_all()

    def after(self, seen: int) -> tuple[int, dict[str, str]]:
        """Return a number for "seen all until now", and what is newer than `seen`; waits 2 s at most."""
        with self._changed:
            self._changed.wait_for(lambda: self.over or self._count > seen, NEWS_SECONDS)
            newer = {kind: text for kind, (count, text) in self._latest.items() if count > seen}
            return self._count, newer


class Server:
    """Serves one demo until it is closed; `pressed` is called with the name of a key.

    Only who knows the token sees the demo or presses a key: the port is open to all users of the machine.
    """

    def __init__(self, title: str, pressed: Callable[[str], None]) -> None:
        self.news, self.token = News(), secrets.token_urlsafe(24)
        self.title, self.pressed = title, pressed
        self._http = _Http((HOST, 0), _Handler)
        self._http.demo = self
        self.port: int = self._http.server_address[1]
        self._thread = threading.Thread(target=self._http.serve_forever, daemon=True, name="demo page")
        self._thread.start()

    @property
    def address(self) -> str:
        """What is opened in a browser."""
        return f"http://{HOST}:{self.port}/?token={self.token}"

    def close(self) -> None:
        """End it, and let the pages know."""
        self.news.end()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    demo: Server


class _Handler(BaseHTTPRequestHandler):
    server: _Http
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Send the page, one of its files, or the stream of news."""
        asked = urlsplit(self.path)
        if not self._local():
            self._refuse("this page is for this machine only")
        elif asked.path in page.FILES:
            self._send(page.FILES[asked.path].read_bytes(), page.kind_of(asked.path))
        elif not self._knows_token(parse_qs(asked.query).get("token", [""])[0]):
            self._refuse("open the address that the terminal shows, with its token")
        elif asked.path == "/":
            self._send(page.html(self.server.demo.title).encode(), "text/html")
        elif asked.path == "/news":
            self._stream()
        else:
            self._refuse("there is no such page", HTTPStatus.NOT_FOUND)

    def do_POST(self) -> None:
        """Press a key."""
        length = self.headers.get("Content-Length", "")
        told = self.rfile.read(int(length)) if length.isdecimal() and int(length) < FEW_BYTES else b""
        if not self._local() or not self._knows_token(self.headers.get("X-Token", "")):
            self._refuse("open the address that the terminal shows, with its token")
            return
        self.server.demo.pressed(told.decode("utf-8", "replace"))
        self._send(b"", "text/plain")

    def log_message(self, format: str, *words: object) -> None:  # noqa: A002
        """Say nothing: the terminal is the speaker's."""

    def _local(self) -> bool:
        """Tell whether the page was asked for by its own name: another name may lead here, too."""
        return self.headers.get("Host", "") in (
            f"{HOST}:{self.server.demo.port}",
            f"localhost:{self.server.demo.port}",
        )

    def _knows_token(self, told: str) -> bool:
        return hmac.compare_digest(told.encode(), self.server.demo.token.encode())

    def _stream(self) -> None:
        self.close_connection = True
        self._head(HTTPStatus.OK, "text/event-stream")
        with suppress(OSError):  # the page has gone
            for text in _events(self.server.demo.news):
                self.wfile.write(text.encode())
                self.wfile.flush()

    def _send(self, content: bytes, kind: str, status: HTTPStatus = HTTPStatus.OK) -> None:
        self._head(status, kind, len(content))
        with suppress(OSError):
            self.wfile.write(content)

    def _refuse(self, why: str, status: HTTPStatus = HTTPStatus.FORBIDDEN) -> None:
        self.close_connection = True
        self._send(f"{why[0].upper()}{why[1:]}.".encode(), "text/plain", status)

    def _head(self, status: HTTPStatus, kind: str, length: int | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()


def _events(news: News) -> Iterator[str]:
    """Yield news as a browser's EventSource reads them; a line without news says that the demo runs."""
    seen = 0
    while not news.over:
        seen, newer = news.after(seen)
        yield "".join(f"event: {kind}\ndata: {text}\n\n" for kind, text in newer.items()) or ": it runs\n\n"
    yield "event: over\ndata: {}\n\n"
