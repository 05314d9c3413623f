"""What runs three brokers: processes of this machine, containers, or somebody else. `Cluster` is the same."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from threebrokers.cluster.link_faults import Fault
from threebrokers.cluster.process import BrokerProcess, Usage
from threebrokers.errors import LabError
from threebrokers.files import faults_told, free_name, write_whole
from threebrokers.kafka import access
from threebrokers.kafka.access import Access

VARIABLE = "THREEBROKERS_CLUSTER"
LOCAL, COMPOSE, REMOTE = "local", "compose", "remote"
NAMES = (LOCAL, COMPOSE)
FILE = "engine"


class Engine(Protocol):
    """The brokers of one home. Every change is made under the home's lock and found again later.

    What is done to a broker returns the moment (s since 1970) just before: when the lock is held and the
    signal is sent, not when it was asked for.

    All methods raise LabError, with the next step, where the engine cannot do what is asked.
    """

    name: str
    home: Path
    start_seconds: float  # so long a start may take

    @property
    def access(self) -> Access | None:
        """How to get into a cluster that is not the learner's; None for brokers of one's own."""

    @property
    def brokers(self) -> tuple[int, ...]:
        """The numbers of the brokers."""

    def addresses(self) -> dict[int, dict[str, str]]:
        """Return each broker's address on each listener; empty before the first start."""

    def listening(self) -> dict[int, dict[str, str]]:
        """Return where each broker itself is reached from this machine, past any links."""

    def faults(self) -> list[Fault]:
        """Return what is wrong with the links now."""

    def change_links(self, change: Callable[[list[Fault]], list[Fault]]) -> float:
        """Make of the faults of the links what `change` returns."""

    def processes(self) -> dict[int, BrokerProcess]:
        """Return how each broker is now."""

    def ended(self) -> list[int]:
        """Return the brokers that have ended since the last start or stop, by themselves or by a signal."""

    def usage(self) -> dict[int, Usage]:
        """Return how much the running brokers have worked since they were started."""

    def up(self, say: Callable[[str], None]) -> dict[int, float]:
        """Start the brokers that are missing, resume those that are paused; return when each was started.

        What carries the links is seen to, and no broker that runs is started again. Before the first one is
        started the home remembers this engine: what a start that breaks leaves is found there.

        One whose disk is new is left for `start`.
        """

    def renew_disks(self) -> set[int]:
        """Give brokers that are down and whose disk is lost an empty one; return those whose disk is new."""

    def wait_for_ports(self, nodes: list[int], within: float) -> dict[int, float]:
        """Wait until these brokers answer; return when it started those again that were about to end.

        Raises at once if one of them dies.
        """

    def start(self, node: int, advertised: str = "") -> float:
        """Start one broker that is down; until it is started again it may send clients to another address."""

    def stop(self, node: int) -> float:
        """Shut one broker down cleanly."""

    def kill(self, node: int) -> float:
        """End one broker with SIGKILL."""

    def pause(self, node: int) -> float:
        """Freeze one broker."""

    def resume(self, node: int) -> float:
        """Let a paused broker go on."""

    def down(self) -> list[int]:
        """Stop all brokers together and return those that ran; their data stays."""

    def erase(self) -> None:
        """Kill all brokers and delete their data, logs and configuration."""

    def log(self, node: int) -> Path:
        """Return the path of one broker's log as it is now."""

    def configuration(self, node: int) -> Path:
        """Return the path of the file from which one broker reads its settings."""

    def segments(self, topic: str, partition: int, node: int) -> list[Path]:
        """Return the segment files that one broker keeps of one partition now, oldest first."""


def chosen(home: Path, wanted: str = "") -> Engine:
    """Return the engine of this home: the one that is asked for, else the one of its last start, else local.

    It is asked for by `wanted`, or by THREEBROKERS_CLUSTER; THREEBROKERS_BOOTSTRAP asks for a cluster that
    is not the learner's. Raises LabError if there is no such engine, or if both are asked for.
    """
    asked = wanted or os.environ.get(VARIABLE, "")
    elsewhere = access.chosen()
    if elsewhere is not None and asked in ("", REMOTE):
        from threebrokers.cluster.remote import RemoteEngine  # a home uses one of the three

        return RemoteEngine(home, elsewhere)
    if elsewhere is not None or asked == REMOTE:
        if elsewhere is None:
            raise LabError(f"The engine '{REMOTE}' needs addresses of a cluster", f"set {access.BOOTSTRAP}")
        raise LabError(
            f"{access.BOOTSTRAP} names a cluster, and the engine '{asked}' is asked for too",
            f"unset {access.BOOTSTRAP} to use brokers of your own",
        )
    name = asked or _remembered(home)
    if name not in NAMES:
        raise LabError(f"There is no engine '{name}'", f"choose {' or '.join(NAMES)} ({VARIABLE}, --engine)")
    return made(name, home)


def made(name: str, home: Path) -> Engine:
    """Return the engine of this name for a home."""
    if name == COMPOSE:
        from threebrokers.cluster.compose import ComposeEngine  # a home uses one of the three

        return ComposeEngine(home)
    from threebrokers.cluster.local import LocalEngine

    return LocalEngine(home)


def remember(home: Path, name: str) -> None:
    """Keep which engine runs this home's brokers: notebooks and commands find them there."""
    if _remembered(home) != name or not (home / FILE).is_file():
        with faults_told(home):
            if (home / FILE).is_dir():
                (home / FILE).replace(free_name(home / FILE, "damaged"))
            write_whole(home / FILE, f"{name}\n".encode(), 0o600)


def refuse_second(engine: Engine) -> None:
    """Raise LabError if brokers of this home run on another engine: a home has one cluster at a time."""
    before = _remembered(engine.home)
    if engine.name != REMOTE and before != engine.name and _runs(made(before, engine.home)):
        raise LabError(
            f"The brokers of this home run on the engine '{before}'",
            f"end them with `{VARIABLE}={before} threebrokers down`, then start those of '{engine.name}'",
        )


def _runs(engine: Engine) -> bool:
    try:
        return any(process.state != "down" for process in engine.processes().values())
    except LabError:  # without its Docker no container of it runs
        return False


def _remembered(home: Path) -> str:
    """Return the engine of the last start; the local one if nobody can tell."""
    try:
        name = (home / FILE).read_text("utf-8", "replace").strip()
    except OSError:
        return LOCAL
    return name if name in NAMES else LOCAL
