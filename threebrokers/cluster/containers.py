"""The containers of one compose project: looked at, stopped, killed, frozen, and cut off."""

import io
import re
import tarfile
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from threebrokers.cluster import docker
from threebrokers.cluster.process import Usage

PROJECT, SERVICE = "com.docker.compose.project", "com.docker.compose.service"
PREFIX = "kafka-"
OWN_TIME = re.compile(r"^\[\d{4}-\d\d-\d\d [\d:,.]+\] ")
STATES = {"running": "up", "paused": "paused"}


@dataclass(frozen=True)
class Container:
    """One broker's container: its state ('up', 'paused', 'down') and the networks that it is in."""

    id: str
    name: str
    state: str
    networks: frozenset[str] = field(default_factory=frozenset)


class Containers:
    """The brokers' containers of a project. Every method raises LabError if Docker does not answer."""

    def __init__(self, project: str) -> None:
        self.project = project

    @cached_property
    def _docker(self) -> Any:
        return docker.client()

    def look(self) -> dict[int, Container]:
        """Return the containers that exist, by broker."""
        with docker.faults_told():
            told = self._docker.containers(all=True, filters={"label": f"{PROJECT}={self.project}"})
        found = {}
        for one in told:
            number = one["Labels"].get(SERVICE, "").removeprefix(PREFIX)
            if number.isdigit():
                networks = frozenset(
                    name.removeprefix(f"{self.project}_") for name in one["NetworkSettings"]["Networks"]
                )
                state = STATES.get(one["State"], "down")
                found[int(number)] = Container(one["Id"], one["Names"][0].lstrip("/"), state, networks)
        return found

    def has_image(self, name: str) -> bool:
        """Tell whether an image is on this machine."""
        with docker.faults_told():
            return bool(self._docker.images(name))

    def start(self, container: Container) -> None:
        """Start a container that has ended."""
        with docker.faults_told():
            self._docker.start(container.id)

    def stop(self, container: Container, patience: int) -> None:
        """Ask a container to end, and kill it after so many seconds."""
        with docker.faults_told():
            self._thaw(container)
            self._docker.stop(container.id, timeout=patience)

    def kill(self, container: Container) -> None:
        """End a container with SIGKILL."""
        with docker.faults_told():
            self._thaw(container)
            self._docker.kill(container.id)

    def pause(self, container: Container) -> None:
        """Freeze a container."""
        with docker.faults_told():
            self._docker.pause(container.id)

    def resume(self, container: Container) -> None:
        """Let a frozen container go on."""
        with docker.faults_told():
            self._docker.unpause(container.id)

    def disconnect(self, container: Container, network: str) -> None:
        """Take a container out of one of the project's networks, as if its cable were pulled."""
        with docker.faults_told():
            self._docker.disconnect_container_from_network(container.id, f"{self.project}_{network}")

    def connect(self, container: Container, network: str, alias: str) -> None:
        """Put a container back into one of the project's networks, under its name there."""
        with docker.faults_told():
            self._docker.connect_container_to_network(
                container.id, f"{self.project}_{network}", aliases=[alias]
            )

    def memory(self, container: Container) -> int:
        """Return how much memory (bytes) a container uses, without what only caches files."""
        used = self._statistics(container).get("memory_stats", {})
        inside = used.get("stats", {})
        cached = inside.get("inactive_file", inside.get("total_inactive_file", 0))
        return int(used.get("usage", 0)) - int(cached)

    def usage(self, container: Container) -> Usage:
        """Return how much a container has worked since it was started."""
        told = self._statistics(container)
        counted = told.get("blkio_stats", {}).get("io_service_bytes_recursive")
        read = None if counted is None else sum(c["value"] for c in counted if c["op"].lower() == "read")
        return Usage(told["cpu_stats"]["cpu_usage"]["total_usage"] / 1e9, read)

    def ended_for_memory(self, container: Container) -> bool:
        """Tell whether the system killed what ran in a container because its memory was used up."""
        with docker.faults_told():
            return bool(self._docker.inspect_container(container.id)["State"]["OOMKilled"])

    def log(self, container: Container) -> str:
        """Return what a broker wrote, each line with this machine's time of day (as the local engine's)."""
        with docker.faults_told():
            lines = self._docker.logs(container.id, timestamps=True).decode("utf-8", "replace").splitlines()
        return "".join(f"{_line(line)}\n" for line in lines)

    def copy(self, container: Container, path: str, target: Path) -> bool:
        """Copy a file or folder out of a container into a folder; False if it is not there."""
        from docker.errors import NotFound

        with docker.faults_told():
            try:
                stream, _ = self._docker.get_archive(container.id, path)
            except NotFound:
                return False
            packed = b"".join(stream)
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(target, filter="data")
        return True

    def _thaw(self, container: Container) -> None:
        """Let a frozen container go on: it hears no request to end.

        A health probe that is frozen with it can hold up Docker, which then neither ends nor starts it.
        """
        if container.state == "paused":
            self._docker.unpause(container.id)

    def _statistics(self, container: Container) -> dict[str, Any]:
        with docker.faults_told():
            return dict(self._docker.stats(container.id, stream=False, one_shot=True))


def _line(text: str) -> str:
    """Give a line Docker's time, told in this machine's zone, in place of the broker's own."""
    when, _, rest = text.partition(" ")
    try:
        # Docker counts nanoseconds, Python microseconds.
        moment = datetime.fromisoformat(when[:26].rstrip("Z")).replace(tzinfo=UTC).astimezone()
    except ValueError:
        return text
    return f"{moment:%H:%M:%S}.{moment.microsecond // 1000:03d} {OWN_TIME.sub('', rest)}"
