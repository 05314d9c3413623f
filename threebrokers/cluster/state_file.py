"""What a home remembers between two commands: its cluster's id, ports and processes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from threebrokers.cluster import locks
from threebrokers.cluster.ports import HOST, Ports, behind
from threebrokers.cluster.process import Identity
from threebrokers.cluster.settings import BROKERS, LISTENERS
from threebrokers.errors import LabError
from threebrokers.files import faults_told
from threebrokers.store import JsonFile

LOCK_SECONDS = 90


@dataclass
class SavedState:
    """The remembered state of one home. `cluster_id` is empty until its disks are laid out.

    `links` is the process that carries the links, also if it has died; None before the first start.
    """

    cluster_id: str = ""
    ports: Ports = field(default_factory=dict)
    brokers: dict[int, Identity] = field(default_factory=dict)
    links: Identity | None = None

    def __post_init__(self) -> None:
        """Refuse what no start can have written. Raises ValueError."""
        if self.ports and {n: {*of} for n, of in self.ports.items()} != {n: {*LISTENERS} for n in BROKERS}:
            raise ValueError("not every listener of the three brokers has a port")
        if not self.brokers.keys() <= {*BROKERS}:
            raise ValueError("a broker that is none of the three")

    def addresses(self) -> dict[int, dict[str, str]]:
        """Return each broker's address ("host:port") on each listener."""
        return _with_host(self.ports)

    def listening(self) -> dict[int, dict[str, str]]:
        """Return where each broker itself listens, behind the process that carries the links."""
        return _with_host(self.listening_ports())

    def listening_ports(self) -> Ports:
        """Return the port of each broker's own listeners."""
        return behind(self.ports)


def load(home: Path) -> SavedState:
    """Read the state file; a missing or damaged one is an empty state (running brokers are found anew)."""
    return file(home).read() or SavedState()


def save(home: Path, saved: SavedState) -> None:
    """Write the state file whole: a reader sees the old one or the new one.

    Raises LabError if it cannot.
    """
    with faults_told(home):
        file(home).write(saved)


def file(home: Path) -> JsonFile[SavedState]:
    """Return the state file of a home."""
    return JsonFile(home / "cluster.json", SavedState)


@contextmanager
def locked(home: Path) -> Iterator[None]:
    """Let one command at a time change this home.

    Raises LabError after 90 s, and for what the system refuses to write there.
    """
    late = LabError(
        f"Another command has been changing this cluster for more than {LOCK_SECONDS} s",
        "end it, or look with `threebrokers doctor`",
    )
    with faults_told(home), locks.held(file(home), LOCK_SECONDS, late):
        yield


def _with_host(ports: Ports) -> dict[int, dict[str, str]]:
    return {n: {name: f"{HOST}:{port}" for name, port in of.items()} for n, of in ports.items()}
