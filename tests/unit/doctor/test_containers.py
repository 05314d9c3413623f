"""Docker that is missing, old, silent or poor: each is made to happen, and named with its cure."""

import http.server
import json
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from docker.transport import unixconn

from threebrokers.cluster import ports
from threebrokers.cluster.containers import PROJECT
from threebrokers.doctor import Finding, checks, containers, run

Fake = Callable[..., None]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("THREEBROKERS_CLUSTER", "compose")
    monkeypatch.setattr(checks, "running_homes", list)
    return tmp_path


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Put a `docker` program on the PATH, and nothing else."""

    def put(compose: str | None, host: str = "tcp://127.0.0.1:1") -> None:
        program = tmp_path / "docker"
        answer = f"echo '{compose}'" if compose else "echo \"docker: 'compose' is not a command\" >&2; exit 1"
        program.write_text(f"#!/bin/sh\n{answer}\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setenv("DOCKER_HOST", host)

    return put


@pytest.fixture
def daemon() -> Iterator[Callable[..., str]]:
    """Answer as a Docker engine does, of any release and with any memory."""
    servers: list[http.server.HTTPServer] = []

    def start(release: str, memory: int = 8_000_000_000) -> str:
        told = {
            "version": {"Version": release, "ApiVersion": "1.41", "MinAPIVersion": "1.12"},
            "info": {"ServerVersion": release, "MemTotal": memory, "OperatingSystem": "Docker Desktop"},
            "json": [],
        }

        class Answer(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = json.dumps(told[self.path.partition("?")[0].rsplit("/", 1)[-1]]).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *words: object) -> None:
                return

        server = http.server.ThreadingHTTPServer((ports.HOST, 0), Answer)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"tcp://{ports.HOST}:{server.server_address[1]}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def found() -> dict[str, Finding]:
    return {finding.about: finding for finding in run.examine()}


def trouble() -> Finding:
    """Return what is the matter with Docker; nothing that needs it is looked at then."""
    findings = found()
    assert "links" not in findings
    assert "disk" in findings
    assert not findings["Docker"].ok
    assert "THREEBROKERS_CLUSTER=local" in findings["Docker"].cure
    return findings["Docker"]


def test_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert trouble().what == "Docker was not found"


def test_it_has_no_compose(fake: Fake) -> None:
    fake(None)
    assert "`compose` plugin is not" in trouble().what
    assert "docker-compose-plugin" in trouble().cure


def test_compose_is_old(fake: Fake) -> None:
    fake("1.29.2")
    assert "docker compose is 1.29, and the course needs" in trouble().what


def test_nobody_answers(fake: Fake) -> None:
    fake("2.26.1")
    assert trouble().what.startswith("Docker does not answer")
    assert "systemctl start docker" in trouble().cure


def test_the_engine_is_old(fake: Fake, daemon: Callable[..., str]) -> None:
    fake("2.26.1", daemon("1.13.1"))
    assert "The Docker engine is 1.13.1, and the course needs" in trouble().what


def test_you_may_not_use_it(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: object) -> None:
        raise PermissionError(13, "Permission denied")  # root, who may run this, would be let in

    fake("2.26.1", "unix:///var/run/docker.sock")
    monkeypatch.setattr(unixconn.UnixHTTPConnection, "connect", refuse)
    assert trouble().what.startswith("You may not use Docker")
    assert "usermod -aG docker" in trouble().cure


def test_it_runs_on_another_machine(fake: Fake) -> None:
    fake("2.26.1", "tcp://192.0.2.7:2375")
    assert "another machine" in trouble().what
    assert "docker context use default" in trouble().cure


def test_it_has_little_memory(fake: Fake, daemon: Callable[..., str]) -> None:
    fake("2.26.1", daemon("28.2.2", 1_000_000_000))
    findings = found()
    assert findings["Docker"].ok
    poor = findings["memory of Docker"]
    assert not poor.ok
    assert "1.0 GB for all containers" in poor.what
    assert "Docker Desktop, Settings, Resources, Memory" in poor.cure


def test_nothing_is_wrong_with_it(fake: Fake, daemon: Callable[..., str]) -> None:
    fake("2.26.1", daemon("28.2.2"))
    findings = found()
    for about in (
        "Docker",
        "memory of Docker",
        "state",
        "links",
        "containers",
        "data",
        "forgotten containers",
    ):
        assert findings[about].ok, findings[about]
    assert findings["brokers"].what == "none runs"


def test_no_proxy_is_asked_for_one_on_this_machine(
    fake: Fake, daemon: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fake("2.26.1", daemon("28.2.2"))
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert found()["Docker"].ok


def test_the_local_engine_needs_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("THREEBROKERS_CLUSTER", "local")
    assert found()["Docker"].ok
    assert "not needed" in found()["Docker"].what


def test_containers_of_another_bench() -> None:
    running = [{"Labels": {PROJECT: name}} for name in ("threebrokers-1234", "threebrokers-mine", "web")]
    finding = containers.look_for_others(running, "threebrokers-mine")
    assert finding.ok
    assert "brokers of 1 other home run" in finding.what
    assert finding.cure == "", "they are not this home's to stop"
    assert containers.look_for_others(running[1:], "threebrokers-mine").what == "none"
