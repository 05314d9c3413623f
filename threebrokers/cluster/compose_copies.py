"""Copies of what is inside the brokers' containers: logs, settings, segment files."""

import shutil
from pathlib import Path

from threebrokers.cluster.containers import Container, Containers
from threebrokers.errors import BenchError

DATA, CONFIGURATION = "/var/lib/kafka/data", "/opt/kafka/config/server.properties"


class Copies:
    """Copies in a folder, made anew each time. Every method raises BenchError if Docker does not answer."""

    def __init__(self, folder: Path, containers: Containers) -> None:
        self._folder, self._containers = folder, containers

    def log(self, node: int) -> Path:
        """Return the path of a copy of what one broker has written so far; an old one if it is removed."""
        path = self._folder / "logs" / f"broker-{node}.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        if container := self._containers.look().get(node):
            path.write_text(self._containers.log(container))
        return path

    def configuration(self, node: int) -> Path:
        """Return the path of a copy of the settings that the image made of the compose file."""
        folder = self._of(node)
        if not self._containers.copy(self._container(node, "settings"), CONFIGURATION, folder):
            raise BenchError(f"Broker {node} has not made its settings yet: look again in a second.")
        return folder / Path(CONFIGURATION).name

    def segments(self, topic: str, partition: int, node: int) -> list[Path]:
        """Return copies of the segment files that one broker keeps of one partition, oldest first."""
        container = self._container(node, "files")
        folder = self._of(node) / f"{topic}-{partition}"
        shutil.rmtree(folder, ignore_errors=True)
        self._containers.copy(container, f"{DATA}/{folder.name}", folder.parent)
        return sorted(folder.glob("*.log"))

    def remove(self) -> None:
        """Delete all copies."""
        for name in ("logs", "copies"):
            shutil.rmtree(self._folder / name, ignore_errors=True)

    def _container(self, node: int, what: str) -> Container:
        if container := self._containers.look().get(node):
            return container
        raise BenchError(f"Broker {node} has no container, so its {what} cannot be read: start it first.")

    def _of(self, node: int) -> Path:
        folder = self._folder / "copies" / f"broker-{node}"
        folder.mkdir(parents=True, exist_ok=True)
        return folder
