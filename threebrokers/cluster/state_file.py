"""What a bench remembers between two commands: its cluster's id, ports and processes."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from threebrokers.cluster.ports import HOST, Ports, behind
from threebrokers.cluster.process import Identity
from threebrokers.errors import LabError

LOCK_SECONDS = 90


@dataclass
class Bench:
    """The remembered state of one home. `cluster_id` is empty until its disks are laid out.

    `links` is the process that carries the links, also if it has died; None if the brokers have none.
    """

    cluster_id: str = ""
    ports: Ports = field(default_factory=dict)
    brokers: dict[int, Identity] = field(default_factory=dict)
    links: Identity | None = None

    def addresses(self) -> dict[int, dict[str, str]]:
        """Return each broker's address ("host:port") on each listener."""
        return _with_host(self.ports)

    def listening(self) -> dict[int, dict[str, str]]:
        """Return where each broker itself listens: with links that is not its address."""
        return _with_host(self.listening_ports())

    def listening_ports(self) -> Ports:
        """Return the port of each broker's own listeners."""
        return behind(self.ports) if self.links else self.ports


def load(home: Path) -> Bench:
    """Read the state file; a missing or damaged one is an empty bench (running brokers are found anew)."""
    try:
        told = json.loads((home / "bench.json").read_text())
        return Bench(
            cluster_id=str(told["cluster_id"]),
            ports={int(n): {str(k): int(v) for k, v in of.items()} for n, of in told["ports"].items()},
            brokers={int(n): _identity(b) for n, b in told["brokers"].items()},
            links=_identity(told["links"]) if told.get("links") else None,
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Bench()


def save(home: Path, bench: Bench) -> None:
    """Write the state file whole: a reader sees the old one or the new one.

    Raises LabError if it cannot.
    """
    told = {
        "engine": "local",
        "cluster_id": bench.cluster_id,
        "ports": bench.ports,
        "brokers": {n: asdict(identity) for n, identity in sorted(bench.brokers.items())},
        "links": asdict(bench.links) if bench.links else None,
    }
    draft = home / f"bench.json.{os.getpid()}"
    try:
        draft.write_text(json.dumps(told, indent=1) + "\n")
        draft.replace(home / "bench.json")
    except OSError as fault:
        draft.unlink(missing_ok=True)
        raise LabError(
            f"The cluster's state cannot be written to {home} ({fault.strerror}): "
            "free some disk space, or set THREEBROKERS_HOME to another folder."
        ) from fault


@contextmanager
def locked(home: Path) -> Iterator[None]:
    """Let one command at a time change this bench. Raises LabError after 90 s."""
    from filelock import FileLock, Timeout  # who only looks locks nothing

    try:
        with FileLock(home / "bench.lock", timeout=LOCK_SECONDS):
            yield
    except Timeout:
        raise LabError(
            f"Another command has been changing this cluster for more than {LOCK_SECONDS} s: "
            "end it, or look with `threebrokers doctor`."
        ) from None


def _identity(told: dict[str, Any]) -> Identity:
    return Identity(int(told["pid"]), str(told["start"]), str(told["mark"]))


def _with_host(ports: Ports) -> dict[int, dict[str, str]]:
    return {n: {name: f"{HOST}:{port}" for name, port in of.items()} for n, of in ports.items()}
