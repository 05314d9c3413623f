"""Jars: fetched once, verified, never half there, and every fault in one sentence."""

import errno
import hashlib
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import requests

from threebrokers.cluster import download, jars, lockfile
from threebrokers.errors import LabError
from threebrokers.waiting import quiet_wait

CONTENT = {f"part-{n}": f"the classes of part {n}".encode() * 1000 for n in range(4)}


@dataclass
class Mirror:
    """A Maven repository on this machine, and how it misbehaves."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    asked: Counter[str] = field(default_factory=Counter)
    cut: set[str] = field(default_factory=set)  # files that end too early, until they are taken out
    silent: threading.Event = field(default_factory=threading.Event)
    busy: int = 0  # so many requests are told to come again later
    later: str = "0"  # in so many seconds
    connections: int = 0


class Patient(ThreadingHTTPServer):
    """A server that is used to clients that hang up: a download is broken off when another one fails."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A mirror with four jars, a lock file that names them, and an empty cache."""
    state = Mirror(files={f"/org/test/{a}/1.0/{a}-1.0.jar": body for a, body in CONTENT.items()})
    state.silent.set()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # keeps connections

        def setup(self) -> None:
            state.connections += 1
            super().setup()

        def do_GET(self) -> None:
            state.asked[self.path] += 1
            state.silent.wait()
            if state.busy > 0:
                state.busy -= 1
                self.send_response(429)
                self.send_header("Retry-After", state.later)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            body = state.files.get(self.path)
            if body is None:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[:100] if self.path in state.cut else body)
            self.close_connection |= self.path in state.cut

        def log_message(self, *_: Any) -> None:
            pass

    server = Patient(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("THREEBROKERS_MAVEN", state.url)
    monkeypatch.setenv("THREEBROKERS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    lock = tmp_path / "jars.lock"
    lines = [
        f'{{ jar = "org.test:{a}:1.0", size = {len(b)}, sha256 = "{hashlib.sha256(b).hexdigest()}" }},'
        for a, b in CONTENT.items()
    ]
    lock.write_text("\n".join(["kafka = [", *lines, "]", "spark = []", ""]))
    monkeypatch.setattr(lockfile, "LOCK", lock)
    yield state
    state.silent.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "jars"


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {".lock", "verified.json"}


ALL = {f"{a}-1.0.jar" for a in CONTENT}
FIRST = "/org/test/part-0/1.0/part-0-1.0.jar"


def test_the_jars_come_in_the_order_of_the_lock(mirror: Mirror, folder: Path):
    found = jars.kafka_jars()
    assert [path.name for path in found] == [f"{a}-1.0.jar" for a in CONTENT]
    assert [path.read_bytes() for path in found] == list(CONTENT.values())
    assert names_in(folder) == ALL
    assert jars.unsound("kafka") == []


def test_the_second_time_asks_nobody_and_reads_no_jar(mirror: Mirror, monkeypatch: pytest.MonkeyPatch):
    jars.kafka_jars()
    mirror.asked.clear()
    monkeypatch.setattr(hashlib, "file_digest", None)
    assert len(jars.kafka_jars()) == 4
    assert not mirror.asked


def test_only_what_is_missing_is_fetched(mirror: Mirror, folder: Path):
    jars.kafka_jars()
    mirror.asked.clear()
    (folder / "part-2-1.0.jar").unlink()
    jars.kafka_jars()
    assert [path for path in mirror.asked if path.endswith(".jar")] == ["/org/test/part-2/1.0/part-2-1.0.jar"]


@pytest.mark.parametrize(
    "damage", [CONTENT["part-0"][:50], CONTENT["part-0"][:-1] + b"?"], ids=["half", "changed"]
)
def test_a_damaged_file_does_not_count(mirror: Mirror, folder: Path, damage: bytes):
    folder.mkdir(parents=True)
    (folder / "part-0-1.0.jar").write_bytes(damage)
    assert jars.kafka_jars()[0].read_bytes() == CONTENT["part-0"]


def test_verify_finds_damage_that_size_and_time_hide(mirror: Mirror, folder: Path):
    path = jars.kafka_jars()[0]
    before = path.stat()
    path.write_bytes(CONTENT["part-0"][:-1] + b"?")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert jars.unsound("kafka") == [path.name]
    assert jars.kafka_jars(verify=True)[0].read_bytes() == CONTENT["part-0"]


def test_a_wrong_file_is_named_and_removed(mirror: Mirror, folder: Path):
    mirror.files[FIRST] = mirror.files[FIRST].replace(b"classes", b"viruses")
    with pytest.raises(
        LabError, match=r"^part-0-1\.0\.jar from the mirror .* was removed: .*THREEBROKERS_MAVEN"
    ):
        jars.kafka_jars()
    assert "part-0-1.0.jar" not in names_in(folder)
    assert names_in(folder) <= ALL


def test_a_file_without_an_end_is_broken_off(mirror: Mirror, monkeypatch: pytest.MonkeyPatch):
    whole, taken = len(mirror.files[FIRST]), []
    mirror.files[FIRST] *= 100
    give = requests.Response.iter_content

    def counted(answer: requests.Response, size: int) -> Iterator[bytes]:
        for piece in give(answer, 1024):
            if FIRST in answer.url:
                taken.append(len(piece))
            yield piece

    monkeypatch.setattr(requests.Response, "iter_content", counted)
    with pytest.raises(LabError, match=r"^part-0-1\.0\.jar from the mirror .* was removed"):
        jars.kafka_jars()
    assert whole < sum(taken) <= whole + 1024


def test_a_cut_download_is_tried_again_and_then_told(mirror: Mirror, folder: Path):
    mirror.cut.add(FIRST)
    with pytest.raises(LabError, match=r"^part-0-1\.0\.jar could not be fetched .* what has arrived is kept"):
        jars.kafka_jars()
    assert mirror.asked[FIRST] == download.TRIES
    assert "part-0-1.0.jar" not in names_in(folder)
    mirror.cut.clear()
    assert len(jars.kafka_jars()) == 4


def test_a_jar_that_the_mirror_lacks_is_named(mirror: Mirror, folder: Path):
    del mirror.files[FIRST]
    with pytest.raises(LabError, match=r"^part-0-1\.0\.jar was refused by the mirror"):
        jars.kafka_jars()
    assert names_in(folder) <= ALL


def test_a_mirror_that_is_busy_is_asked_again(mirror: Mirror, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(download, "THREADS", 1)
    mirror.busy = 3
    assert len(jars.kafka_jars()) == 4
    assert sum(mirror.asked.values()) == 4 + 3


def test_a_mirror_that_wants_to_be_left_alone_for_hours_is_asked_again_soon(
    mirror: Mirror, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(download, "THREADS", 1)
    monkeypatch.setattr(download, "LATER_SECONDS", 0.6)
    mirror.busy, mirror.later = 2, "7200"
    assert len(jars.kafka_jars()) == 4
    assert capsys.readouterr().out.count("Waiting 1 s, as the mirror http://") == 1


@pytest.mark.parametrize("later", ["0", "soon", "Fri, 31 Dec 99999 23:59:59 GMT"])
def test_a_mirror_that_is_busy_each_time_is_told(mirror: Mirror, monkeypatch: pytest.MonkeyPatch, later: str):
    monkeypatch.setattr(download, "THREADS", 1)
    mirror.busy, mirror.later = 1000, later
    with pytest.raises(LabError, match=r"is asked too often from your network: try again in some minutes"):
        jars.kafka_jars()
    assert mirror.asked[FIRST] == download.TURNS


def test_an_interrupt_ends_the_wait_for_a_busy_mirror(mirror: Mirror, monkeypatch: pytest.MonkeyPatch):
    mirror.busy, mirror.later = 1000, "7200"

    def interrupted(*_: Any, **__: Any) -> None:
        assert quiet_wait(lambda: mirror.busy < 1000, 10)
        raise KeyboardInterrupt

    monkeypatch.setattr(download, "wait", interrupted)
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        jars.kafka_jars()
    assert time.monotonic() - began < download.LATER_SECONDS / 2


def test_a_connection_is_used_again(mirror: Mirror, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(download, "THREADS", 1)
    jars.kafka_jars()
    assert mirror.connections == 1


def test_no_network(mirror: Mirror, folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("THREEBROKERS_MAVEN", "http://127.0.0.1:1")
    with pytest.raises(LabError, match="look at your network or proxy and try again"):
        jars.kafka_jars()
    assert names_in(folder) == set()


def test_a_network_that_opens_encrypted_connections(
    mirror: Mirror, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    def refused(*_: object, **__: object) -> None:
        raise requests.exceptions.SSLError("self-signed certificate in certificate chain")

    monkeypatch.setattr(requests.Session, "request", refused)
    with pytest.raises(LabError, match=r"certificate that is not trusted here.* REQUESTS_CA_BUNDLE"):
        jars.kafka_jars()
    assert list(folder.glob("*.jar")) == []


def test_a_network_that_is_silent(mirror: Mirror, folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(download, "TIMEOUT", 0.1)
    mirror.silent.clear()
    with pytest.raises(LabError, match="look at your network or proxy"):
        jars.kafka_jars()
    assert names_in(folder) == set()


def test_a_full_disk(mirror: Mirror, folder: Path, monkeypatch: pytest.MonkeyPatch):
    whole = Path.open

    def full(path: Path, *mode: Any, **more: Any) -> Any:
        if path.suffix == ".jar":
            path.touch()
            raise OSError(errno.ENOSPC, "No space left on device")
        return whole(path, *mode, **more)

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(LabError, match=r"\(the disk is full\): free some space, or set THREEBROKERS_CACHE"):
        jars.kafka_jars()
    assert names_in(folder) == set()


def test_a_cache_that_cannot_be_written(mirror: Mirror, folder: Path):
    folder.parent.mkdir()
    folder.write_text("not a folder")
    with pytest.raises(LabError, match=r"^Cannot write to .*THREEBROKERS_CACHE"):
        jars.kafka_jars()


def test_what_a_killed_process_left_is_swept_away(mirror: Mirror, folder: Path):
    (folder / ".part-killed").mkdir(parents=True)
    (folder / ".part-killed" / "half.jar").write_bytes(b"half")
    jars.kafka_jars()
    assert names_in(folder) == ALL


def test_two_at_once_fetch_each_jar_once(mirror: Mirror, folder: Path):
    mirror.silent.clear()
    with ThreadPoolExecutor() as pool:
        runs = [pool.submit(jars.kafka_jars) for _ in range(2)]
        mirror.silent.set()
        assert [len(run.result()) for run in runs] == [4, 4]
    assert {n for path, n in mirror.asked.items() if path.endswith(".jar")} == {1}
    assert names_in(folder) == ALL


@pytest.mark.parametrize("variable", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_certificates_that_are_not_there(mirror: Mirror, monkeypatch: pytest.MonkeyPatch, variable: str):
    monkeypatch.delenv("REQUESTS_CA_BUNDLE", raising=False)
    monkeypatch.setenv(variable, "/nowhere/ours.pem")
    assert len(jars.kafka_jars()) == 4  # without encryption nobody asks for them
    monkeypatch.setenv("THREEBROKERS_MAVEN", "https://127.0.0.1:1")
    monkeypatch.setenv("THREEBROKERS_CACHE", str(lockfile.LOCK.parent / "another cache"))
    with pytest.raises(
        LabError,
        match=rf"^{variable} names /nowhere/ours\.pem, which is not there: name the file .* or unset it",
    ):
        jars.kafka_jars()


@pytest.mark.parametrize("address", ["maven.example.com/x", "maven.example.com:8081/x", "file:///mirror"])
def test_a_mirror_without_its_beginning(mirror: Mirror, monkeypatch: pytest.MonkeyPatch, address: str):
    monkeypatch.setenv("THREEBROKERS_MAVEN", address)
    with pytest.raises(LabError, match=rf"^THREEBROKERS_MAVEN is {address}, .*: begin it with https://\.$"):
        jars.kafka_jars()
    assert not mirror.asked


def test_the_real_lock_names_each_file_once_and_no_address():
    text = lockfile.LOCK.read_text(encoding="utf-8")
    assert "://" not in text
    for group in ("kafka", "spark"):
        locked = lockfile.locked(group)
        assert len({jar.name for jar in locked}) == len(locked) > 3
        assert all(len(jar.sha256) == 64 and jar.size > 0 for jar in locked)
    assert [jar for jar in lockfile.locked("kafka") if jar.coordinates == "org.apache.kafka:kafka_2.13:4.3.1"]
